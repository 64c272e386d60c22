"""Step control: in which order an engine that searches for a fixed number of steps tries them."""

from __future__ import annotations

from collections.abc import Callable

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.search_run import watched

Reach = Callable[[int], Assignment | None]
"""Search for a schedule of so many steps; ``None`` if the search gave up or was ended."""

CONTROLS = ("descend", "raise")
"""What the option ``control`` of an engine may be."""


def check_control(control: str) -> None:
    """Refuse what is no way to control the steps."""
    if control not in CONTROLS:
        raise ValueError(f"control is {control!r}, use {' or '.join(CONTROLS)}")


def control_steps(
    problem: Problem, run: Run, reach: Reach, control: str, probe: Reach | None = None
) -> Stop:
    """Search for fewer and fewer steps, or for more and more.

    Parameters
    ----------
    reach
        One attempt; an engine that makes use of ``run.hint`` starts from the best schedule
        without its last step.
    control
        ``descend``: offer a greedy schedule, then search for one with a step less, again and
        again. ``raise``: begin at the lower bound, and add a step whenever an attempt fails, as
        the papers did (thesis section 6.4). It ends with the first schedule.
    probe
        A short attempt: with it the gap between the greedy schedule and the bound is halved
        before the search goes on a step at a time.
    """
    if control == "descend":
        return _descend(problem, run, reach, probe)
    return _raise(run, reach)


def _descend(problem: Problem, run: Run, reach: Reach, probe: Reach | None) -> Stop:
    known = run.best()
    if known is None:
        # While the least that is possible is wanted, the run goes on.
        with watched(run, run.lower()) as stop:
            greedy = first_fit(problem, run.seed, stop)
        if greedy is None:
            return _end(run)
        run.offer(greedy)
        known = greedy.steps
    if probe is not None:
        known = _halve(run, probe, known)
    for target in run.targets():
        # A target far below what is known (a weak bound, a user's wish) is approached.
        for steps in range(max(known - 1, target), target - 1, -1):
            while run.wants(steps):
                found = reach(steps)
                if found is not None:
                    run.offer(found)
                    break
        known = min(known, target)
    return _end(run)


def _halve(run: Run, probe: Reach, known: int) -> int:
    """Search for the fewest steps that are reached easily, by bisection; return them."""
    failed = run.lower() - 1
    while known - failed > 1:
        middle = (known + failed) // 2
        found = probe(middle) if run.wants(middle) else None
        if found is None:
            failed = middle
        else:
            run.offer(found)
            known = found.steps
    return known


def _raise(run: Run, reach: Reach) -> Stop:
    for target in run.targets():
        found = reach(target) if run.wants(target) else None
        if found is not None:
            run.offer(found)
    return _end(run)


def _end(run: Run) -> Stop:
    if run.should_stop():
        return Stop.LIMIT
    best = run.best()
    return Stop.EXHAUSTED if best is not None and best <= run.lower() else Stop.STALLED
