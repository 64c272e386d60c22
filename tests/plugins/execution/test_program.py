"""The MPI program without MPI: its check."""

import sys
from importlib import import_module
from itertools import combinations_with_replacement
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
    plan = {"kind": "deliver", "nodes": 3, "messages": [[0, 1], [0, 2]], "chunks": 1}
    source, one = (program.Data(plan, rank, 8) for rank in (0, 1))
    one.accept(0, 0, None, source.outgoing(1, None))
    assert one.check() == (0, "rank 1: message 0 is wrong")


def test_a_chunk_has_its_part_of_the_bytes_of_a_message(program):
    plan = {"kind": "deliver", "nodes": 2, "messages": [[0, 1], [0, 1]], "chunks": 2}
    assert program.Data(plan, 0, 64).outgoing(0, None).nbytes == 32


PLAN = {"kind": "allreduce", "nodes": 6, "messages": [[*range(6)]] * 2, "chunks": 1}


def test_no_other_parts_have_the_same_sum(program):
    data = program.Data(PLAN, 0, 16)
    words = [
        int(word) for message in (0, 1) for node in range(6) for word in data.part(message, node)
    ]
    assert len({*words}) == 24
    for place in range(4):  # two words of each of two messages
        parts = words[12 * (place // 2) + place % 2 : 12 * (place // 2) + 12 : 2]
        chosen = [c for size in range(1, 7) for c in combinations_with_replacement(parts, size)]
        assert len({sum(each) % 2**64 for each in chosen}) == len(chosen) == 923
