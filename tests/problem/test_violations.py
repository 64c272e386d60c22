"""``Problem.violations`` equals plain Python, and is empty exactly for valid schedules."""

import random
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.problem import Assignment, AssignmentViolation, Problem, build_problem, needed
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.problem.plain_problem import (
    is_valid,
    limit,
    random_assignment,
    repaired,
    rotated_ring,
    sound,
)
from tests.random_instances import SEVERAL, instances, valid_schedules


def plain_violations(problem: Problem, assignment: Assignment) -> set[AssignmentViolation]:
    """The same in plain Python, delivery by delivery."""
    found = set()
    happens = {}
    for delivery in range(problem.deliveries):
        option, step = int(assignment.option[delivery]), int(assignment.step[delivery])
        own = range(problem.option_start[delivery], problem.option_start[delivery + 1])
        when = max(step, -1)
        if (option == -1) != (step == -1) or min(option, step) < -1:
            found.add(AssignmentViolation("half-assigned", delivery, when))
        elif option >= 0 and option not in own:
            found.add(AssignmentViolation("foreign-option", delivery, when))
        elif option >= 0:
            happens[delivery] = option, step
        elif problem.required[delivery]:
            found.add(AssignmentViolation("missing-delivery", delivery))
    kept: set[int] = set()
    fresh = {delivery for delivery in happens if problem.required[delivery]}
    while fresh:
        kept |= fresh
        before = {int(problem.option_requires[happens[delivery][0]]) for delivery in fresh}
        fresh = (before & happens.keys()) - kept
    load: Counter[tuple[int, int]] = Counter()
    for delivery in kept:
        option, step = happens[delivery]
        before = int(problem.option_requires[option])
        if before >= 0 and (before not in happens or happens[before][1] >= step):
            found.add(AssignmentViolation("too-early", delivery, step))
        load.update((step, int(resource)) for resource in problem.resources_of(option))
    for (step, resource), uses in load.items():
        capacity = limit(problem, step, resource)
        if uses > capacity:
            found.add(AssignmentViolation("overload", -1, step, resource, uses, capacity))
    return found


def garbled(problem: Problem, rng: random.Random) -> Assignment:
    """Return an assignment whose entries are mostly of no meaning at all."""
    found = random_assignment(problem, rng)
    for values, end in ((found.option, problem.options), (found.step, 3)):
        for delivery in range(problem.deliveries):
            if rng.random() < 0.3:
                values[delivery] = rng.randrange(-2, end)
    return found


@given(instances(**SEVERAL), st.integers(0, 2**32 - 1))
def test_violations_are_those_of_plain_python(instance, seed):
    problem = build_problem(instance, max_options=60)
    rng = random.Random(seed)
    for make in (random_assignment, garbled, garbled):
        assignment = make(problem, rng)
        found = problem.violations(assignment)
        assert len(set(found)) == len(found)
        assert set(found) == plain_violations(problem, assignment)
        assert all(violation.text for violation in found)


@given(valid_schedules(max_nodes=6, max_messages=4, **SEVERAL), st.integers(0, 2**32 - 1))
def test_what_has_none_is_a_valid_schedule(schedule, seed):
    problem = build_problem(schedule.instance)
    assignment = problem.match(schedule.steps)
    assert problem.violations(assignment) == []
    rng = random.Random(seed)
    for _ in range(6):
        changed = repaired(problem, assignment, rng)
        assert is_valid(schedule.instance, problem, changed) == (not problem.violations(changed))
        assert sound(problem, changed) == (not problem.violations(changed))


def test_quotients_have_the_same_rules():
    divided = rotated_ring()
    found = first_fit(divided, 0)
    assert divided.violations(found) == []
    found.step[:] = 0
    rules = {violation.rule for violation in divided.violations(found)}
    assert rules == {"too-early", "overload"}
    assert set(divided.violations(found)) == plain_violations(divided, found)


def test_unneeded_deliveries_break_no_rule():
    line = cchybrid.instance("mesh-1x3", "OAS", switching="store-and-forward")
    problem = build_problem(line)
    found = first_fit(problem, 0)
    idle = np.flatnonzero(~needed(problem, found) & ~problem.required)
    assert len(idle)
    found.option[idle] = problem.option_start[idle]
    found.step[idle] = 0
    assert problem.violations(found) == []
