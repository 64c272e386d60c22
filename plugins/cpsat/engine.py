"""The engine ``cpsat``: one CP-SAT decision per number of steps; finds schedules and refutes.

1. Lower bounds by counting and by dual prices (``toolkit.dual_prices``).
2. Greedy schedules give the first upper bound.
3. Decide the fewest open number of steps first, as the lower bound is usually tight; then bisect
   up to the best known schedule, so that every answer, yes or no, closes part of the gap.
4. For each number of steps: first a model of short options only, then the whole step model
   (``toolkit.cpsat.model``), or a flow model where not all paths are listed or messages wait at
   nodes (``flows.py``).
5. Undecided numbers of steps are tried again in the next round with more time and other seeds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem, needed
from cchybrid.toolkit.cpsat.automorphisms import Link, chain
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import Answer, Model, decide, decision_solver
from cchybrid.toolkit.cpsat.windows import NEVER, Windows, min_steps
from cchybrid.toolkit.dual_prices import Pricing, Tight
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import EVALUATIONS_PER_UNIT, evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import UsageMatrix
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .flows import Demands, FlowModel

MAX_DRAWN_DELIVERIES = 50_000
"""Deliveries of all greedy schedules together; a guard: making them takes less than a second."""

MAX_SHORT_SHARE = 0.7
"""Share of short options up to which a model of these alone is tried first; with more of them it is
hardly smaller than the whole model."""

SHORT_TIME, SHORT_TIME_BEFORE_FLOWS = 0.7, 0.4
"""Share of the time of a number of steps for the model of short options; the smaller one where a
flow model follows, which needs more time. Chosen by hand: the values are not critical."""


class CpSat:
    """Exact search: CP-SAT finds schedules and refutes numbers of steps.

    Its bounds are claims of CP-SAT, without evidence.

    References
    ----------
    G. B. Dantzig, D. R. Fulkerson, S. M. Johnson, "Solution of a large-scale traveling-salesman
    problem", Journal of the Operations Research Society of America 2, 1954 (reduced cost fixing).
    doi:10.1287/opre.2.4.393

    L. Liberti, J. Ostrowski, "Stabilizer-based symmetry breaking constraints for mathematical
    programs", Journal of Global Optimization 60, 2014. doi:10.1007/s10898-013-0106-6
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        symmetry
            Break the symmetry of interchangeable steps (scatter-like collectives).
        network_symmetry
            Break the symmetry of the network: of the receivers in one orbit, a chosen one is
            informed first (broadcast-like collectives).
        hints
            Start from schedules and near-solutions of other engines.
        draws
            Greedy schedules made first; on small instances one of them is often optimal.
        max_booleans
            Options times steps that a model may have; each takes about a kilobyte in the solver.
        max_flows
            Variables that a flow model may have.
        log
            Print CP-SAT's own log.
        """

        symmetry: bool = True
        network_symmetry: bool = True
        hints: bool = True
        draws: int = 32
        max_booleans: int = 2_000_000
        max_flows: int = 500_000
        log: bool = False

        def __post_init__(self) -> None:
            require(self, draws=1, max_booleans=1, max_flows=0)

    def __init__(self, options: Options) -> None:
        self.options = options

    def prepare(self) -> None:
        """Compile the kernels of greedy schedules."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse models that would not fit into memory."""
        uses = UsageMatrix.of(problem)
        steps = min_steps(problem, uses)
        demands = _demands(problem)
        options = self.options
        if demands is not None and demands.columns * steps <= options.max_flows:
            return None
        if steps >= NEVER:
            return "some required delivery has no option that keeps to the capacities"
        if any(
            int(matrix.usable.sum()) * steps <= options.max_booleans
            for matrix in (uses, uses.shortened(problem, steps))
        ):
            return None
        booleans = problem.options * steps
        return f"{booleans:,} booleans for {steps} steps, more than {options.max_booleans:,}"

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Decide numbers of steps until none between bound and best is open."""
        return until_stopped(run, lambda: _Search(problem, run, self.options).run_all())


class _Search:
    """One run of the engine."""

    def __init__(self, problem: Problem, run: Run, options: CpSat.Options) -> None:
        self.problem = problem
        self.run = run
        self.options = options
        self.uses = UsageMatrix.of(problem)
        self.demands = _demands(problem)
        """The demands of the flow model, where it is used."""
        self.chain: list[Link] | None = None
        """Symmetry-breaking comparisons; ``None`` before they are computed."""
        self.lower_bound = 1
        """Lower bound for assignments of this Problem; for all schedules, if there are demands."""
        self.offered: int | None = None
        """Steps of the best offer of this engine, which the host may not have verified yet."""
        self.given_up = 0
        """The last number of steps that this round left undecided."""
        self.rounds = 0
        self.active = False
        """Whether any model was solved in this round."""
        self.stalled = False
        """Whether all remaining models are too large."""
        self.too_short: set[int] = set()
        """Numbers of steps for which short options are refuted."""
        self.spent = 0
        self.started = time.monotonic()

    @cached_property
    def pricing(self) -> Pricing:
        """The dual prices of the Problem."""
        return Pricing(self.problem, self.uses, self.run.should_stop)

    def run_all(self) -> Stop:
        if self.demands is not None:
            self._refute(self.demands.min_steps - 1)
        if self.demands is None or self.problem.complete:
            self._refute(min_steps(self.problem, self.uses) - 1)
        if self.demands is None:
            self._refute(self.pricing.min_steps - 1)
        if self.run.best() is None:
            self._offer_first()
        if self.demands is None and self._target() is not None:
            self.pricing.sharpen()
            self._refute(self.pricing.min_steps - 1)
        while not self.run.should_stop():
            # The run may have no target although fewer steps are open.
            target = None if next(self.run.targets(), None) is None else self._target()
            if target is None:
                return Stop.STALLED if self.stalled else Stop.EXHAUSTED
            self._decide(target)
        return Stop.LIMIT

    def _offer_first(self) -> None:
        """Make greedy schedules until one meets the bound, and offer the best."""
        # The kernels are loaded only where they are used.
        from cchybrid.toolkit.kernels.first_fit import FirstFit
        from cchybrid.toolkit.kernels.rng import seed_state

        scheduler, state = FirstFit(self.problem), seed_state(self.run.seed)
        draws = min(MAX_DRAWN_DELIVERIES // max(1, self.problem.deliveries), self.options.draws)
        found: Assignment | None = None
        for _ in range(max(1, draws)):
            drawn = scheduler.draw(state)
            if drawn is None:
                break
            self.spent += 1
            if found is None or drawn.steps < found.steps:
                found = drawn
            if found.steps <= self._open()[0] or self.run.should_stop():
                break
        if found is not None:
            self._offer(found, self.problem)
        self.run.spend(self.spent)

    def _offer(self, assignment: Assignment, problem: Problem) -> None:
        steps = len(np.unique(assignment.step[needed(problem, assignment)]))
        self.offered = steps if self.offered is None else min(steps, self.offered)
        if problem is self.problem:
            self.run.offer(assignment)
        else:
            self.run.offer(assignment, problem)

    def _refute(self, steps: int) -> None:
        """Record that no assignment has ``steps`` steps or fewer; claim an improved bound."""
        self.lower_bound = max(self.lower_bound, steps + 1)
        if self.lower_bound > self.run.lower():
            if self.problem.complete:
                self.run.bound(self.lower_bound)
            elif self.demands is not None:
                self.run.bound(self.lower_bound, instance=True)

    def _spend(self, evaluations: int) -> None:
        self.spent += evaluations
        self.run.spend(evaluations)

    def _open(self) -> tuple[int, int | None]:
        """Return the fewest and the most open steps; ``None`` where there is no upper limit."""
        low = max(self.lower_bound, self.run.lower())
        best = min((s for s in (self.run.best(), self.offered) if s is not None), default=None)
        upper = None if best is None else best - 1
        target = self.run.target
        if target is not None:
            low, upper = (target, target) if low <= target else (low, low - 1)
            if best is not None and best <= target:
                upper = low - 1
        return low, upper

    def _target(self) -> int | None:
        """Return the steps to try next, ``None`` if none are open.

        A round starts at the fewest; after every undecided number it goes half the way up to the
        best known, or doubles the distance if no schedule is known.
        """
        low, upper = self._open()
        if upper is not None and low > upper:
            return None
        if upper is not None and self.given_up >= upper:
            if not self.active:
                self.stalled = True
                return None
            self.given_up = 0
            self.rounds += 1
            self.active = False
        if self.given_up < low:
            return low
        if upper is None:
            return 2 * self.given_up - low + 1
        return (self.given_up + upper + 1) // 2

    def _limit(self) -> float:
        """Return the limit for a target: a share of the budget, all of it if no other is open.

        Seconds, or units of deterministic time under an evaluation budget, where nothing may depend
        on the clock.
        """
        low, upper = self._open()
        choices = 3 if upper is None else min(upper - low + 1, 3)
        if self.rounds == 0:  # some is left for a second round, with hints
            choices = max(choices, 2)
        budget = self.run.budget
        if budget.evaluations is not None:
            left = (budget.evaluations - self.spent) / EVALUATIONS_PER_UNIT
        elif budget.seconds is not None:
            left = budget.seconds - (time.monotonic() - self.started)
        else:
            left = 40.0 * 2**self.rounds
        return max(left / choices, min(left, 1.0), 1e-3)

    def _decide(self, target: int) -> None:
        """Decide whether there is an assignment of ``target`` steps, of short options first."""
        for stage in self._stages(target):
            self.active = True
            answer = self._ask(target, stage, self._limit() * stage.share)
            if answer.assignment is not None and answer.problem is not None:
                self._offer(answer.assignment, answer.problem)
            elif answer.solvable is False and stage.final:
                self._refute(target)
            elif answer.solvable is False:
                self.too_short.add(target)
            # Report before counting evaluations, which may end the run.
            self._spend(evaluations(answer.units))
            if answer.assignment is not None or not self.run.wants(target):
                return
        self.given_up = target

    def _stages(self, target: int) -> Iterator[_Stage]:
        """Yield the models to try.

        First short options only, if these are much fewer, then all options. Where short options
        suffice, their model is solved very fast. Where the pool may lack necessary paths, or
        messages wait at nodes, the flow model decides.
        """
        demands = self.demands
        if demands is None or not demands.hop_by_hop:
            whole = self.pricing.tight(target)
            short = whole.uses.shortened(self.problem, target)
            fewer = short.usable.sum() < MAX_SHORT_SHARE * whole.uses.usable.sum()
            tried = target in self.too_short
            if (fewer or demands is not None) and not tried and self._fits(short, target):
                yield _Stage(
                    Tight(short, whole.full),
                    share=SHORT_TIME if demands is None else SHORT_TIME_BEFORE_FLOWS,
                )
            if demands is None and self._fits(whole.uses, target):
                yield _Stage(whole, final=True)
        if demands is not None and demands.columns * target <= self.options.max_flows:
            yield _Stage(None, final=True)

    def _fits(self, uses: UsageMatrix, steps: int) -> bool:
        return int(uses.usable.sum()) * steps <= self.options.max_booleans

    def _ask(self, target: int, stage: _Stage, limit: float) -> Answer:
        run, options, tight = self.run, self.options, stage.tight
        full = tight is not None and bool(tight.full.any())

        def unwanted() -> bool:
            return not run.wants(target)

        def make_steps(tight: Tight) -> StepModel:
            windows = Windows.of(
                self.problem, tight.uses, target, symmetry=options.symmetry, certain=full
            )
            if self.chain is None:
                self.chain = chain(self.problem, unwanted) if options.network_symmetry else []
            model = build(self.problem, tight.uses, windows, unwanted, tight.full, self.chain)
            if hint is not None:
                model.hint(hint, run.seed + self.rounds)
            return model

        def make() -> Model:
            model: Model
            if tight is not None:
                model = make_steps(tight)
            else:
                assert self.demands is not None
                model = FlowModel(self.demands, target, unwanted, symmetry=options.symmetry)
            run.note(target=target, booleans=model.booleans)
            return model

        # Incomplete hints double the time of easy models and help only with hard ones.
        hint = run.hint(target, complete=self.rounds == 0) if options.hints else None
        solver = decision_solver(
            run.budget, run.seed + self.rounds, limit, log=options.log, tight=full
        )
        answer = decide(make, solver, lambda: run.wants(target), run.should_stop)
        run.note(
            target=target,
            booleans=answer.booleans,
            branches=answer.solution.branches,
            conflicts=answer.solution.conflicts,
        )
        return answer


@dataclass(frozen=True, eq=False)
class _Stage:
    """One of the models that decide a number of steps.

    Parameters
    ----------
    tight
        Its options; ``None`` for the flow model.
    final
        Whether a refutation by it holds for all options.
    share
        Its share of the time of this number of steps.
    """

    tight: Tight | None
    final: bool = False
    share: float = 1.0


def _demands(problem: Problem) -> Demands | None:
    """Return the demands of the flow model where it is better than the step model, else ``None``.

    Where messages wait at nodes, it need not distinguish them; where not all paths are listed, it
    contains all of them. Elsewhere the step model is smaller, and prices exclude most options.
    """
    structure = problem.structure
    waiting = structure is not None and structure.hop_by_hop
    return Demands.of(problem) if waiting or not problem.complete else None
