"""The MPI program without MPI: its check."""

import sys
from types import ModuleType, SimpleNamespace


def test_messages_of_one_source_differ_in_their_first_word(monkeypatch):
    stand_in = ModuleType("mpi4py")
    stand_in.MPI = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "mpi4py", stand_in)
    monkeypatch.delitem(sys.modules, "cchybrid_plugins.execution.program", raising=False)
    from cchybrid_plugins.execution import program

    monkeypatch.delitem(sys.modules, "cchybrid_plugins.execution.program")
    plan = {"kind": "deliver", "messages": [[0, 1], [0, 2]]}
    source, one = (program.Data(plan, rank, 8) for rank in (0, 1))
    one.accept(0, 0, None, source.outgoing(1, None))
    assert one.check() == (0, "rank 1: message 0 is wrong")
