"""Quotients: whatever solves them lifts to a valid schedule, which is the same after every turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from turned_instances import turned_instances

import cchybrid
from cchybrid.model import Instance, Schedule
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Engine, Stop
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import Problem, build_problem
from cchybrid.problem.symmetry import (
    Division,
    NoQuotientError,
    QuotientOrigin,
    automorphisms,
    divisions,
    groups,
    quotient,
)
from cchybrid.problem.symmetry.groups import generate
from cchybrid.referee.verify import verify
from cchybrid.toolkit.kernels.first_fit import first_fit


def turns(instance: Instance, size: int) -> list[Division]:
    nodes = instance.network.nodes
    turn = ((np.arange(nodes) + size) % nodes).astype(np.int32)
    group = generate(turn[None, :], nodes)
    assert group is not None
    return list(divisions(group, 0))


def moved_alike(schedule: Schedule, division: Division) -> bool:
    """Whether every element of the kernel maps each step to itself, by nodes of the paths."""
    messages = schedule.instance.forward.collective.deliver_messages
    for step in schedule.steps:
        held = sorted(
            (path, tuple(sorted(messages[message].destinations))) for message, path in step
        )
        for place in division.kernel:
            name = division.group.elements[place]
            other = sorted(
                (tuple(name[list(path)].tolist()), tuple(sorted(name[list(goals)].tolist())))
                for path, goals in held
            )
            if held != other:
                return False
    return True


@settings(max_examples=150, deadline=None, derandomize=True)
@given(turned_instances())
def test_schedules_of_quotients_are_valid_and_keep_to_the_group(
    drawn: tuple[Instance, int],
) -> None:
    instance, size = drawn
    problem = build_problem(instance)
    for division in turns(instance, size):
        try:
            divided = quotient(problem, division)
        except NoQuotientError:
            continue  # such as paths that meet themselves after a turn
        assert not divided.complete
        found = first_fit(divided, 0)
        schedule = divided.lift(found)
        assert not verify(instance, schedule.steps)
        assert moved_alike(schedule, division)
        assert divided.deliveries * division.group.order >= problem.deliveries


@settings(max_examples=80, deadline=None, derandomize=True)
@given(turned_instances())
def test_lifted_schedules_are_found_again(drawn: tuple[Instance, int]) -> None:
    instance, size = drawn
    problem = build_problem(instance)
    division = turns(instance, size)[0]
    try:
        divided = quotient(problem, division)
        found = first_fit(divided, 1)
    except ValueError:
        assume(False)
    schedule = divided.lift(found, found.steps)
    again = divided.match(schedule.steps)
    needed = found.step >= 0
    assert (again.step[divided.required] == found.step[divided.required]).all()
    assert not verify(instance, divided.lift(again).steps)
    assert needed[divided.required].all()


def test_one_tree_stands_for_all_broadcasts_of_a_torus() -> None:
    instance = cchybrid.instance("torus-4x4", "AAB")
    problem = build_problem(instance)
    rows = np.arange(16).reshape(4, 4)
    generators = np.stack([np.roll(rows, 1, axis).ravel() for axis in (0, 1)]).astype(np.int32)
    group = generate(generators, 16)
    assert group is not None
    divided = quotient(problem, next(divisions(group, 0)))
    assert divided.deliveries == 15
    channels = divided.kind == 0
    assert channels.sum() == 4  # each direction once: a tree uses (direction, step) slots
    assert divided.capacity[channels].tolist() == [1, 1, 1, 1]


def test_moved_steps_divide_the_work() -> None:
    """Every translation moves the steps: one step of the quotient is a schedule's whole round."""
    instance = cchybrid.instance("ring-uni-8", "AAS")
    problem = build_problem(instance)
    turn = ((np.arange(8) + 1) % 8).astype(np.int32)
    group = generate(turn[None, :], 8)
    assert group is not None
    division = next(d for d in divisions(group, 0) if d.stretch == 8)
    divided = quotient(problem, division)
    assert (divided.deliveries, divided.resources) == (7, problem.resources)
    found = first_fit(divided, 0)
    schedule = divided.lift(found)
    assert len(schedule.steps) == 8 * found.steps
    assert not verify(instance, schedule.steps)


def test_one_step_and_its_rotations_are_a_schedule_of_a_spidergon() -> None:
    instance = cchybrid.instance("spidergon-16", "AAS")
    turn = ((np.arange(16) + 1) % 16).astype(np.int32)
    group = generate(turn[None, :], 16)
    assert group is not None
    division = next(d for d in divisions(group, 0) if d.stretch == 16)
    problem = quotient(build_problem(instance), division)
    kind = load_target(load_registry().engines["tabu"].target)
    run = LocalRun(problem, budget=Budget(evaluations=100), first_lower=1, target=1)
    kind(kind.Options()).solve(problem, run)
    [schedule] = run.schedules[-1:]
    assert (problem.deliveries, len(schedule.steps)) == (15, 16)


def test_what_cannot_be_divided_is_refused() -> None:
    instance = cchybrid.instance("torus-4x4", "AAB")
    problem = build_problem(instance)
    found = groups(automorphisms(instance), 0, 16)
    moving = next(d for group in found for d in divisions(group, 0) if d.stretch > 1)
    with pytest.raises(NoQuotientError, match="steps cannot change places"):
        quotient(problem, moving)
    still = next(d for group in found for d in divisions(group, 0) if d.group.semiregular)
    with pytest.raises(ValueError, match="built from an instance"):
        quotient(quotient(problem, still), still)
    swapped = np.arange(16, dtype=np.int32)
    swapped[[0, 1]] = 1, 0
    wrong = generate(swapped[None, :], 2)
    assert wrong is not None
    with pytest.raises(ValueError, match="changes the channels"):
        quotient(problem, next(divisions(wrong, 0)))


ENGINES = sorted(load_registry().engines)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_solves_a_quotient_or_says_why_not(name: str) -> None:
    info = load_registry().engines[name]
    kind = load_target(info.target)
    for case, steps in ((("torus-4x4", "AAS"), 8), (("ring-bi-8", "AAB"), 4)):
        problem = divided_by_translations(*case)
        engine: Engine = kind(kind.Options())
        if engine.unsupported(problem) is not None:
            continue
        run = LocalRun(problem, budget=Budget(seconds=6.0), first_lower=steps, target=steps + 4)
        assert Stop(engine.solve(problem, run)) in Stop
        assert not run.violations
        assert run.schedules


def divided_by_translations(network: str, collective: str) -> Problem:
    instance = cchybrid.instance(network, collective)
    for group in groups(automorphisms(instance), 0, 4):
        division = next(divisions(group, 0))
        try:
            return quotient(build_problem(instance), division)
        except NoQuotientError:
            continue
    raise AssertionError("no quotient")


def test_prices_are_those_of_the_listed_options() -> None:
    problem = divided_by_translations("torus-4x4", "AAS")
    assert isinstance(problem.origin, QuotientOrigin)
    cost = np.random.default_rng(0).random(problem.resources)
    for delivery in range(problem.deliveries):
        first, last = problem.option_start[delivery : delivery + 2]
        spent = [cost[problem.resources_of(option)].sum() for option in range(first, last)]
        assert problem.price(delivery, cost).cost == pytest.approx(min(spent))
