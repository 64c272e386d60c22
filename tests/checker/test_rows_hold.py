"""Every row and every clause that the checker makes holds for every valid schedule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker.blocks import BlockRelaxation
from cchybrid.checker.clauses import Formula
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.relaxation import Relaxation
from cchybrid.model import Schedule
from tests.checker.meaning import block_columns, columns, network_of, satisfies, transfers, truths
from tests.examples import examples
from tests.random_instances import SEVERAL, valid_schedules


@settings(max_examples=examples(400))
@given(valid_schedules(max_nodes=6, **SEVERAL), st.sampled_from([None, "any"]), st.integers(0, 2))
def test_every_row_holds(schedule, routing, spare):
    relaxation = Relaxation(network_of(schedule, routing), len(schedule.steps) + spare)
    values = columns(relaxation, transfers(schedule))
    keys = list(relaxation.all_keys())
    if relaxation.network.hop_by_hop:
        keys += [key for key in relaxation.round_keys() if key[0] == "sent"]
    assert len(set(keys)) == len(keys)
    for key in keys:
        terms, side = relaxation.row(key)
        assert sum(times * values[column] for column, times in terms.items()) >= side, key
    for column, value in values.items():
        assert 0 <= value <= relaxation.max_value(column), column


@settings(max_examples=examples(400))
@given(valid_schedules(max_nodes=6, **SEVERAL), st.integers(0, 2), st.data())
def test_every_row_between_blocks_holds(schedule, spare, data):
    network = network_of(schedule)
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=network.nodes, max_size=network.nodes))
    numbers = {block: number for number, block in enumerate(dict.fromkeys(drawn))}
    block_of = [numbers[block] for block in drawn]
    relaxation = BlockRelaxation(network, block_of, len(schedule.steps) + spare)
    values = block_columns(relaxation, block_of, transfers(schedule))
    keys = list(relaxation.all_keys())
    assert len(set(keys)) == len(keys)
    for key in keys:
        terms, side = relaxation.row(key)
        assert sum(times * values[column] for column, times in terms.items()) >= side, key
    for column, value in values.items():
        assert 0 <= value <= relaxation.max_value(column), column


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
@given(valid_schedules(max_nodes=5, max_messages=4, **SEVERAL))
def test_every_clause_holds_of_the_paths_that_were_taken(schedule):
    network, moves = network_of(schedule), transfers(schedule)
    network.listed = sorted({path for _, _, path in moves})
    formula = Formula(network, len(schedule.steps))
    assert satisfies(formula, truths(formula, moves, len(schedule.steps)))


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


def test_a_broken_schedule_breaks_rows_and_clauses():
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
    relaxation = Relaxation(network, steps)
    values = columns(relaxation, moves)
    broken = [
        key
        for key in relaxation.all_keys()
        if sum(times * values[c] for c, times in relaxation.row(key)[0].items())
        < relaxation.row(key)[1]
    ]
    assert broken
    assert {key[0] for key in broken} == {"goal"}


@pytest.mark.parametrize(
    "key",
    [
        ("grow", 0, 1),
        ("grow", 0, 1, 0),
        ("grow", 0, 1, 4),
        ("grow", 99, 1, 1),
        ("grow", 0, True, 1),
        ("grow", 0, 0, 1),
        ("goal", 0, 0),
        ("wish", 0, 1),
        ("own", 0, 0, 3, 1, 1),
        ("own", 0, -1, 0, 1, 1),
        ("split", 0, 1, 1),
        ("over", 0, 0, 1, 1),
        ("channel", 0, 3, 1),
        ("pass", 0, 1, 1, 1),
        ("once", 0, 2, 2, 1),
        ("once", 0, 2, 0, 1),
    ],
)
def test_rows_that_do_not_exist_are_refused(key):
    import cchybrid
    from cchybrid.checker import Network

    instance = cchybrid.instance("ring-bi-6", "AAB")
    relaxation = Relaxation(Network(instance.to_json()), 3)
    with pytest.raises(EvidenceError):
        relaxation.row(key)
