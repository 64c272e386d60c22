"""Bounds from rows between blocks of nodes: what no other kind shows, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import EvidenceError, Network, proven_steps
from cchybrid.checker.blocks import BlockRelaxation
from cchybrid.checker.relaxation import Relaxation
from cchybrid.model import Channel, Collective, Instance, Message, Schedule, Transfer
from cchybrid.model import Network as ModelNetwork
from cchybrid.proof.blocks import block_bounds, refute_blocks, wide_blocks
from cchybrid.proof.contradiction import by_kind, find_contradiction
from cchybrid.referee.verify import verify
from tests.checker.meaning import block_columns, transfers
from tests.checker.test_farkas import accepted, changed
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, valid_schedules

PAIRS = [[node, node + 1] for node in range(0, 16, 2)]


@cache
def machine() -> Instance:
    """Return the allgather of 16 dies, pairs of which are joined by four links."""
    return cchybrid.instance("mi250-16", "AAB")


@cache
def duals() -> dict[str, Any]:
    evidence = refute_blocks(machine().to_json(), 3, 100_000)
    assert evidence is not None
    return evidence


def test_three_steps_are_too_few_for_16_dies() -> None:
    """A schedule of 4 steps exists; the relaxation between nodes has a solution of 3 steps."""
    assert [bound.steps for bound in block_bounds(machine())] == [4]
    assert duals()["blocks"] == PAIRS
    assert proven_steps(machine().to_json(), duals()) == 4
    assert refute_blocks(machine().to_json(), 4, 100_000) is None


@pytest.mark.long
def test_the_relaxation_between_nodes_does_not_refute_three_steps() -> None:
    relaxation = Relaxation(Network(machine().to_json()).with_any_routing(), 3)
    assert not find_contradiction(relaxation, relaxation.all_keys(), 3_000_000)


def test_blocks_are_the_components_of_wide_channels() -> None:
    network = Network(machine().to_json())
    assert wide_blocks(network) == [
        [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]],  # capacities 4 and 2
        PAIRS,
    ]
    assert wide_blocks(Network(cchybrid.instance("mesh-4x4", "AAB").to_json())) == []


@cache
def two_islands() -> Instance:
    """Return an allgather on two rings of wide channels, joined by narrow ones."""
    rng = random.Random(3)
    channels = []
    for first in (0, 3):
        for a in range(3):
            channels += [
                Channel(first + a, first + (a + 1) % 3, 2),
                Channel(first + (a + 1) % 3, first + a, 2),
            ]
    for _ in range(2):
        a, b = rng.randrange(3), 3 + rng.randrange(3)
        channels += [Channel(a, b, 1), Channel(b, a, 1)]
    return cchybrid.instance(ModelNetwork("islands", 6, tuple(dict.fromkeys(channels))), "AAB")


def test_islands() -> None:
    bounds = [bound.steps for bound in block_bounds(two_islands())]
    assert all(steps <= fewest_steps(two_islands(), 6) for steps in bounds)


@settings(max_examples=examples(60))
@given(valid_schedules(max_nodes=6, max_messages=5, **SEVERAL), st.data())
def test_no_blocks_exceed_the_optimum(schedule: Any, data: st.DataObject) -> None:
    instance = schedule.instance
    record = instance.to_json()
    network = Network(record)
    count = network.nodes
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    blocks = [[node for node in range(count) if drawn[node] == b] for b in sorted(set(drawn))]
    block_of = [sorted(set(drawn)).index(block) for block in drawn]
    fewest = fewest_steps(instance, len(schedule.steps))
    for steps in range(1, fewest + 1):
        relaxation = BlockRelaxation(network, block_of, steps)
        found = find_contradiction(relaxation, relaxation.all_keys(), 100_000)
        if not found:
            break
        evidence = {
            "kind": "blocks", "steps": steps + 1, "blocks": blocks, "rows": by_kind(found)
        }  # fmt: skip
        assert proven_steps(record, evidence) == steps + 1 <= fewest


def test_changed_duals_prove_the_same_or_nothing() -> None:
    rng, results = random.Random(0), set()
    for _ in range(examples(200)):
        results.add(accepted(machine().to_json(), changed(duals(), rng)))
    assert results <= {0, 4}
    assert 0 in results


WRONG_FIELDS: dict[str, Callable[[list[list[int]]], dict[str, Any]]] = {
    "no blocks": lambda blocks: {"blocks": []},
    "a text": lambda blocks: {"blocks": "0"},
    "a number": lambda blocks: {"blocks": 5},
    "an empty block": lambda blocks: {"blocks": [*blocks, []]},
    "a node twice": lambda blocks: {"blocks": [*blocks, [0]]},
    "a node missing": lambda blocks: {"blocks": blocks[:-1]},
    "a node that is true": lambda blocks: {"blocks": [[True, 0], *blocks[1:]]},
    "a node beyond the network": lambda blocks: {"blocks": [[0, 1, 16], *blocks[1:]]},
    "one block": lambda blocks: {"blocks": [[*range(16)]]},
    "single nodes": lambda blocks: {"blocks": [[node] for node in range(16)]},
    "a step more": lambda blocks: {"steps": 5},
    "no rows": lambda blocks: {"rows": {}},
}
"""Fields of malformed evidence, by the blocks of the sound one."""
WRONG_ROWS: dict[str, tuple[str, list[int]]] = {
    "a message that does not exist": ("goal", [16, 1, 1]),
    "a row of the source": ("goal", [0, 0, 1]),
    "a block that does not exist": ("goal", [0, 8, 1]),
    "a way to itself": ("pass", [0, 1, 1, 1, 1]),
    "a send to itself": ("hold", [0, 1, 1, 1, 1]),
    "a growth in the last step": ("grow", [0, 1, 3, 1]),
    "a channel that there is not": ("channel", [0, 7, 1, 1]),
}
"""The kind of a row and the row itself, which makes sound evidence malformed."""


@pytest.mark.parametrize("change", WRONG_FIELDS)
def test_malformed_fields_are_refused(change: str) -> None:
    wrong = WRONG_FIELDS[change](duals()["blocks"])
    with pytest.raises(EvidenceError):
        proven_steps(machine().to_json(), {**duals(), **wrong})


@pytest.mark.parametrize(("kind", "row"), WRONG_ROWS.values(), ids=WRONG_ROWS)
def test_malformed_rows_are_refused(kind: str, row: list[int]) -> None:
    rows = duals()["rows"]
    with pytest.raises(EvidenceError):
        proven_steps(machine().to_json(), {**duals(), "rows": {**rows, kind: [*rows[kind], row]}})


def test_a_block_that_only_forwards_has_no_goal() -> None:
    instance = cchybrid.instance(
        ModelNetwork("line", 3, (Channel(0, 1, 1), Channel(1, 2, 1))),
        Collective("one", (Message(0, (2,)),)),
        switching="store-and-forward",
    )
    relaxation = BlockRelaxation(Network(instance.to_json()), [0, 1, 2], 2)
    assert relaxation.row(("goal", 0, 2)) == ({("served", 0, 2): 1}, 1)
    for kind in ("goal", "last"):
        with pytest.raises(EvidenceError, match="without a destination"):
            relaxation.row((kind, 0, 1))


def test_a_block_may_get_several_copies_in_the_last_step() -> None:
    """Two destinations in one block; the limits of all columns hold for the schedule."""
    channels = (Channel(0, 2, 1), Channel(0, 1, 1), Channel(1, 3, 1))
    instance = Instance(ModelNetwork("fork", 4, channels), Collective("one", (Message(0, (2, 3)),)))
    schedule = Schedule(instance, ((Transfer(0, (0, 2)), Transfer(0, (0, 1, 3))),))
    assert not verify(instance, schedule.steps)
    block_of = [0, 0, 1, 1]
    relaxation = BlockRelaxation(Network(instance.to_json()), block_of, 1)
    values = block_columns(relaxation, block_of, transfers(schedule))
    assert values["sends", 0, 0, 1, 1] == 2
    assert {column: relaxation.max_value(column) for column in values} == {
        column: max(1, value) for column, value in values.items()
    }
