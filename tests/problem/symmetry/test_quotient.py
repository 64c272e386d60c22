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


def rotations(instance: Instance, size: int) -> list[GroupAction]:
    nodes = instance.network.nodes
    rotation = ((np.arange(nodes) + size) % nodes).astype(np.int32)
    group = generate(rotation[None, :], nodes)
    return list(group_actions(group, 0))


def is_invariant(schedule: Schedule, action: GroupAction) -> bool:
    """Whether every element of the kernel maps each step to itself, by nodes of the paths."""
    messages = schedule.instance.forward.collective.deliver_messages
    for step in schedule.steps:
        held = sorted(
            (path, tuple(sorted(messages[message].destinations))) for message, path in step
        )
        for place in action.kernel:
            name = action.group.elements[place]
            other = sorted(
                (tuple(name[list(path)].tolist()), tuple(sorted(name[list(goals)].tolist())))
                for path, goals in held
            )
            if held != other:
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
    needed = found.step >= 0
    assert (again.step[divided.required] == found.step[divided.required]).all()
    assert not verify(instance, divided.lift(again).steps)
    assert needed[divided.required].all()


def test_one_tree_represents_all_broadcasts_of_a_torus():
    instance = cchybrid.instance("torus-4x4", "AAB")
    problem = build_problem(instance)
    rows = np.arange(16).reshape(4, 4)
    generators = np.stack([np.roll(rows, 1, axis).ravel() for axis in (0, 1)]).astype(np.int32)
    group = generate(generators, 16)
    divided = quotient(problem, next(group_actions(group, 0)))
    assert divided.deliveries == 15
    channels = divided.kind == 0
    assert channels.sum() == 4  # each direction once: a tree uses (direction, step) slots
    assert divided.capacity[channels].tolist() == [1, 1, 1, 1]


def test_an_action_that_permutes_steps():
    """Every translation permutes the steps: one step of the quotient is a round of the schedule."""
    instance = cchybrid.instance("ring-uni-8", "AAS")
    problem = build_problem(instance)
    rotation = ((np.arange(8) + 1) % 8).astype(np.int32)
    group = generate(rotation[None, :], 8)
    action = next(d for d in group_actions(group, 0) if d.steps_per_round == 8)
    divided = quotient(problem, action)
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
    swapped = np.arange(16, dtype=np.int32)
    swapped[[0, 1]] = 1, 0
    wrong = generate(swapped[None, :], 2)
    with pytest.raises(ValueError, match="changes the channels"):
        quotient(problem, next(group_actions(wrong, 0)))
