"""One decision by CP-SAT: whether a number of steps and a total number of rounds suffice."""

from dataclasses import replace
from itertools import islice

from cchybrid.host.engine_worker import WorkerRun
from cchybrid.plugin.engine import EngineBase, NoOptions, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.symmetry.quotient import quotients
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import decide, decision_solver
from cchybrid.toolkit.cpsat.windows import Windows, min_steps
from cchybrid.toolkit.solver import StoppedError
from cchybrid.toolkit.usage_matrix import UsageMatrix

MAX_BOOLEANS = 2_000_000
"""Options times steps that a model may have; each takes about a kilobyte in the solver."""
MIN_DIVIDED = 20_000
"""Options times steps from which on quotients are tried."""
MAX_QUOTIENTS = 4
"""Quotients that are tried for a number of rounds."""


class FewestRounds(EngineBase[NoOptions]):
    """The engine for the fewest rounds: one decision after another, up to the first schedule."""

    Options = NoOptions

    def solve(self, problem: Problem, run: WorkerRun) -> Stop:
        """Try each number of rounds; each of several gets half of the time left.

        Of that, quotients by symmetries, where only invariant schedules are sought, get a half.
        """
        steps, totals = run.settings["steps"], run.settings["totals"]
        for total in totals:
            few = min(steps, total)
            end = run.left() * (0 if len(totals) == 1 else 0.5)
            # As wide as a step can be: what does not fit there fits nowhere.
            wide = replace(problem, rounds=(total - few + 1,))
            large = problem.options * few >= MIN_DIVIDED
            smaller = quotients(wide, run.seed, few, run.should_stop) if large else iter(())
            tried = [*islice(smaller, MAX_QUOTIENTS), wide]
            for number, each in enumerate(tried, 1):
                if run.should_stop():
                    return Stop.LIMIT
                share = 1 if each is wide else 2 * (len(tried) - number)
                seconds = max(0.0, run.left() - end) / share
                try:
                    found = decide_rounds(each, few, total, run, seconds)
                except StoppedError:
                    return Stop.LIMIT
                if found is not None:
                    assignment, rounds = found
                    run.offer_schedule(each.lift(assignment, few), "", rounds)
                    return Stop.EXHAUSTED
        return Stop.STALLED


def decide_rounds(
    problem: Problem, steps: int, total: int, run: Run, seconds: float
) -> tuple[Assignment, tuple[int, ...]] | None:
    """Return an assignment of ``steps`` steps and ``total`` rounds in all, and the rounds of each.

    ``None`` if none was found, or if the model would be too large.

    Parameters
    ----------
    problem
        The Problem of as many rounds per step as one can have; the rounds of the steps are chosen,
        at least 1 each.
    seconds
        Limit of CPU time for each thread.

    Raises
    ------
    StoppedError
        If ``run.should_stop`` becomes true.
    """
    uses = UsageMatrix.of(problem)
    if min_steps(problem, uses) > steps or problem.options * steps > MAX_BOOLEANS:
        return None
    made: list[StepModel] = []

    def make() -> StepModel:
        windows = Windows.of(problem, uses, steps, symmetry=False)
        made.append(build(problem, uses, windows, run.should_stop, total_rounds=total))
        return made[-1]

    solver = decision_solver(run.budget, run.seed, seconds)
    answer = decide(make, solver, lambda: True, run.should_stop, seconds)
    if answer.assignment is None or answer.solution.values is None:
        return None
    return answer.assignment, made[-1].rounds(answer.solution.values)
