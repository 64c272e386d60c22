"""The memory that a run may need without ``--memory``."""

import pytest

from cchybrid.host import memory_budget
from cchybrid.host.memory_budget import MemoryBudget

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("machine", "deliveries", "mebibytes"),
    [
        (24 * GIB, 0, 2457),  # a tenth
        (16 * GIB, 0, 2048),
        (3 * GIB, 0, 1536),  # half
        (24 * GIB, MIB, 4096),
        (24 * GIB, 100, 2457),
        (6 * GIB, MIB, 3072),
        (64 * GIB, MIB, 6553),
        (None, 0, 2048),
        (None, MIB, 4096),
    ],
)
def test_the_default_follows_the_machine_and_the_instance(
    monkeypatch, machine, deliveries, mebibytes
):
    monkeypatch.setattr(memory_budget, "total_memory", lambda: machine)
    assert MemoryBudget(None, deliveries).mebibytes == mebibytes


def test_a_limit_of_the_user_counts():
    assert MemoryBudget(300, MIB).mebibytes == 300
