"""The engine ``cpsat``: one CP-SAT decision per number of steps; finds schedules and refutes.

1. Lower bounds by counting and by dual prices (``toolkit.dual_prices``).
2. Greedy schedules give the first upper bound.
3. Decide the fewest open number of steps first, as the lower bound is usually tight; then bisect
   up to the best known schedule, so that every answer, yes or no, closes part of the gap.
4. Where messages are forwarded, a model of short options only is tried for a while, for the fewest
   open steps and before any linear program: by complete search on networks whose channels must be
   full in every step, by local search on others. Then one step less than the best schedule is
   tried by repair (``repair.py``).
5. For each number of steps: first a model of short options only, by local search where messages are
   forwarded and by complete search, then the whole step model (``toolkit.cpsat.model``), or a flow
   model where not all paths are listed or messages wait at nodes (``flows.py``).
6. Undecided numbers of steps are tried again in the next round with more time and other seeds. A
   better schedule or a new near-solution of another engine ends a decision, as its repair comes
   first, unless channels must be full in every step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Assignment, Problem, needed
from cchybrid.toolkit.cpsat.automorphisms import Link, chain
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import (
    Answer,
    Model,
    cpu_limit,
    decide,
    decision_solver,
    local_search_solver,
)
from cchybrid.toolkit.cpsat.windows import NEVER, Windows, min_steps
from cchybrid.toolkit.dual_prices import Pricing, Tight
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import evaluations, until_stopped
from cchybrid.toolkit.usage_matrix import UsageMatrix
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .flows import Demands, FlowModel
from .repair import Repairs
from .targets import Targets
from .ticks import TickSearch

MAX_DRAWN_DELIVERIES = 50_000
"""Deliveries of all greedy schedules together; a guard: making them takes less than a second."""

MAX_SHORT_SHARE = 0.7
"""Share of short options up to which a model of these alone is tried first; with more of them it is
hardly smaller than the whole model."""

FIRST_TRIAL, FIRST_TRIAL_IF_FULL = 0.33, 0.5
"""Share of the time for the model of short options before the repairs; the larger one where some
channels must be full in every step, as such models are nearly always solved. Chosen by hand."""

MAX_TRIAL = 50_000
"""Booleans of such a model up to which news does not end it. Chosen by hand."""

MIN_LOCAL = 10_000
"""Booleans of a model from which on local search is used; complete search soon decides smaller
ones. Chosen by hand."""

LOCAL_TIME, SHORT_TIME, SHORT_TIME_BEFORE_FLOWS = 0.3, 0.7, 0.4
"""Share of the time of a number of steps for local search, and for complete search, with short
options; the last one where a flow model follows, which needs more time. Chosen by hand."""


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
            Print CP-SAT's own log. In ticks no other option has an effect.
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
        """Compile the kernels of greedy schedules; they are loaded only where they are used."""
        compile_first_fit(type(self))

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse models that would not fit into memory."""
        options, uses = self.options, UsageMatrix.of(problem)
        steps = min_steps(problem, uses)
        if problem.horizon == "ticks" or _flows_fit(problem, options.max_flows // max(1, steps)):
            return None
        if steps >= NEVER:
            return "some required delivery has no option that keeps to the capacities"
        if any(
            int(matrix.usable.sum()) * steps <= options.max_booleans
            for matrix in (uses, uses.shortened(problem, steps))
        ):
            return None
        return f"{problem.options * steps:,} booleans, more than {options.max_booleans:,}"

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Decide numbers of steps until none between bound and best is open."""
        if problem.horizon == "ticks":
            return until_stopped(run, TickSearch(problem, run, self.options.log).run_all)
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
        self.chain: list[Link] | None = [] if problem.periodic else None
        """Symmetry-breaking comparisons; ``None`` before they are computed."""
        self.targets = Targets(run, problem.periodic)
        self.too_short: set[int] = set()
        """Numbers of steps for which short options are refuted."""
        self._repaired: int | None = None
        """Steps of the best schedule at the last repairs, -1 if there is a new near-solution."""
        self.repairs = Repairs(
            problem, self.uses, run, self.targets, self._fits, lambda a: self._offer(a, problem)
        )

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
        self._repaired = self.run.best()
        trials = self._first_trials()
        next(trials, None)
        self._repair()
        next(trials, None)
        if self.demands is None and self.targets.next() is not None:
            self.pricing.sharpen()
            self._refute(self.pricing.min_steps - 1)
        while not self.run.should_stop():
            # The run may have no target although fewer steps are open.
            target = None if next(self.run.targets(), None) is None else self.targets.next()
            if target is None:
                return Stop.STALLED if self.targets.stalled else Stop.EXHAUSTED
            self._decide(target)
            self._repair()
        return Stop.LIMIT

    def _first_trials(self) -> Iterator[None]:
        """Try the fewest open steps with short options and without hints, for a short time.

        Before the repairs where channels must be full or the best schedule is far from these
        steps, after them elsewhere. Where local search fails, it bisects up to the best schedule.
        """
        target = self.targets.next()
        if not self.problem.ordered or self.demands is not None or target is None:
            return
        full, best = bool(self.pricing.known(target).full.any()), self.run.best()
        if not full and best is not None and best - target <= 1:
            yield
        share = FIRST_TRIAL_IF_FULL if full else FIRST_TRIAL
        while self.run.wants(target):
            known = self.pricing.known(target)
            tight = Tight(known.uses.shortened(self.problem, target), known.full)
            if not self._fits(tight.uses, target):
                return
            stage = _Stage(tight, hinted=False, local=self._is_for_local_search(tight, target))
            answer = self._ask(target, stage, share * self.targets.left())
            self._record(target, stage, answer)
            best = self.run.best()
            if not stage.local or best is None or best - target <= 1:
                return
            target = (target + best) // 2

    @property
    def _repairs(self) -> bool:
        return self.options.hints and not self.problem.periodic and self.repairs.are_useful

    def _repair(self) -> None:
        if self._repairs:
            self.repairs.run_all()
        self._repaired = self.run.best()

    def _offer_first(self) -> None:
        """Make greedy schedules until one meets the bound, and offer the best."""
        # The kernels are loaded only where they are used.
        from cchybrid.toolkit.kernels.first_fit import FirstFit
        from cchybrid.toolkit.kernels.rng import seed_state

        scheduler, state = FirstFit(self.problem), seed_state(self.run.seed)
        draws = min(MAX_DRAWN_DELIVERIES // max(1, self.problem.deliveries), self.options.draws)
        found: Assignment | None = None
        drawings = 0
        for _ in range(max(1, draws)):
            drawn = scheduler.draw(state)
            if drawn is None:
                break
            drawings += 1
            if found is None or drawn.steps < found.steps:
                found = drawn
            if found.steps <= self.targets.open()[0] or self.run.should_stop():
                break
        if found is not None:
            self._offer(found, self.problem)
        self.targets.spend(drawings)

    def _offer(self, assignment: Assignment, problem: Problem) -> None:
        used = assignment.step[needed(problem, assignment)]
        self.targets.offer(assignment.steps if problem.periodic else len(np.unique(used)))
        if problem is self.problem:
            self.run.offer(assignment)
        else:
            self.run.offer(assignment, problem)

    def _refute(self, steps: int) -> None:
        """Record that no assignment has ``steps`` steps or fewer; claim an improved bound."""
        lower = self.targets.refute(steps)
        if lower > self.run.lower():
            if self.problem.complete:
                self.run.bound(lower)
            elif self.demands is not None:
                self.run.bound(lower, instance=True)

    def _decide(self, target: int) -> None:
        """Decide whether there is an assignment of ``target`` steps, of short options first."""
        for stage in self._stages(target):
            self.targets.active = True
            answer = self._ask(target, stage, self.targets.limit() * stage.share)
            self._record(target, stage, answer)
            if answer.assignment is not None or not self._is_useful(target, stage):
                return
        self.targets.give_up(target)

    def _is_for_local_search(self, tight: Tight, steps: int) -> bool:
        """Return whether to use local search: where resources must be full it finds nothing."""
        large = int(tight.uses.usable.sum()) * steps >= MIN_LOCAL
        return large and self.problem.ordered and not tight.full.any()

    def _is_useful(self, target: int, stage: "_Stage") -> bool:
        """Return whether to go on with a decision, before what others have found is repaired."""
        if not self.run.wants(target):
            return False
        if not self._repairs or (stage.tight is not None and stage.tight.full.any()):
            return True
        best = self.run.best()
        if not stage.hinted and best is not None and best - 1 > target and stage.is_small(target):
            return True  # a short trial, and repairs would be for more steps
        if best is not None and self.repairs.has_news(best - 1):
            self._repaired = -1
        return best == self._repaired

    def _record(self, target: int, stage: "_Stage", answer: Answer) -> None:
        """Offer the schedule of an answer or record its refutation, and count its effort."""
        if answer.assignment is not None and answer.problem is not None:
            self._offer(answer.assignment, answer.problem)
        elif answer.solvable is False and stage.final and self.targets.refutes_fewer(target):
            self._refute(target)
        elif answer.solvable is False:
            self.too_short.add(target)
        # Report before counting evaluations, which may end the run.
        self.targets.spend(evaluations(answer.units))

    def _stages(self, target: int) -> "Iterator[_Stage]":
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
            tight = Tight(short, whole.full)
            if target not in self.too_short and self._fits(short, target):
                if self._is_for_local_search(tight, target):
                    yield _Stage(tight, share=LOCAL_TIME, hinted=False, local=True)
                if fewer or demands is not None:
                    share = SHORT_TIME if demands is None else SHORT_TIME_BEFORE_FLOWS
                    yield _Stage(tight, share=share)
            if demands is None and self._fits(whole.uses, target):
                yield _Stage(whole, final=True)
        if demands is not None and demands.columns * target <= self.options.max_flows:
            yield _Stage(None, final=True)

    def _fits(self, uses: UsageMatrix, steps: int) -> bool:
        return int(uses.usable.sum()) * steps <= self.options.max_booleans

    def _ask(self, target: int, stage: "_Stage", limit: float) -> Answer:
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
                model.hint(hint, run.seed + self.targets.rounds)
            return model

        def make() -> Model:
            model: Model
            if tight is not None:
                model = make_steps(tight)
            else:
                assert self.demands is not None
                model = FlowModel(self.demands, target, unwanted, symmetry=options.symmetry)
            run.note(target=target, booleans=len(model.model.proto.variables))
            return model

        # Incomplete hints double the time of easy models and help only with hard ones.
        hint = None
        if options.hints and stage.hinted:
            hint = run.hint(target, complete=self.targets.rounds == 0)
        seed = run.seed + self.targets.rounds
        if stage.local:
            solver = local_search_solver(run.budget, seed, limit, log=options.log)
        else:
            solver = decision_solver(run.budget, seed, limit, log=options.log, tight=full)
        seconds = cpu_limit(run.budget, limit)
        answer = decide(
            make, solver, lambda: self._is_useful(target, stage), run.should_stop, seconds
        )
        if answer.assignment is not None:
            run.started_from(answer.assignment if hint is None else hint)
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
    hinted
        Whether the search starts from a schedule or near-solution of another engine.
    local
        Whether only local search is used, which refutes nothing.
    """

    tight: Tight | None
    final: bool = False
    share: float = 1.0
    hinted: bool = True
    local: bool = False

    def is_small(self, steps: int) -> bool:
        """Return whether a trial is decided in some seconds, if at all."""
        return self.tight is not None and self.tight.uses.usable.sum() * steps <= MAX_TRIAL


def _flows_fit(problem: Problem, max_columns: int) -> bool:
    """Return whether the flow model is used, with at most ``max_columns`` variables per step."""
    structure = problem.structure
    if structure is None:
        return False
    # A channel to each of its destinations for every source: counted before the demands are
    # listed, which takes seconds and hundreds of MiB for a quarter of a million messages.
    made = np.flatnonzero(problem.required)
    source = structure.message_source[structure.delivery_message[made]].astype(np.int64)
    pairs = np.unique(source * structure.network.nodes + structure.delivery_node[made])
    if len(pairs) > max_columns:
        return False
    demands = _demands(problem)
    return demands is not None and demands.columns <= max_columns


def _demands(problem: Problem) -> Demands | None:
    """Return the demands of the flow model where it is better than the step model, else ``None``.

    Where messages wait at nodes, it need not distinguish them; where not all paths are listed, it
    contains all of them. Elsewhere the step model is smaller, and prices exclude most options.
    """
    structure = problem.structure
    helps = not problem.complete or (structure is not None and structure.hop_by_hop)
    return Demands.of(problem) if helps and not problem.periodic else None
