"""Every clause that the checker makes holds for every valid schedule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker.clauses import Formula
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.model import Schedule
from tests.checker.meaning import network_of, satisfies, transfers, truths
from tests.examples import examples
from tests.random_instances import SEVERAL, valid_schedules


@settings(max_examples=examples(400))
@given(
    valid_schedules(max_nodes=5, max_messages=4, **SEVERAL),
    st.sampled_from([None, "any"]),
    st.integers(0, 1),
)
def test_every_clause_holds(schedule, routing, spare):
    steps = len(schedule.steps) + spare
    formula = Formula(network_of(schedule, routing), steps)
    assert satisfies(formula, truths(formula, transfers(schedule), steps))


@settings(max_examples=examples(300))
@given(valid_schedules(max_nodes=5, switchings=("wormhole",), **SEVERAL), st.data())
def test_an_order_of_steps_is_refused_or_some_renumbering_fits(schedule, data):
    """Pinned messages need a step each, so putting their steps first satisfies the formula."""
    network, steps = network_of(schedule), len(schedule.steps)
    numbers = st.integers(0, len(network.messages) - 1)
    order = data.draw(st.lists(numbers, min_size=1, max_size=3))
    try:
        formula = Formula(network, steps, order)
    except EvidenceError:
        return
    moves = transfers(schedule)
    step_of = {m: t for t, m, _ in moves}
    first = [step_of[message] for message in order]
    assert len(set(first)) == len(first)
    renumbered = {
        old: new for new, old in enumerate(dict.fromkeys([*first, *range(1, steps + 1)]), 1)
    }
    moves = [(renumbered[t], m, path) for t, m, path in moves]
    assert satisfies(formula, truths(formula, moves, steps))


def test_a_broken_schedule_breaks_clauses():
    """The tests above would see a schedule that is too short: here is one."""
    import cchybrid

    instance = cchybrid.instance("ring-bi-6", "AAB")
    solved = cchybrid.solve(instance, engines=["colouring"], time_limit=10).schedule
    assert solved is not None
    short = Schedule(instance, solved.steps[:-1])
    steps = len(short.steps)
    network, moves = network_of(short), transfers(short)
    formula = Formula(network, steps)
    assert not satisfies(formula, truths(formula, moves, steps))


def test_an_order_beside_a_broadcast_is_refused() -> None:
    """Steps are alike only if every message of the collective has one destination.

    Messages 1 and 2 share the injection port of node 3, and a schedule of two steps exists, but
    only one of the two can come first, as node 1 has to send message 0 on in the second step.
    """
    record = {
        "format": "cchybrid-instance/1",
        "name": "",
        "network": {
            "nodes": 4, "channels": [[0, 1], [1, 2], [3, 1], [3, 2]], "endpoints": [1],
        },
        "collective": {
            "kind": "deliver",
            "messages": [
                {"source": 0, "destinations": [1, 2]},
                {"source": 3, "destinations": [1]},
                {"source": 3, "destinations": [2]},
            ],
        },
        "model": {"ports": 1},
    }  # fmt: skip
    for order in ([1, 2], [2, 1], [1], [2]):
        with pytest.raises(EvidenceError, match="the steps are not alike"):
            Formula(Network(record), 2, order)
