"""The engine ``rounds``: schedules whose steps have several rounds, by CP-SAT.

In a step of r rounds every resource carries r times its capacity. The other engines count with one
capacity for all steps; this one builds the step model (``toolkit.cpsat.model``) with the capacity
of each step.

1. The fewest steps by counting, and the bounds of others, give the first number of steps.
2. For each open number of steps, the fewest first: does the step model have a solution? If not,
   and all options are listed, that is a bound; if it has, no open number of steps is left.
3. Undecided numbers of steps are tried again with four times the time and another seed.
"""

from dataclasses import dataclass

from cchybrid.plugin.engine import EngineBase, Run, Stop
from cchybrid.problem import Problem
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import Answer, cpu_limit, decide, decision_solver
from cchybrid.toolkit.cpsat.windows import NEVER, Windows, min_steps
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import UsageMatrix

FIRST_SECONDS = 2.0
"""Time for the first decision about a number of steps; chosen by hand."""
GROWTH = 4.0
"""Factor of the time from one trial of a number of steps to the next."""


class Rounds(EngineBase["Rounds.Options"]):
    """Exact search where steps have several rounds: CP-SAT finds schedules and refutes steps.

    Its bounds are claims of CP-SAT, without evidence.

    References
    ----------
    Z. Cai, Z. Liu, S. Maleki, M. Musuvathi, T. Mytkowicz, J. Nelson, O. Saarikivi, "Synthesizing
    optimal collective algorithms", PPoPP 2021 (steps and rounds). doi:10.1145/3437801.3441620
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        max_booleans
            Options times steps that a model may have; each takes about a kilobyte in the solver.
        """

        max_booleans: int = 2_000_000

        def __post_init__(self) -> None:
            require(self, max_booleans=1)

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse Problems of one round per step, and models that would not fit into memory."""
        if problem.rounds == (1,):
            return "every step has one round, which cpsat is made for"
        steps = min_steps(problem, UsageMatrix.of(problem))
        if steps >= NEVER:
            return "some required delivery has no option that keeps to the capacities"
        booleans = problem.options * steps
        if booleans > self.options.max_booleans:
            return f"{booleans:,} booleans for {steps} steps"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Decide numbers of steps, the fewest first, until none below the best is open."""
        return until_stopped(run, lambda: _Search(problem, run, self.options).run_all())


class _Search:
    """One run of the engine."""

    def __init__(self, problem: Problem, run: Run, options: Rounds.Options) -> None:
        self._problem = problem
        self._run = run
        self._options = options
        self._uses = UsageMatrix.of(problem)
        self._lower = max(1, run.lower())

    def run_all(self) -> Stop:
        self._refute(min_steps(self._problem, self._uses) - 1)
        limit, trial = FIRST_SECONDS, 0
        while not self._run.should_stop():
            fitting = [steps for steps in self._open() if self._fits(steps)]
            if not fitting:
                return Stop.STALLED if self._open() else Stop.EXHAUSTED
            for steps in fitting:
                if self._run.wants(steps):
                    self._decide(steps, limit, trial)
            limit, trial = limit * GROWTH, trial + 1
        return Stop.LIMIT

    def _open(self) -> list[int]:
        """Return the numbers of steps that are open, the fewest first."""
        lower, best = max(self._lower, self._run.lower()), self._run.best()
        above = self._problem.deliveries + 1 if best is None else best
        return [steps for steps in range(lower, above) if self._run.wants(steps)]

    def _fits(self, steps: int) -> bool:
        return self._problem.options * steps <= self._options.max_booleans

    def _refute(self, steps: int) -> None:
        """Record that no assignment has ``steps`` steps or fewer."""
        self._lower = max(self._lower, steps + 1)
        if self._problem.complete and self._lower > self._run.lower():
            self._run.bound(self._lower)

    def _decide(self, steps: int, limit: float, trial: int) -> None:
        run, problem = self._run, self._problem

        def make() -> StepModel:
            windows = Windows.of(problem, self._uses, steps, symmetry=len(problem.rounds) == 1)
            model = build(problem, self._uses, windows, lambda: not run.wants(steps))
            run.note(target=steps, booleans=len(model.model.proto.variables))
            return model

        solver = decision_solver(run.budget, run.seed + trial, limit)
        seconds = cpu_limit(run.budget, limit)
        answer = decide(make, solver, lambda: run.wants(steps), run.should_stop, seconds)
        self._take(answer, steps)
        run.spend(evaluations(answer.units))

    def _take(self, answer: Answer, steps: int) -> None:
        if answer.assignment is not None:
            self._run.offer(answer.assignment)
        elif answer.solvable is False and steps == self._lower:
            self._refute(steps)
