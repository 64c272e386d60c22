"""The Problem and the referee agree: every schedule is an assignment, and vice versa."""

import random
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.model import Instance, Transfer
from cchybrid.problem import build_problem, needed
from cchybrid.referee.verify import verify
from tests.examples import examples
from tests.problem.plain_problem import (
    Option,
    is_valid,
    options_of,
    overloads_beyond,
    random_assignment,
    repaired,
    sound,
)
from tests.random_instances import SEVERAL, instances, valid_schedules


def allowed_options(instance: Instance) -> set[Option]:
    """Return every option whose transfer, alone in a step, breaks no rule of the referee."""
    forward = instance.forward
    nodes = range(forward.network.nodes)
    wormhole = forward.model.switching == "wormhole"
    tried = []
    for message, (source, destinations) in enumerate(forward.collective.deliver_messages):
        holders = {source, *destinations} if wormhole else set(nodes)
        for size in range(2, len(nodes) + 1):
            tried += [
                Transfer(message, path)
                for path in permutations(nodes, size)
                if path[0] in holders and path[-1] != source
            ]
    violations = verify(forward, tuple((transfer,) for transfer in tried))
    # What a transfer by itself cannot help is no matter.
    others = {"not-informed", "received-twice", "missing-destination"}
    wrong = {violation.step for violation in violations if violation.rule not in others}
    sources = [message.source for message in forward.collective.deliver_messages]
    return {
        (message, path[-1], -1 if path[0] == sources[message] else path[0], path)
        for step, (message, path) in enumerate(tried)
        if step not in wrong
    }


@settings(max_examples=examples(40))
@given(instances(max_nodes=5, max_messages=3, **SEVERAL))
def test_options_are_what_the_referee_allows(instance):
    problem = build_problem(instance)
    options = options_of(problem)
    assert problem.complete
    assert len(set(options)) == len(options)
    assert set(options) == allowed_options(instance)
    for delivery in range(problem.deliveries):
        goals = instance.collective.deliver_messages[
            problem.structure.delivery_message[delivery]
        ].destinations
        assert problem.required[delivery] == (problem.structure.delivery_node[delivery] in goals)


@given(valid_schedules(**SEVERAL))
def test_every_schedule_is_an_assignment(schedule):
    problem = build_problem(schedule.instance)
    assignment = problem.match(schedule.steps)
    assert assignment.steps == len(schedule.steps)
    assert sound(problem, assignment)
    lifted = problem.lift(assignment, len(schedule.steps)).steps
    given_, kept = (list(map(set, steps)) for steps in (schedule.steps, lifted))
    if needed(problem, assignment).all():
        assert kept == given_
    else:
        # Store-and-forward: transfers that lead to no destination are dropped.
        assert schedule.instance.model.switching == "store-and-forward"
        assert all(few <= many for few, many in zip(kept, given_, strict=True))
    assert is_valid(schedule.instance, problem, assignment)


@settings(max_examples=examples(150))
@given(instances(max_nodes=6, max_messages=4, **SEVERAL), st.integers(0, 2**32 - 1))
def test_sound_assignments_are_the_valid_ones(instance, seed):
    problem = build_problem(instance)
    rng = random.Random(seed)
    for _ in range(5):
        assignment = random_assignment(problem, rng)
        assert is_valid(instance, problem, assignment) == sound(problem, assignment)
        assert not overloads_beyond(problem, assignment)


@settings(max_examples=examples(150))
@given(valid_schedules(max_nodes=6, max_messages=4, **SEVERAL), st.integers(0, 2**32 - 1))
def test_nearly_sound_assignments_too(schedule, seed):
    problem = build_problem(schedule.instance)
    rng = random.Random(seed)
    assignment = problem.match(schedule.steps)
    for _ in range(8):
        changed = repaired(problem, assignment, rng)
        right = sound(problem, changed)
        assert is_valid(schedule.instance, problem, changed) == right
        assert not overloads_beyond(problem, changed)
        if right:
            assignment = changed
