"""Loads and conflicts in plain Python, written from the definitions alone."""

from collections import Counter
from math import comb

from cchybrid.problem import Assignment, Problem


def loads(problem: Problem, assignment: Assignment, counted: set[int]) -> Counter[tuple[int, int]]:
    """Return how often every resource is used in every step."""
    used: Counter[tuple[int, int]] = Counter()
    for delivery in counted:
        option, step = int(assignment.option[delivery]), int(assignment.step[delivery])
        if option >= 0 and step >= 0:
            used.update((int(resource), step) for resource in problem.resources_of(option))
    return used


def needed(problem: Problem, assignment: Assignment) -> set[int]:
    """Return the deliveries that are required or that a needed one requires."""
    found = {d for d in range(problem.deliveries) if problem.required[d]}
    frontier = list(found)
    while frontier:
        option = int(assignment.option[frontier.pop()])
        before = int(problem.option_requires[option]) if option >= 0 else -1
        if before >= 0 and before not in found:
            found.add(before)
            frontier.append(before)
    return found


def overload(problem: Problem, used: Counter[tuple[int, int]], excess: bool = False) -> int:
    """Return the conflicts on resources (thesis equation 6.18 for any capacity), or the excess."""
    total = 0
    for (resource, _), load in used.items():
        capacity = int(problem.capacity[resource])
        if not problem.implied[resource] and load > capacity:
            pairs = comb(load, 2) - comb(capacity, 2)
            # A resource of capacity 0 counts its first use too: one more conflict.
            total += load - capacity if excess else pairs + (capacity == 0)
    return total


def conflicts(problem: Problem, assignment: Assignment) -> int:
    """Return how far an assignment is from valid."""
    counted = needed(problem, assignment)
    total = overload(problem, loads(problem, assignment, counted))
    for delivery in counted:
        option, step = int(assignment.option[delivery]), int(assignment.step[delivery])
        if option < 0 or step < 0:
            total += 1
            continue
        before = int(problem.option_requires[option])
        if before >= 0 and int(assignment.step[before]) >= step:
            total += 1
    return total
