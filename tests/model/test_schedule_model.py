"""Schedules: JSON, files, cost, reading backwards."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.library.collectives import collective
from cchybrid.library.topologies import network
from cchybrid.model import Instance, LowerBound, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.model.steps import reverse_steps
from tests.examples import examples
from tests.model.model_strategies import schedules
from tests.refusals import refused

RING = network("ring-bi-3")
SCHEDULE = Schedule(
    Instance(RING, collective("OAB", RING)), ((Transfer(0, (0, 1)),), (Transfer(0, (1, 2)),)),
    LowerBound(1, {"kind": "linear", "steps": 1}), {"engine": "test", "seed": 0},
)  # fmt: skip


@settings(max_examples=examples(60))
@given(schedules())
def test_json_round_trip(schedule: Schedule) -> None:
    """With its instance, and so with its network, collective and model."""
    text = json.dumps(schedule.to_json(), allow_nan=False)
    assert Schedule.from_json(json.loads(text)) == schedule


@settings(max_examples=examples(60))
@given(schedules())
def test_reading_backwards_twice_is_forward(schedule: Schedule) -> None:
    assert reverse_steps(reverse_steps(schedule.steps)) == schedule.steps


def test_a_schedule_keeps_nothing_that_the_caller_can_change() -> None:
    steps = [[(0, [0, 1]), (0, (node for node in (0, 2)))]]
    schedule = Schedule(cchybrid.instance("ring-bi-3", "OAB"), steps)
    steps[0].pop()
    assert schedule.steps == ((Transfer(0, (0, 1)), Transfer(0, (0, 2))),)
    assert isinstance(schedule.steps[0][0], Transfer)
    parts = [[[0, 1]]]
    reduced = Schedule(cchybrid.instance("ring-bi-3", "allreduce"), [[(0, (0, 1))]], sums=parts)
    parts[0][0].append(2)
    assert reduced.sums == (((0, 1),),)


def test_cost_is_steps_then_channel_uses() -> None:
    assert SCHEDULE.cost == (2, 2)
    longer = Schedule(SCHEDULE.instance, ((Transfer(0, (0, 1)), Transfer(0, (0, 1, 2))),))
    assert longer.cost == (1, 3)


def test_save_and_load(tmp_path: Path) -> None:
    SCHEDULE.save(tmp_path / "schedule.json")
    assert Schedule.load(tmp_path / "schedule.json") == SCHEDULE


def test_optional_keys_are_left_out() -> None:
    plain = Schedule(SCHEDULE.instance, ())
    assert plain.to_json().keys() == {"format", "instance", "steps"}
    assert Schedule.from_json(plain.to_json()) == plain


def changed(**changes: Any) -> dict[str, Any]:
    record = copy.deepcopy(SCHEDULE.to_json())
    for key, value in changes.items():
        if value is ...:
            del record[key]
        else:
            record[key] = value
    return record


def transfer(**changes: Any) -> dict[str, Any]:
    return changed(steps=[[], [{"message": 0, "path": [0, 1]} | changes]])


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (None, "the file: null is not an object"),
        ({}, 'format: the key is missing; give a file with "format": "cchybrid-schedule/1"'),
        (changed(format="x"), 'format: the format is "x"; give a file with'),
        (changed(instance=...), "instance: the key is missing; add an object"),
        (changed(instance={}), "instance: format: the key is missing"),
        (changed(steps=...), "steps: the key is missing; add a list"),
        (changed(steps=[[], [5]]), "steps[1][0]: 5 is not an object"),
        (changed(steps=[[{}]]), "steps[0][0].message: the key is missing; add an integer"),
        (transfer(message=True), "steps[1][0].message: true is not an integer"),
        (transfer(path=5), "steps[1][0].path: 5 is not a list"),
        (transfer(path=[0, True]), "steps[1][0].path[1]: true is not an integer"),
        (transfer(step=1), "steps[1][0].step: the format has no such key; use message, path"),
        (changed(lower_bound=3), "lower_bound: 3 is not an object"),
        (changed(lower_bound={"steps": -1}), "lower_bound.steps: -1 steps; use at least 0"),
        (changed(lower_bound={"steps": 1, "evidence": []}), "lower_bound.evidence: [] is not an"),
        (changed(made_by="me"), 'made_by: "me" is not an object'),
    ],
)
def test_refusals(record: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(json.dumps(record))
    with refused(f"{tmp_path}/bad.json: ", message):
        Schedule.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("transfer", "line"),
    [
        (Transfer(0, (0.0, 1)), r"steps\[0\]\[0\].path\[0\]: '0.0' is no whole number"),
        (Transfer(0.5, (0, 1)), r"steps\[0\]\[0\].message: '0.5' is no whole number"),
        (Transfer(0, 5), "'5' is no list of whole numbers"),
        (Transfer(0, {0, 1}), r"steps\[0\]\[0\]: a set is no path; give nodes in order"),
        ((0,), r"steps\[0\]\[0\]: a tuple is no transfer; give a Transfer"),
        (5, r"steps\[0\]\[0\]: 5 is no transfer; give a Transfer"),
    ],
)
def test_what_is_no_transfer_is_refused_in_one_line(transfer, line):
    with pytest.raises(InputError, match=line) as caught:
        Schedule(SCHEDULE.instance, ((transfer,),))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"sums": (5,)}, "sums: not one sum for each transfer"),
        ({"sums": ((5,),)}, r"sums\[0\]\[0\]: '5' is no list of whole numbers"),
        ({"sums": (((0.5,),),)}, r"sums\[0\]\[0\]\[0\]: '0.5' is no whole number"),
        ({"sums": (((0,),),), "lower_bound": 5}, "lower_bound: 5 is no LowerBound"),
        ({"sums": (((0,),),), "made_by": "me"}, "made_by: 'me' is no dict"),
    ],
)
def test_other_fields_of_a_wrong_type_are_refused_in_one_line(fields, line):
    instance = cchybrid.instance("ring-bi-4", "allreduce")
    with pytest.raises(InputError, match=line):
        Schedule(instance, ((Transfer(0, (0, 1)),),), **fields)
