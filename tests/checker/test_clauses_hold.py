"""Every clause that the checker makes holds for every valid schedule."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker.clauses import Formula
from cchybrid.checker.instance import EvidenceError, Network
from tests.checker.by_hand import network, record
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
    given, steps = network_of(schedule), len(schedule.steps)
    numbers = st.integers(0, len(given.messages) - 1)
    order = data.draw(st.lists(numbers, min_size=1, max_size=3))
    try:
        formula = Formula(given, steps, order)
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
    formula = Formula(network([[0, 1], [0, 2], [2, 3]], (0, [1, 2, 3])), 2)
    moves = [(1, 0, (0, 1)), (1, 0, (0, 2)), (2, 0, (2, 3))]
    assert satisfies(formula, truths(formula, moves, 2))
    assert not satisfies(formula, truths(formula, moves[:-1], 2))


def test_a_path_over_two_channels_of_a_group_counts_once():
    """The other path avoids the group, so that not every path uses it."""
    hops = [[0, 1], [1, 2], [0, 3], [3, 2]]
    shared = record(hops, (0, [2]), (0, [1]))
    shared["network"]["groups"] = [[[0, 1], [1, 2]]]
    given = Network(shared)
    moves = [(1, 0, (0, 3, 2)), (1, 1, (0, 1))]
    formula = Formula(given, 1)
    assert satisfies(formula, truths(formula, moves, 1))
