"""Tests of steps in flat arrays: they read like tuples, and no one can change them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import cchybrid
from cchybrid.model import FlatSteps, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.model.steps import count_hops, count_transfers, reverse_steps

STEPS = (
    (Transfer(0, (0, 1)), Transfer(3, (2, 4, 5))),
    (),
    (Transfer(1, (3,)), Transfer(2, ()), Transfer(7, (1, 0))),
)


def test_flat_steps_read_like_tuples() -> None:
    flat = FlatSteps.of(STEPS)
    assert len(flat) == 3
    assert flat == STEPS
    assert flat == FlatSteps.of(STEPS)
    assert tuple(flat) == STEPS
    assert flat[-1] == STEPS[-1]
    assert flat[:2] == STEPS[:2]
    assert flat[::-1] == STEPS[::-1]
    assert flat != STEPS[:2]
    assert flat != [*STEPS]
    assert flat != ((), (), ())
    assert flat != (None, None, None)
    assert FlatSteps.of(()) == ()
    with pytest.raises(IndexError):
        flat[3]
    assert type(flat[0][1].path[2]) is int
    assert FlatSteps.of(flat) is flat
    assert pickle.loads(pickle.dumps(flat)) == STEPS


def test_flat_steps_are_counted_and_reversed_like_tuples() -> None:
    flat = FlatSteps.of(STEPS)
    assert count_transfers(flat) == count_transfers(STEPS) == 5
    assert count_hops(flat) == count_hops(STEPS)
    assert reverse_steps(flat) == reverse_steps(STEPS)
    assert reverse_steps(reverse_steps(flat)) == STEPS


def test_flat_steps_cannot_be_changed() -> None:
    message = np.array([0])
    flat = FlatSteps(message, np.array([0, 1]), np.array([0, 1]), np.array([0, 2]))
    for array in (flat.message, flat.first, flat.node, flat.start):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError, match="node cannot be changed"):
        flat.node = np.array([5, 6])  # type: ignore[misc]
    message[0] = 7
    assert flat == ((Transfer(0, (0, 1)),),)
    copied = pickle.loads(pickle.dumps(flat))
    assert copied == flat
    assert not copied.node.flags.writeable
    with pytest.raises(TypeError):
        hash(flat)


def test_only_flat_steps_themselves_are_read_as_arrays() -> None:
    class Other(FlatSteps):  # type: ignore[misc]
        """Steps that say one thing as arrays and another one as tuples."""

        def __getitem__(self, key: Any) -> Any:
            return (Transfer(9, (7, 8)),)

    instance = cchybrid.instance("ring-bi-3", "pairs:0>1")
    honest = FlatSteps.of(((Transfer(0, (0, 1)),),))
    other = Other(honest.message, honest.first, honest.node, honest.start)
    assert cchybrid.verify_schedule(Schedule(instance, honest)) == ()
    with pytest.raises(InputError, match="not a list of steps"):
        Schedule(instance, other)


@pytest.mark.parametrize(
    ("message", "first", "node", "start"),
    [
        ([0], [0, 1], [0, 1], [0, 1]),  # a node that belongs to no path
        ([0], [0, 2], [0, 1], [0, 2]),
        ([0], [1, 1], [0, 1], [0, 2]),
        ([0, 1], [0, 2], [0, 1, 2], [0, 4, 3]),
        ([0, 1], [0, 2], [0, 1], [0, 2]),
        ([0], [], [0, 1], [0, 2]),
        ([0.5], [0, 1], [0, 1], [0, 2]),
        (np.array([2**63], dtype=np.uint64), [0, 1], [0, 1], [0, 2]),
        ([[0]], [0, 1], [0, 1], [0, 2]),
    ],
)
def test_arrays_that_are_no_steps_are_refused(
    message: Any, first: list[int], node: list[int], start: list[int]
) -> None:
    with pytest.raises(ValueError):
        FlatSteps(np.array(message), np.array(first), np.array(node), np.array(start))
