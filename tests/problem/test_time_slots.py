"""Time slots: the Problem and the referee agree, and no period is shorter than the shortest."""

import random
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.checker.schedule import checked_schedule
from cchybrid.model import CommunicationModel, Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.problem import Assignment, build_problem
from cchybrid.proof import BOUNDS
from cchybrid.proof.asking import bounds_of
from cchybrid.referee.verify import verify, verify_schedule
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, valid_schedules

SLOTS = {"switchings": ("tdm",)}
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=examples(100))
@given(valid_schedules(**SLOTS, chunks=(1, 2)))
def test_every_period_is_an_assignment(schedule):
    problem = build_problem(schedule.instance)
    assignment = problem.match(schedule.steps)
    assert assignment.steps == len(schedule.steps)
    assert problem.violations(assignment) == []
    lifted = problem.lift(assignment)
    assert len(lifted.steps) == len(schedule.steps)
    assert verify_schedule(lifted) == ()


@settings(max_examples=examples(200))
@given(instances(**SLOTS, max_messages=4), SEEDS, st.integers(1, 6))
def test_an_assignment_is_sound_if_its_schedule_is_valid(instance, seed, steps):
    problem, rng = build_problem(instance), random.Random(seed)
    first, stop = problem.option_start[:-1].tolist(), problem.option_start[1:].tolist()
    found = problem.empty()
    found.option[:] = [rng.randrange(a, b) for a, b in zip(first, stop, strict=True)]
    found.step[:] = [rng.randrange(steps) for _ in first]
    valid = not verify(instance, problem.lift(found).steps)
    assert valid == (not problem.violations(found))


@settings(max_examples=examples(40))
@given(valid_schedules(**SLOTS, max_nodes=5, max_messages=5))
def test_no_bound_exceeds_the_shortest_period(schedule):
    instance = schedule.instance
    record, fewest = instance.to_json(), fewest_steps(instance, len(schedule.steps))
    for info in BOUNDS:
        for bound in bounds_of(info, instance):
            try:
                proven = proven_steps(record, bound.evidence)
            except EvidenceError:
                continue  # about steps in order
            assert proven == bound.steps <= fewest, info.name


@pytest.mark.parametrize("collective", ["reduce", "allreduce", "scan"])
def test_other_collectives_are_refused(collective):
    with pytest.raises(InputError, match="time slots"):
        cchybrid.instance("mesh-3x3", collective, switching="tdm")


def test_transfers_of_a_message_are_a_tree_in_any_order_of_slots():
    ring = cchybrid.instance("ring-4", [(0, [1, 2, 3])], switching="tdm")
    tree = [[(0, (2, 3))], [(0, (1, 2))], [(0, (0, 1))]]
    assert verify(ring, tree) == ()
    cycle = [[(0, (2, 3))], [(0, (1, 2))], [(0, (2, 1))]]
    texts = {violation.text for violation in verify(ring, cycle)}
    assert "step 1, transfer 1: node 2 sends message 0 but receives it only in a cycle" in texts
    assert {v.rule for v in verify(ring, cycle)} == {"not-informed"}
    assert {v.rule for v in verify(ring, [*tree[:2], []])} == {
        "not-informed", "missing-destination",
    }  # fmt: skip
    for steps, valid in ((tree, True), (cycle, False)):
        record = Schedule(ring, steps).to_json()
        with nullcontext() if valid else pytest.raises(EvidenceError, match="does not reach it"):
            checked_schedule(record)


def test_what_steps_in_order_prove_is_refused():
    """A period of one slot exists, so that no argument about growth may hold."""
    line = cchybrid.instance("mesh-1x3", [(0, [1, 2])], switching="tdm", ports=1)
    evidence = {"kind": "linear", "steps": 2, "groups": [{"worth": [[1, 1], [2, 1]]}]}
    with pytest.raises(EvidenceError, match="steps in order"):
        proven_steps(line.to_json(), evidence)
    assert verify(line, [[(0, (0, 1)), (0, (1, 2))]]) == ()


def test_rounds_of_time_slots_are_refused():
    with pytest.raises(InputError, match="rounds of time slots"):
        CommunicationModel("tdm", rounds=(2,))


def test_the_format_of_time_slots_is_the_second_one():
    record = cchybrid.instance("ring-4", "AAS", switching="tdm").to_json()
    assert record["format"] == "cchybrid-instance/2"
    assert Instance.from_json(record).model.switching == "tdm"
    with pytest.raises(InputError, match="cchybrid-instance/1 has no switching tdm"):
        Instance.from_json({**record, "format": "cchybrid-instance/1"})


def test_a_use_in_the_next_period_counts():
    ring = cchybrid.instance("ring-4", [(0, [2]), (1, [2])], switching="tdm")
    problem = build_problem(ring)
    option = problem.option_start[:-1].astype("int32")
    # Message 0 starts in the last of two slots, and uses channel 1->2 in the first of the next two.
    both = Assignment(option, np.array([1, 1], dtype=np.int32))
    assert problem.violations(both) == []
    clash = Assignment(option, np.array([1, 0], dtype=np.int32))
    assert [(v.rule, v.step) for v in problem.violations(clash)] == [("overload", 0)]
