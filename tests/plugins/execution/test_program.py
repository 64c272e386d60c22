"""The MPI program without MPI: the collective of the library that it names, and its check."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest


@pytest.fixture
def program(monkeypatch):
    """Return the program with a stand-in for mpi4py."""
    fake = ModuleType("mpi4py")
    fake.MPI = SimpleNamespace(UNDEFINED=-1, COMM_NULL=None)
    monkeypatch.setitem(sys.modules, "mpi4py", fake)
    monkeypatch.delitem(sys.modules, "cchybrid_plugins.execution.program", raising=False)
    from cchybrid_plugins.execution import program

    yield program
    sys.modules.pop("cchybrid_plugins.execution.program", None)


COMM = SimpleNamespace(Get_rank=lambda: 0, Split=lambda colour: "group")
AROUND = [[0, 1], [1, 2], [2, 0]]
EACH_TO_ALL = [[0, 1, 2], [1, 0, 2], [2, 0, 1]]
PAIRS = [[a, b] for a in range(3) for b in range(3) if a != b]


@pytest.mark.parametrize(
    ("kind", "messages", "name"),
    [
        ("deliver", PAIRS, "Alltoall"),
        ("deliver", [pair for pair in PAIRS for _ in range(2)], "Alltoall"),
        ("deliver", [*AROUND, *AROUND], ""),
        ("deliver", EACH_TO_ALL, "Allgather"),
        ("deliver", [EACH_TO_ALL[0]] * 4 + EACH_TO_ALL[1:], ""),
        ("deliver", EACH_TO_ALL[:1] * 2, "Bcast"),
        ("deliver", [[0, 1], [0, 2]], "Scatter"),
        ("deliver", [[0, 1], [0, 1], [0, 1], [0, 2]], ""),
        ("deliver", [[1, 0], [2, 0]], "Gather"),
        ("deliver", [[1, 0], [1, 0], [1, 0], [2, 0]], ""),
        ("combine", EACH_TO_ALL, "Reduce_scatter_block"),
        ("combine", [EACH_TO_ALL[0]] * 4 + EACH_TO_ALL[1:], ""),
        ("combine", EACH_TO_ALL[:1], "Reduce"),
        ("allreduce", EACH_TO_ALL[:1] * 3, "Allreduce"),
    ],
)
def test_a_collective_of_the_library_is_named_only_for_its_messages(program, kind, messages, name):
    plan = {"kind": kind, "messages": messages}
    assert program.library_call(COMM, plan, 64)[1] == name


def test_messages_of_one_source_differ_in_their_first_word(program):
    plan = {"kind": "deliver", "messages": [[0, 1], [0, 2]]}
    source, one = (program.Data(plan, rank, 8) for rank in (0, 1))
    one.accept(0, 0, None, source.outgoing(1, None))
    assert one.check() == (0, "rank 1: message 0 is wrong")
