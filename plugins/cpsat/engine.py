"""The exact engine: CP-SAT decides, for one number of steps after the other, whether it suffices.

The lower bound is usually tight and is tried first; from there the search halves its way to the
best known schedule, so that every answer, yes or no, closes part of the gap.
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
from cchybrid.toolkit.cpsat.solve import Answer, Model, ask, decision_solver
from cchybrid.toolkit.cpsat.windows import NEVER, Windows, least_steps
from cchybrid.toolkit.dual_prices import Pricing, Tight
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import EVALUATIONS_PER_UNIT, evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import UsageMatrix
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .flows import Demands, FlowModel

MAX_DRAWN_DELIVERIES = 50_000
"""Deliveries of all greedy schedules together; a guard: drawing them takes below a second."""

MAX_SHORT_SHARE = 0.7
"""Part of the options that short ones may be for a model of them alone to be tried first: with
more of them it is hardly smaller than the whole model."""

SHORT_TIME, SHORT_TIME_BEFORE_FLOWS = 0.7, 0.4
"""Part of the time for a number of steps that the model of short options may take, and where a
model of flows follows, which needs more of it. By hand: nothing depends on them closely."""


class CpSat:
    """Finds schedules and refutes step counts; what it refutes is CP-SAT's claim."""

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        symmetry
            Tell interchangeable steps apart before the search (scatter-like collectives).
        network_symmetry
            Of receivers that the network's symmetries put in each other's place, only ask for
            schedules in which a chosen one is informed first (broadcast-like collectives).
        hints
            Start from what others have found.
        draws
            Greedy schedules drawn first; on small instances one of them is often optimal.
        max_booleans
            Options times steps that a model may have; each takes about a kilobyte in the solver.
        max_flows
            Variables that a model of flows may have.
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
        """Have the kernels of greedy schedules compiled."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse models that would not fit into memory."""
        uses = UsageMatrix.of(problem)
        steps = least_steps(problem, uses)
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
        """Decide step counts until none between bound and best is open."""
        return until_stopped(run, lambda: _Search(problem, run, self.options).run_all())


class _Search:
    """One run of the engine: what it knows, and what it tries next."""

    def __init__(self, problem: Problem, run: Run, options: CpSat.Options) -> None:
        self.problem = problem
        self.run = run
        self.options = options
        self.uses = UsageMatrix.of(problem)
        self.demands = _demands(problem)
        """What the flow model is made of, where it is used."""
        self.chain: list[Link] | None = None
        """What the network's symmetries say about the order, once it has been looked for."""
        self.least = 1
        """No assignment of this Problem has fewer steps; no schedule, if there are demands."""
        self.offered: int | None = None
        """Steps of the best own offer, which the host may not have verified yet."""
        self.vain = 0
        """The last number of steps that this round gave up on."""
        self.rounds = 0
        self.busy = False
        """Whether anything was asked in this round."""
        self.stalled = False
        """Whether all that is left to ask does not fit into memory."""
        self.too_short: set[int] = set()
        """Steps for which short options are refuted."""
        self.spent = 0
        self.started = time.monotonic()

    @cached_property
    def pricing(self) -> Pricing:
        """The dual prices of the Problem."""
        return Pricing(self.problem, self.uses, self.run.should_stop)

    def run_all(self) -> Stop:
        if self.demands is not None:
            self._refute(self.demands.least_steps - 1)
        if self.demands is None or self.problem.complete:
            self._refute(least_steps(self.problem, self.uses) - 1)
        if self.demands is None:
            self._refute(self.pricing.least_steps - 1)
        if self.run.best() is None:
            self._offer_first()
        if self.demands is None and self._target() is not None:
            self.pricing.sharpen()
            self._refute(self.pricing.least_steps - 1)
        while not self.run.should_stop():
            # Nothing may be asked for any more although fewer steps are open.
            target = None if next(self.run.targets(), None) is None else self._target()
            if target is None:
                return Stop.STALLED if self.stalled else Stop.EXHAUSTED
            self._decide(target)
        return Stop.LIMIT

    def _offer_first(self) -> None:
        """Draw greedy schedules until one meets the bound, and offer the best."""
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
        """Note that no assignment has so many steps or fewer, and claim it if that means more."""
        self.least = max(self.least, steps + 1)
        if self.least > self.run.lower():
            if self.problem.complete:
                self.run.bound(self.least)
            elif self.demands is not None:
                self.run.bound(self.least, instance=True)

    def _spend(self, evaluations: int) -> None:
        self.spent += evaluations
        self.run.spend(evaluations)

    def _open(self) -> tuple[int, int | None]:
        """Return the fewest steps that are open, and the most unless any number is."""
        low = max(self.least, self.run.lower())
        best = min((s for s in (self.run.best(), self.offered) if s is not None), default=None)
        most = None if best is None else best - 1
        asked = self.run.target
        if asked is not None:
            low, most = (asked, asked) if low <= asked else (low, low - 1)
            if best is not None and best <= asked:
                most = low - 1
        return low, most

    def _target(self) -> int | None:
        """Return the steps to try next, ``None`` if none are open.

        A round begins at the fewest; after every number that it gives up on it goes half the way
        to the best known, and while nothing is known twice as far.
        """
        low, most = self._open()
        if most is not None and low > most:
            return None
        if most is not None and self.vain >= most:
            if not self.busy:
                self.stalled = True
                return None
            self.vain = 0
            self.rounds += 1
            self.busy = False
        if self.vain < low:
            return low
        if most is None:
            return 2 * self.vain - low + 1
        return (self.vain + most + 1) // 2

    def _limit(self) -> float:
        """Return what to spend on a target: a slice, or all that is left if no other is open.

        Seconds, or units of deterministic time if evaluations are what is limited: then nothing
        may depend on the clock.
        """
        low, most = self._open()
        choices = 3 if most is None else min(most - low + 1, 3)
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
        """Ask whether there is an assignment of so many steps, of short options first."""
        for stage in self._stages(target):
            self.busy = True
            answer = self._ask(target, stage, self._limit() * stage.share)
            if answer.assignment is not None and answer.problem is not None:
                self._offer(answer.assignment, answer.problem)
            elif answer.solvable is False and stage.final:
                self._refute(target)
            elif answer.solvable is False:
                self.too_short.add(target)
            # Everything is reported before it is paid for: spending may end the run.
            self._spend(evaluations(answer.units))
            if answer.assignment is not None or not self.run.wants(target):
                return
        self.vain = target

    def _stages(self, target: int) -> Iterator[_Stage]:
        """Yield the models to try.

        First the options that are short if that leaves many out, then all. Where every delivery
        fits over short paths, a model of these is solved in no time. Where the pool may lack what
        it takes, or messages wait on their way, flows decide.
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

        hint = run.hint(target) if options.hints else None
        # A schedule cut short doubles the time of what is easy, and helps only with what is hard.
        whole = hint is not None and (hint.option[self.problem.required] >= 0).all()
        if self.rounds == 0 and not whole:
            hint = None
        solver = decision_solver(
            run.budget, run.seed + self.rounds, limit, log=options.log, tight=full
        )
        answer = ask(make, solver, lambda: run.wants(target), run.should_stop)
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
        The options that it has; ``None`` for the model of flows.
    final
        Whether what it refutes is refuted for good.
    share
        The part of the time for this number of steps that it may take.
    """

    tight: Tight | None
    final: bool = False
    share: float = 1.0


def _demands(problem: Problem) -> Demands | None:
    """Return what the model of flows takes, where it is better than the one of paths.

    Where messages wait on their way, it need not tell them apart; where not all paths are listed,
    it has them all. Elsewhere paths are the smaller choice, and prices rule out most of them.
    """
    structure = problem.structure
    waiting = structure is not None and structure.hop_by_hop
    return Demands.of(problem) if waiting or not problem.complete else None
