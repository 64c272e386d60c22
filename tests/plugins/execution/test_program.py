"""The MPI program without MPI: its check."""

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


@pytest.fixture
def program(monkeypatch) -> Any:
    stand_in = ModuleType("mpi4py")
    stand_in.MPI = SimpleNamespace()
    monkeypatch.setitem(sys.modules, "mpi4py", stand_in)
    monkeypatch.delitem(sys.modules, "cchybrid_plugins.execution.program", raising=False)
    program = import_module("cchybrid_plugins.execution.program")
    monkeypatch.delitem(sys.modules, "cchybrid_plugins.execution.program")
    return program


def test_messages_of_one_source_differ_in_their_first_word(program):
    plan = {"kind": "deliver", "messages": [[0, 1], [0, 2]], "chunks": 1}
    source, one = (program.Data(plan, rank, 8) for rank in (0, 1))
    one.accept(0, 0, None, source.outgoing(1, None))
    assert one.check() == (0, "rank 1: message 0 is wrong")


def test_a_chunk_has_its_part_of_the_bytes_of_a_message(program):
    plan = {"kind": "deliver", "messages": [[0, 1], [0, 1]], "chunks": 2}
    assert program.Data(plan, 0, 64).outgoing(0, None).nbytes == 32
