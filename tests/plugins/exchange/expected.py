"""The outputs of a collective, chunk by chunk, from its meaning in MPI and NCCL."""

from typing import Any

from cchybrid.referee.verify import verify_schedule


def given(loop: int, rank: int, index: int) -> int:
    """Return the content of a chunk of the input: different ones have different sums."""
    return 1 << 1024 * rank + index << 8 | loop + 1


def expected(
    name: str, ranks: int, inputs: int, outputs: int, root: int = 0, loop: int = 0
) -> dict[tuple[int, int], int]:
    """Return the content of the output, by rank and chunk.

    Parameters
    ----------
    inputs, outputs
        The chunks of the buffers of each rank.
    """
    part = outputs // ranks if name in ("allgather", "alltoall", "gather") else outputs
    wide = name in ("alltoall", "scatter", "reducescatter")
    assert inputs == part * (ranks if wide else 1)
    found = {}
    for rank in range(ranks):
        for index in range(outputs):
            owner, inner = divmod(index, part)
            everyone = range(ranks)
            if name in ("allgather", "gather"):
                value = given(loop, owner, inner)
            elif name == "alltoall":
                value = given(loop, owner, rank * part + inner)
            elif name == "broadcast":
                value = given(loop, root, index)
            elif name == "scatter":
                value = given(loop, root, rank * part + index)
            elif name == "reducescatter":
                value = sum(given(loop, each, rank * part + index) for each in everyone)
            else:
                value = sum(given(loop, each, index) for each in everyone)
            if name not in ("gather", "reduce") or rank == root:
                found[rank, index] = value
    return found


def sound(found: Any) -> Any:
    """Return the schedule of a foreign file, which has to be valid."""
    assert found.broken == ()
    assert verify_schedule(found.schedule) == ()
    return found.schedule
