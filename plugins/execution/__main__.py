"""A schedule on MPI ranks: ``mpiexec -n 8 python -m cchybrid_plugins.execution SCHEDULE``."""

import sys
from typing import Any

from cchybrid.model.errors import InputError


def _read(path: str) -> Any:
    """Return the plan of a valid schedule, or the error."""
    from cchybrid.model import Schedule
    from cchybrid.plugin.expressed import refuse_unexpressed
    from cchybrid.referee.verify import refuse_invalid

    from . import EXPRESSED
    from .mpi import mpi_plan

    try:
        schedule = Schedule.load(path)
        refuse_invalid(schedule, path)
        refuse_unexpressed(schedule, "mpi", EXPRESSED)
    except InputError as error:
        return str(error)
    return mpi_plan(schedule)


def main(arguments: list[str]) -> int:
    """Read and verify the schedule on one rank, and perform it on all."""
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        print(f"cchybrid: no MPI: {error}; pip install 'cchybrid[mpi]'", file=sys.stderr)
        return 2
    from .program import main as perform

    comm = MPI.COMM_WORLD
    first = comm.Get_rank() == 0
    if not arguments or arguments[0].startswith("-"):
        if first:
            module = "cchybrid_plugins.execution"
            print(f"usage: mpiexec -n RANKS python -m {module} SCHEDULE [--sizes ...]")
        return 2
    plan = comm.bcast(_read(arguments[0]) if first else None)
    if isinstance(plan, str):
        if first:
            print(f"cchybrid: {plan}", file=sys.stderr)
        return 2
    return int(perform(plan, arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
