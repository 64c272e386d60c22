"""Quotients: their solutions lift to valid schedules that are invariant under the group."""

import numpy as np
import pytest
from hypothesis import assume, given, settings

import cchybrid
from cchybrid.model import Instance, Schedule
from cchybrid.problem import build_problem
from cchybrid.problem.symmetry import (
    GroupAction,
    NoQuotientError,
    automorphisms,
    group_actions,
    groups,
    quotient,
)
from cchybrid.problem.symmetry.groups import generate
from cchybrid.referee.verify import verify
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.examples import examples
from tests.problem.symmetry.turned_instances import turned_instances


def actions(*generators: np.ndarray) -> list[GroupAction]:
    """Return the actions of the group that some permutations of nodes generate."""
    group = generate(np.array(generators, dtype=np.int32), len(generators[0]))
    return list(group_actions(group, 0))


def rotations(instance: Instance, size: int) -> list[GroupAction]:
    return actions(np.roll(np.arange(instance.network.nodes), -size))


def is_invariant(schedule: Schedule, action: GroupAction) -> bool:
    """Whether every element of the kernel maps each step to itself, by nodes of the paths."""
    messages = schedule.instance.forward.collective.deliver_messages
    for step in schedule.steps:
        held = [(path, messages[message].destinations) for message, path in step]
        images = [
            sorted(
                (tuple(name[list(path)]), tuple(sorted(name[list(ends)]))) for path, ends in held
            )
            for name in action.group.elements[[0, *action.kernel]]
        ]
        if any(image != images[0] for image in images):
            return False
    return True


@settings(max_examples=examples(150), derandomize=True)
@given(turned_instances())
def test_schedules_of_quotients_are_valid_and_are_invariant_under_the_group(drawn):
    instance, size = drawn
    problem = build_problem(instance)
    for action in rotations(instance, size):
        try:
            divided = quotient(problem, action)
        except NoQuotientError:
            continue  # such as paths that overlap their own images
        assert not divided.complete
        found = first_fit(divided, 0)
        schedule = divided.lift(found)
        assert not verify(instance, schedule.steps)
        assert is_invariant(schedule, action)
        assert divided.deliveries * action.group.order >= problem.deliveries


@settings(max_examples=examples(80), derandomize=True)
@given(turned_instances())
def test_lifted_schedules_are_found_again(drawn):
    instance, size = drawn
    problem = build_problem(instance)
    action = rotations(instance, size)[0]
    try:
        divided = quotient(problem, action)
        found = first_fit(divided, 1)
    except ValueError:
        assume(False)
    schedule = divided.lift(found, found.steps)
    again = divided.match(schedule.steps)
    assert (again.step[divided.required] == found.step[divided.required]).all()
    assert not verify(instance, divided.lift(again).steps)
    assert (found.step[divided.required] >= 0).all()


def test_one_tree_represents_all_broadcasts_of_a_torus():
    problem = build_problem(cchybrid.instance("torus-4x4", "AAB"))
    rows = np.arange(16).reshape(4, 4)
    divided = quotient(problem, actions(*(np.roll(rows, 1, axis).ravel() for axis in (0, 1)))[0])
    assert divided.deliveries == 15
    # Each direction once: a tree uses (direction, step) slots.
    assert divided.capacity[divided.kind == 0].tolist() == [1, 1, 1, 1]


def test_an_action_that_permutes_steps():
    """Every translation permutes the steps: one step of the quotient is a round of the schedule."""
    instance = cchybrid.instance("ring-uni-8", "AAS")
    problem = build_problem(instance)
    divided = quotient(problem, next(d for d in rotations(instance, 1) if d.steps_per_round == 8))
    assert (divided.deliveries, divided.resources) == (7, problem.resources)
    found = first_fit(divided, 0)
    schedule = divided.lift(found)
    assert len(schedule.steps) == 8 * found.steps
    assert not verify(instance, schedule.steps)


def test_problems_without_a_quotient_are_refused():
    instance = cchybrid.instance("torus-4x4", "AAB")
    problem = build_problem(instance)
    found = groups(automorphisms(instance), 0, 16)
    moving = next(d for group in found for d in group_actions(group, 0) if d.steps_per_round > 1)
    with pytest.raises(NoQuotientError, match="steps cannot be permuted"):
        quotient(problem, moving)
    still = next(d for group in found for d in group_actions(group, 0) if d.group.semiregular)
    with pytest.raises(ValueError, match="built from an instance"):
        quotient(quotient(problem, still), still)
    with pytest.raises(ValueError, match="changes the channels"):
        quotient(problem, actions(np.array([1, 0, *range(2, 16)]))[0])
