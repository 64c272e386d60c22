"""From a construction's transfers to an assignment that is worth offering."""

from __future__ import annotations

import numpy as np

from cchybrid.model.schedule import reverse_steps
from cchybrid.problem import Assignment, Problem

from .setting import Draft


def assigned(problem: Problem, draft: Draft) -> Assignment:
    """Return the assignment of a draft; deliveries over paths that the pool lacks are left out."""
    steps = tuple(tuple(step) for step in draft if step)
    if problem.origin.instance.collective.kind == "combine":
        steps = reverse_steps(steps)
    return problem.match(steps)


def flaw(problem: Problem, assignment: Assignment) -> str | None:
    """Return what keeps an assignment from being a schedule, ``None`` if nothing does."""
    option, step = assignment.option, assignment.step
    happens = option >= 0
    if not happens[problem.required].all():
        missing = int((~happens[problem.required]).sum())
        return f"{missing} deliveries are missing or over a path that is not listed"
    chosen = option[happens]
    requires = problem.option_requires[chosen]
    follows = requires >= 0
    before = step[requires[follows]]
    if ((before < 0) | (before >= step[happens][follows])).any():
        return "somebody passes on what it does not have yet"
    path = problem.option_path[chosen].astype(np.int64)
    begin, size = problem.path_start[path], np.diff(problem.path_start)[path]
    ends = np.cumsum(size)
    place = np.arange(int(size.sum())) + np.repeat(begin - ends + size, size)
    cell = np.repeat(step[happens].astype(np.int64), size) * problem.resources
    cell, used = np.unique(cell + problem.path_resource[place], return_counts=True)
    if (used > problem.capacity[cell % problem.resources]).any():
        return "a resource is used beyond its capacity"
    return None
