"""The engine ``packing``: scatters step by step, each step filled by local search."""

import math
from time import monotonic
from typing import NamedTuple

import numpy as np

from cchybrid.plugin.engine import EngineBase, NoOptions, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.grow import list_transfers
from cchybrid.problem.ragged import offsets
from cchybrid.problem.transfers import Transfers
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.search_run import watched
from cchybrid.toolkit.solver import check, until_stopped
from cchybrid.toolkit.warmup_problem import warmup_problem

from .filling import fill_steps
from .path_exchanges import fill_by_paths
from .prices import improve_duals, new_duals
from .routes import (
    Routes,
    choose_routes,
    count_load,
    new_routing,
    reduce_load,
    route_hops,
    route_nodes,
)
from .step_filling import list_users, new_filling

EXPONENTS = np.geomspace(8.0, 1500.0, 14)
"""Exponents of the prices with which the routes of all deliveries are chosen, one after another."""
LAST_STEPS = 6
"""Steps that are scheduled at once, by CP-SAT."""
MAX_SWEEPS = 1000
"""Sweeps of the search for dual prices in all."""


class Effort(NamedTuple):
    """The amount of search for one schedule.

    Parameters
    ----------
    sweeps
        Sweeps of the search for dual prices, until routes have been found whose largest load is the
        lower bound.
    moves, waiting_moves
        Routes per delivery that are tried to reduce the largest load by one: of all deliveries, and
        of the waiting ones after a part.
    parts
        Part of the remaining steps that is filled before routes are chosen anew, as a divisor.
    exchanges, heat
        Exchanges per resource and step, and the temperature at the beginning of a step.
    late
        Largest factor on exchanges of the last steps, for which fewer deliveries are left.
    trials
        Trials of a part, each with twice the exchanges, until it does not need more steps.
    """

    sweeps: int
    moves: float
    waiting_moves: float
    parts: int
    exchanges: float
    heat: float
    late: float
    trials: int


FIRST = Effort(
    sweeps=0, moves=4, waiting_moves=1, parts=2, exchanges=4.0, heat=0.3, late=1.0, trials=1
)
"""Of the first schedule, which is to come soon."""
LATER = Effort(
    sweeps=200, moves=100, waiting_moves=10, parts=24, exchanges=64.0, heat=0.3, late=1.0, trials=5
)
"""Of all others."""
MANY = 100_000
"""Deliveries above which a schedule takes ten seconds or more."""
MANY_EFFORT = Effort(
    sweeps=0, moves=0.25, waiting_moves=0.1, parts=24, exchanges=16.0, heat=0.6, late=4.0, trials=1
)
"""Of more than ``MANY`` deliveries, with as many exchanges as time allows. Chosen by hand."""
FIRST_PACE, MIN_PACE, MAX_PACE = 0.25, 0.1, 4.0
"""Factors on the exchanges for many deliveries: of the first schedule, and the limits."""
MANY_WAITING, INSERTED, BY_PATHS = 300_000, 1.0, 0.4
"""Waiting deliveries above which steps are filled by paths, as lists of them fit no cache; the
random deliveries per resource and step that are inserted where they fit; searches of paths per
exchange."""
TIME_SHARE = 0.85
"""Share of the time after which a schedule of many deliveries is to be complete, as reading and
verifying it takes long."""
SOON = 1 / 3
"""Share of the time left that the first schedule may take; where it needs more, it may take all."""


class Packing(EngineBase[NoOptions]):
    """Fill one step after another with routes that share no channel.

    1. Every delivery gets a route: the cheapest one of those that the instance allows, up to one
       hop longer than the shortest, where the costs of channels and ports increase with the number
       of other routes that use them. All routes are chosen again several times, in random order.
       Then the largest load is reduced as far as possible. After the first schedule, which is to
       come soon, approximate dual prices of the smallest largest load are added to all costs.
    2. A step is filled by simulated annealing. A move inserts a waiting delivery that uses a random
       free channel, and removes the deliveries in its way from the step. Channels count more the
       more waiting routes use them: a channel that is used by as many as the most loaded one has
       to be full in every step. While very many deliveries wait, a move may give the inserted one
       another shortest path.
    3. After a part of the steps, routes of waiting deliveries are chosen anew until their largest
       load is as many as the steps that are left; if that fails, the part is filled again with
       more exchanges.
    4. Schedules are repeated as long as they can be better than the best.

    References
    ----------
    E. Gabrielyan, R. D. Hersch, "Efficient liquid schedule search strategies for collective
    communications", IEEE International Conference on Networks (ICON), 2004 (every step uses every
    bottleneck).

    N. Pippenger, J. Spencer, "Asymptotic behavior of the chromatic index for hypergraphs", Journal
    of Combinatorial Theory A 51, 1989 (steps that are filled one after another at random are nearly
    as few as the largest load). doi:10.1016/0097-3165(89)90074-5
    """

    Options = NoOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        search = Schedules(warmup_problem(), 0)
        stop = np.zeros(1, dtype=np.bool_)
        for _ in range(2):
            search.start(1, stop)
        search.fill(stop)
        search.found()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse problems with forwarding, and quotients."""
        if problem.ordered:
            return "messages are forwarded"
        if problem.structure is None:
            return "quotients and routing tables fix the paths"
        shares = problem.structure.network.groups and not problem.structure.hop_by_hop
        return "a path may use a group of channels twice" if shares else None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Repeat schedules, up to the lower bound."""
        return until_stopped(run, lambda: _solve(problem, run))


def _solve(problem: Problem, run: Run) -> Stop:
    """Offer better and better schedules."""
    search = Schedules(problem, run.seed)
    seconds = run.budget.seconds if run.budget.evaluations is None else None
    end = math.inf if seconds is None else monotonic() + TIME_SHARE * seconds
    while next(run.targets(), None) is not None:
        found = _better(search, run, end)
        if found is not None:
            run.offer(*found)
        search.spend(run, 1)
    return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED


def _better(search: "Schedules", run: Run, end: float) -> tuple[Assignment, Problem] | None:
    """Make one schedule, by ``end`` if possible; return it if it is better than the best."""
    with watched(run) as stop:
        search.start(run.lower(), stop)
        while len(search.waiting):
            steps = search.steps + search.fewest_left()
            if stop[0] or not _is_useful(steps, run):
                return None
            if search.is_near_end():
                found = search.complete(run)
                if found is not None:
                    return found
            begun = monotonic()
            search.fill(stop)
            search.set_pace(monotonic() - begun, end - monotonic())
            run.note(steps=search.steps, left=len(search.waiting))
        # Watched, as a run that is not called for seconds loses its time slice.
        return search.found() if _is_useful(search.steps, run) else None


def _is_useful(steps: int, run: Run) -> bool:
    """Return whether a schedule of at least ``steps`` steps can be of use.

    Unlike ``run.wants``, also below the lower bound: it may have risen above the load of the
    routes, and a schedule that refutes a wrong bound is of use.
    """
    best = run.best()
    return (best is None or steps < best) and (run.target is None or steps <= run.target)


class Schedules:
    """One schedule after another for the required deliveries of a Problem."""

    def __init__(self, problem: Problem, seed: int) -> None:
        structure = problem.structure
        assert structure is not None
        self._problem, self._structure = problem, structure
        self._state = seed_state(seed)
        self._routing = new_routing(problem, structure)
        self._scatter, self._routes, _ = self._routing
        self._filling = new_filling(self._scatter, self._routes)
        self._step = self._filling.step
        self._made = self._spent = 0
        self._effort = FIRST
        self._pace = 1.0
        self._duals = new_duals(self._scatter)
        self._is_lowest = False
        self.waiting: IntArray
        self.steps: int

    def start(self, lower: int, stop: BoolArray) -> None:
        """Choose routes for a new schedule, with a largest load of ``lower`` if possible."""
        self._step[:] = -1
        self.steps = 0
        self.waiting = np.arange(len(self._step), dtype=np.int32)
        many = len(self.waiting) > MANY
        self._effort = MANY_EFFORT if many else LATER if self._made else FIRST
        self._pace = FIRST_PACE if many and not self._made else 1.0
        if self._made and not self._is_lowest and self._duals.sweeps[0] < MAX_SWEEPS:
            sweeps = self._effort.sweeps
            improve_duals(self._routing, self.waiting, self._duals, sweeps, stop)
        self._made += 1
        exponents = EXPONENTS[::4] if many and self._made == 1 else EXPONENTS
        choose_routes(self._routing, self.waiting, exponents, stop, self._state)
        if many:
            self.waiting.sort()  # for the cache
        self._reduce(lower, self._effort.moves, stop)
        self._is_lowest = self._made > 1 and self.fewest_left() <= lower

    def _reduce(self, lower: int, moves: float, stop: BoolArray) -> None:
        """Reduce the largest load by one again and again, down to ``lower`` or until that fails.

        Each time takes ``moves`` routes per waiting delivery at most.
        """
        while self.fewest_left() > lower:
            # Half the time of a part goes into copies of many routes; a failure does little harm.
            before = None if self._effort is MANY_EFFORT else _copied(self._routes)
            target, trials = self.fewest_left() - 1, int(moves * len(self.waiting))
            if not reduce_load(self._routing, self.waiting, target, trials, stop, self._state):
                if before is not None:
                    _restore(self._routes, before)
                return

    def fewest_left(self) -> int:
        """Return the fewest steps in which the waiting deliveries fit, with their routes."""
        used = self._routes.load > 0
        return int(np.ceil(self._routes.load[used] / self._scatter.capacity[used]).max(initial=0))

    def fill(self, stop: BoolArray) -> None:
        """Fill a part of the remaining steps, then choose routes of waiting deliveries anew.

        If the steps increase by that, the part is filled again with twice as many exchanges.
        """
        left = self.fewest_left()
        effort = self._effort
        number = 1 + left // effort.parts
        waiting, steps = self.waiting, self._step.copy()
        routes = _copied(self._routes) if effort.trials > 1 else self._routes
        for trial in range(effort.trials):
            if trial:
                self.waiting, self._step[:] = waiting, steps
                _restore(self._routes, routes)
            factor = 2**trial * min(effort.late, (self.steps + left) / max(1, left))
            exchanges, limits = effort.exchanges * factor * self._pace, (stop, self._state)
            if len(self.waiting) > MANY_WAITING:
                paths = (INSERTED, BY_PATHS * exchanges)
                made = fill_by_paths(
                    self._filling, self.waiting, self.steps, number, paths, *limits
                )
            else:
                list_users(self._filling, self.waiting)
                by_routes = (exchanges, effort.heat)
                made = fill_steps(self._filling, self.steps, number, by_routes, *limits)
            self.waiting = self.waiting[self._step[self.waiting] < 0]
            count_load(self._routes, self.waiting)
            self._reduce(left - made, effort.waiting_moves, stop)
            if self.fewest_left() <= left - made or stop[0]:
                break
        self.steps += made

    def set_pace(self, seconds: float, left: float) -> None:
        """Choose the exchanges for many deliveries so that the rest is filled in time.

        The first schedule is to come soon; only one that cannot takes all the time.

        Parameters
        ----------
        seconds, left
            Seconds of the last part, and until the schedule is to be complete.
        """
        waiting, effort = self.fewest_left(), self._effort
        if effort is not MANY_EFFORT:
            return
        share = effort.late * waiting / max(1, self.steps + waiting)
        # Parts take the same time as long as the effort per step increases.
        parts = effort.parts * (1 + math.log(share) if share > 1 else share)
        needed = max(parts * seconds, 1e-9)
        if self._made > 1 or needed > SOON * left:
            self._pace = min(MAX_PACE, max(MIN_PACE, self._pace * left / needed))

    def spend(self, run: Run, evaluations: int) -> None:
        """Count evaluations against the budget."""
        self._spent += evaluations
        run.spend(evaluations)

    def is_near_end(self) -> bool:
        """Return whether few enough steps are left to be scheduled at once; never at first."""
        return self._made > 1 and self.steps > 0 and self.fewest_left() <= LAST_STEPS

    def complete(self, run: Run) -> tuple[Assignment, Problem] | None:
        """Schedule the waiting deliveries in the fewest steps left; return the whole schedule.

        Raises
        ------
        StoppedError
            If the run is over.
        """
        # CP-SAT takes half a second to load.
        from .last_steps import schedule_last

        found, listed = self.found()
        free = np.flatnonzero(listed.required)[self.waiting]
        left, seed = self.fewest_left(), run.seed + self._made
        budget = run.budget.evaluations
        last, spent = schedule_last(
            listed,
            free,
            left,
            run,
            lambda: _is_useful(self.steps + left, run),
            seed,
            None if budget is None else budget - self._spent,
        )
        self.spend(run, spent)
        if last is None:
            # Whether the budget is spent must not depend on when a thread notices.
            check(run.should_stop)
            return None
        found.option[free], found.step[free] = last.option[free], self.steps + last.step[free]
        return found, listed

    def found(self) -> tuple[Assignment, Problem]:
        """Return the assignment, and the Problem of its options; waiting deliveries come last."""
        start = offsets(route_hops(self._scatter, self._routes) + 1)
        node = np.empty(int(start[-1]), dtype=np.int32)
        route_nodes(self._scatter, self._routes, start, node)
        message = self._structure.delivery_message[self._problem.required]
        step = np.where(self._step < 0, self.steps, self._step)
        made = Transfers(
            message.astype(np.int64), step.astype(np.int64), node.astype(np.int64), start
        )
        listed, found = list_transfers(self._problem, made)
        return found, listed


def _copied(routes: Routes) -> Routes:
    """Return a copy of the routes."""
    return Routes(*(part.copy() for part in routes))


def _restore(routes: Routes, kept: Routes) -> None:
    """Overwrite the routes with a copy from before."""
    for part, old in zip(routes, kept, strict=True):
        part[:] = old
