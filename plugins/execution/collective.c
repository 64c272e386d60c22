/* One collective, from time 0 on all ranks; prints when the last rank is done. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char *argv[])
{
    MPI_Init(&argc, &argv);
    int rank, ranks, size = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* All ranks share the memory, whose contents do not matter. */
    void *here = SMPI_SHARED_MALLOC((size_t) size * ranks);
    void *there = SMPI_SHARED_MALLOC((size_t) size * ranks);
    CALL;
    double end = MPI_Wtime(), last;
    MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.9g\n", last);
    SMPI_SHARED_FREE(here);
    SMPI_SHARED_FREE(there);
    MPI_Finalize();
    return 0;
}
