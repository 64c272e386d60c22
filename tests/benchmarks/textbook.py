"""A textbook CP-SAT model of a scatter, the reference for engine ``cpsat``.

A boolean says that a message takes a path in a step. Every message takes exactly one path and
step; in no step is a resource used beyond its capacity. There is no symmetry breaking, no bound and
no hint, and CP-SAT has its default parameters.
"""

from __future__ import annotations

import time

import numpy as np
from ortools.sat.python import cp_model

from cchybrid.problem import Assignment, Problem


def textbook_model(problem: Problem, steps: int) -> tuple[cp_model.CpModel, list[list[int]]]:
    """Return the model of a scatter-like Problem, and the boolean of each option in each step."""
    if problem.ordered:
        raise ValueError("the textbook's model is one of scatter")
    model = cp_model.CpModel()
    taken = [[model.new_bool_var("") for _ in range(steps)] for _ in range(problem.options)]
    for delivery in range(problem.deliveries):
        first, last = problem.option_start[delivery : delivery + 2].tolist()
        model.add_exactly_one(literal for option in taken[first:last] for literal in option)
    users: list[list[int]] = [[] for _ in range(problem.resources)]
    for option in range(problem.options):
        for resource in problem.resources_of(option).tolist():
            users[resource].append(option)
    for resource in np.flatnonzero(~problem.implied).tolist():
        capacity = int(problem.capacity[resource])
        for step in range(steps):
            model.add(sum(taken[option][step] for option in users[resource]) <= capacity)
    return model, [[literal.index for literal in option] for option in taken]


def decide(
    problem: Problem, steps: int, seed: int, threads: int, limit: float
) -> tuple[bool | None, Assignment | None, float]:
    """Return whether ``steps`` suffice (``None``: undecided), the assignment, the seconds."""
    begun = time.perf_counter()
    model, index = textbook_model(problem, steps)
    solver = cp_model.CpSolver()
    solver.parameters.random_seed = seed
    solver.parameters.num_workers = threads
    solver.parameters.max_time_in_seconds = limit
    verdict = solver.solve(model)
    taken = time.perf_counter() - begun
    if verdict == cp_model.INFEASIBLE:
        return False, None, taken
    if verdict not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, None, taken
    found = problem.empty()
    option, step = np.nonzero(np.array(solver.response_proto.solution)[np.array(index)])
    found.option[problem.option_delivery[option]] = option
    found.step[problem.option_delivery[option]] = step
    return True, found, taken
