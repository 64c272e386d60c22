"""Every row of the finders' relaxations holds for every valid schedule."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.proof.block_relaxation import BlockRelaxation
from cchybrid.proof.relaxation import Relaxation
from tests.checker.meaning import network_of, transfers
from tests.examples import examples
from tests.proof.meaning_of_rows import block_columns, columns
from tests.random_instances import SEVERAL, valid_schedules


def check_rows(relaxation, keys, values):
    assert len(set(keys)) == len(keys)
    for key in keys:
        terms, side = relaxation.row(key)
        assert sum(times * values[column] for column, times in terms.items()) >= side, key
    for column, value in values.items():
        assert 0 <= value <= relaxation.max_value(column), column


@settings(max_examples=examples(400))
@given(valid_schedules(max_nodes=6, **SEVERAL), st.sampled_from([None, "any"]), st.integers(0, 2))
def test_every_row_holds(schedule, routing, spare):
    relaxation = Relaxation(network_of(schedule, routing), len(schedule.steps) + spare)
    values = columns(relaxation, transfers(schedule))
    keys = [*relaxation.all_keys(), *relaxation.sent_keys()]
    check_rows(relaxation, keys, values)


@settings(max_examples=examples(400))
@given(valid_schedules(max_nodes=6, **SEVERAL), st.integers(0, 2), st.data())
def test_every_row_between_blocks_holds(schedule, spare, data):
    network = network_of(schedule)
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=network.nodes, max_size=network.nodes))
    numbers = {block: number for number, block in enumerate(dict.fromkeys(drawn))}
    block_of = [numbers[block] for block in drawn]
    relaxation = BlockRelaxation(network, block_of, len(schedule.steps) + spare)
    values = block_columns(relaxation, block_of, transfers(schedule))
    check_rows(relaxation, list(relaxation.all_keys()), values)
