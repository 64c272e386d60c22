"""Step control: the order in which an engine tries numbers of steps."""

from collections.abc import Callable

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.search_run import watched

Reach = Callable[[int], Assignment | None]
"""Search for a schedule of this number of steps; ``None`` if the search gave up or was ended."""

CONTROLS = ("descend", "raise")
"""Values of the option ``control`` of an engine."""


def control_steps(
    problem: Problem, run: Run, reach: Reach, control: str, probe: Reach | None = None
) -> Stop:
    """Search for decreasing or increasing numbers of steps; return why the search ended.

    Parameters
    ----------
    reach
        One attempt. An engine that uses ``run.hint`` starts from the best schedule without its
        last step.
    control
        ``descend``: offer a greedy schedule, then repeatedly search for one with a step less.
        ``raise``: start at the lower bound, and add a step whenever an attempt fails, as the papers
        did (thesis section 6.4); end with the first schedule.
    probe
        A short attempt. With it, bisection between the greedy schedule and the bound comes before
        the search that goes down a step at a time.
    """
    if control == "descend":
        return _descend(problem, run, reach, probe)
    return _raise(run, reach)


def _descend(problem: Problem, run: Run, reach: Reach, probe: Reach | None) -> Stop:
    known = run.best()
    if known is None:
        with watched(run) as stop:
            greedy = first_fit(problem, run.seed, stop)
        if greedy is None:
            return _end(run)
        run.offer(greedy)
        known = greedy.steps
    if probe is not None:
        known = _halve(run, probe, known)
    for target in run.targets():
        # A target far below the best (a weak bound, the user's target) is approached stepwise.
        for steps in range(max(known - 1, target), target - 1, -1):
            while run.wants(steps):
                found = reach(steps)
                if found is not None:
                    run.offer(found)
                    break
        known = min(known, target)
    return _end(run)


def _halve(run: Run, probe: Reach, known: int) -> int:
    """Find the fewest steps that short attempts reach, by bisection; return them."""
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
