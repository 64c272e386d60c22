"""The rules of a Problem in plain Python: sound assignments, and random ones to try."""

import random
from collections import Counter

import numpy as np

import cchybrid
from cchybrid.model import Instance
from cchybrid.problem import Assignment, Problem, build_problem, needed
from cchybrid.problem.symmetry import group_actions, quotient
from cchybrid.problem.symmetry.groups import generate
from cchybrid.referee.verify import verify

Option = tuple[int, int, int, tuple[int, ...]]
"""Message, node that gets it, node that must have got it before (-1: the source has it), path."""


def options_of(problem: Problem) -> list[Option]:
    """Return every option in words of the instance."""
    structure = problem.structure
    found = []
    for option in range(problem.options):
        delivery = int(problem.option_delivery[option])
        before = int(problem.option_requires[option])
        message = int(structure.delivery_message[delivery])
        node, sender = structure.delivery_node[[delivery, before]].tolist()
        assert before < 0 or structure.delivery_message[before] == message
        path = structure.paths[problem.option_path[option]]
        found.append((message, node, sender if before >= 0 else -1, path))
    return found


def sound(problem: Problem, assignment: Assignment) -> bool:
    """Return whether an assignment solves the problem; deliveries that nothing needs are free."""
    kept = needed(problem, assignment)
    if (problem.required & ~kept).any():
        return False
    load: Counter[tuple[int, int]] = Counter()
    for delivery in range(problem.deliveries):
        if not kept[delivery]:
            continue
        option, step = int(assignment.option[delivery]), int(assignment.step[delivery])
        assert problem.option_start[delivery] <= option < problem.option_start[delivery + 1]
        before = int(problem.option_requires[option])
        if before >= 0 and not (kept[before] and assignment.step[before] < step):
            return False
        for resource in problem.resources_of(option).tolist():
            load[step, resource] += 1
    return all(uses <= limit(problem, step, resource) for (step, resource), uses in load.items())


def limit(problem: Problem, step: int, resource: int) -> int:
    """Return how often a resource may be used in a step."""
    rounds = problem.rounds[step] if step < len(problem.rounds) else problem.rounds[-1]
    return rounds * int(problem.capacity[resource])


def overloads_beyond(problem: Problem, assignment: Assignment) -> bool:
    """Return whether some resource is overloaded, and only resources said to be implied."""
    load: Counter[tuple[int, int]] = Counter()
    for delivery in range(problem.deliveries):
        if assignment.option[delivery] >= 0:
            for resource in problem.resources_of(int(assignment.option[delivery])).tolist():
                load[int(assignment.step[delivery]), resource] += 1
    over = {r for (step, r), uses in load.items() if uses > limit(problem, step, r)}
    return bool(over) and all(problem.implied[resource] for resource in over)


def random_assignment(problem: Problem, rng: random.Random) -> Assignment:
    """Return any options in any steps: mostly wrong, now and then sound."""
    found = problem.empty()
    steps = rng.randint(1, 2 * problem.deliveries)
    for delivery in range(problem.deliveries):
        if problem.required[delivery] or rng.random() < 0.6:
            first, last = problem.option_start[delivery], problem.option_start[delivery + 1]
            found.option[delivery] = rng.randrange(first, last)
            found.step[delivery] = rng.randrange(steps)
    return found


def repaired(problem: Problem, assignment: Assignment, rng: random.Random) -> Assignment:
    """Return the assignment with one delivery moved to another option and step."""
    option, step = assignment.option.copy(), assignment.step.copy()
    delivery = rng.randrange(problem.deliveries)
    first, last = problem.option_start[delivery], problem.option_start[delivery + 1]
    option[delivery] = rng.randrange(first, last)
    step[delivery] = rng.randrange(max(assignment.steps, 1))
    return Assignment(option, step)


def rotated_ring() -> Problem:
    """Return all-to-all broadcast on a ring of 6, divided by its rotations."""
    instance = cchybrid.instance("ring-bi-6", "AAB")
    rotation = np.roll(np.arange(6, dtype=np.int32), -1)
    group = generate(rotation[None, :], 6)
    return quotient(build_problem(instance), next(iter(group_actions(group, 0))))


def is_valid(instance: Instance, problem: Problem, assignment: Assignment) -> bool:
    """Return whether the referee accepts the schedule that the assignment stands for."""
    schedule = problem.lift(assignment)
    assert schedule.instance == instance
    return not verify(instance, schedule.steps)
