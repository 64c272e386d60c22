"""The engine ``packing``: scatters step by step, each step filled by local search."""

from __future__ import annotations

import math

import numpy as np

from cchybrid.plugin.engine import NoOptions, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.grow import list_transfers
from cchybrid.problem.ragged import offsets
from cchybrid.problem.transfers import Transfers
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.search_run import watched
from cchybrid.toolkit.warmup_problem import warmup_problem

from .filling import fill_steps, list_users, new_filling
from .routes import choose_routes, new_routing, reduce_load, route_hops, route_nodes

FIRST_EXPONENT, LAST_EXPONENT = 8.0, 1500.0
"""Exponents of the prices between which the routes of all deliveries are chosen."""
COOLING = 1.5
"""Factor between two exponents in the first schedule; every doubling takes its square root."""
EXPONENTS = np.array([256.0, 1024.0])
"""Exponents with which the routes of waiting deliveries are chosen anew."""
MOVES, WAITING_MOVES = 4, 1
"""Routes per delivery that are tried to reduce the largest load by one: in the first schedule, and
per waiting delivery after every part."""
FIRST_PARTS, PARTS = 2, 12
"""Part of the remaining steps that is filled before routes are chosen anew, as a divisor: in the
first schedule, which is to come soon, and in later ones."""
EFFORT = 4.0
"""Exchanges per resource and step in the first schedule."""
DOUBLINGS = 4
"""Schedules after the first one in each of which ``MOVES`` and ``EFFORT`` are doubled."""


class Packing:
    """Fill one step after another with routes that share no channel.

    1. Every delivery gets a route: the cheapest one of those that the instance allows, up to one
       hop longer than the shortest, where the costs of channels and ports increase with the number
       of other routes that use them. All routes are chosen again several times, in random order.
    2. A step is filled by simulated annealing. A move inserts a waiting delivery that uses a random
       free channel, and removes the deliveries in its way from the step. Channels count more the
       more waiting routes use them: a channel that is used by as many as the most loaded one has
       to be full in every step.
    3. After a part of the steps, the routes of the waiting deliveries are chosen anew; in the first
       schedule, seldom.
    4. Schedules are repeated with more moves per step, as long as they can be better than the best.

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

    def __init__(self, options: NoOptions) -> None:
        self.options = options

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        search = _Schedules(warmup_problem(), 0)
        stop = np.zeros(1, dtype=np.bool_)
        search.start(1, stop)
        search.fill(stop)
        search.found()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse problems with forwarding, and quotients."""
        if problem.ordered:
            return "messages are forwarded"
        return (
            None if problem.structure is not None else "quotients and routing tables fix the paths"
        )

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Repeat schedules with more and more moves, up to the lower bound."""
        search = _Schedules(problem, run.seed)
        while next(run.targets(), None) is not None:
            if _is_better(search, run):
                run.offer(*search.found())
            run.spend(1)
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED


def _is_better(search: _Schedules, run: Run) -> bool:
    """Make one schedule; return whether it is complete and better than the best."""
    with watched(run) as stop:
        search.start(run.lower(), stop)
        while len(search.waiting):
            if stop[0] or not _is_useful(search.steps + search.fewest_left(), run):
                return False
            search.fill(stop)
            run.note(steps=search.steps, left=len(search.waiting))
    return _is_useful(search.steps, run)


def _is_useful(steps: int, run: Run) -> bool:
    """Return whether a schedule of at least ``steps`` steps can be of use.

    Unlike ``run.wants``, also below the lower bound: it may have risen above the load of the
    routes, and a schedule that refutes a wrong bound is of use.
    """
    best = run.best()
    return (best is None or steps < best) and (run.target is None or steps <= run.target)


class _Schedules:
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
        self._made = 0
        self._effort = EFFORT
        self._parts = FIRST_PARTS
        self.waiting: IntArray
        self.steps: int

    def start(self, lower: int, stop: BoolArray) -> None:
        """Choose routes for a new schedule, with a largest load of ``lower`` if possible."""
        self._step[:] = -1
        self.steps = 0
        self.waiting = np.arange(len(self._step), dtype=np.int32)
        more = 2 ** min(self._made, DOUBLINGS)
        self._parts = PARTS if self._made else FIRST_PARTS
        self._made += 1
        self._effort = EFFORT * more
        coolings = math.log(LAST_EXPONENT / FIRST_EXPONENT, COOLING)
        exponents = np.geomspace(FIRST_EXPONENT, LAST_EXPONENT, 1 + math.ceil(more * coolings))
        choose_routes(self._routing, self.waiting, exponents, stop, self._state)
        self._reduce(lower, MOVES * more, stop)

    def _reduce(self, lower: int, moves: int, stop: BoolArray) -> None:
        """Reduce the largest load by one again and again, down to ``lower`` or until that fails.

        Each time takes ``moves`` routes per waiting delivery at most.
        """
        while self.fewest_left() > lower:
            before = [part.copy() for part in self._routes]
            target, trials = self.fewest_left() - 1, moves * len(self.waiting)
            if not reduce_load(self._routing, self.waiting, target, trials, stop, self._state):
                for part, kept in zip(self._routes, before, strict=True):
                    part[:] = kept
                return

    def fewest_left(self) -> int:
        """Return the fewest steps in which the waiting deliveries fit, with their routes."""
        used = self._routes.load > 0
        return int(np.ceil(self._routes.load[used] / self._scatter.capacity[used]).max(initial=0))

    def fill(self, stop: BoolArray) -> None:
        """Fill a part of the remaining steps, then choose the waiting routes anew."""
        list_users(self._filling, self.waiting)
        left = self.fewest_left()
        number = 1 + left // self._parts
        made = fill_steps(self._filling, self.steps, number, self._effort, stop, self._state)
        self.steps += made
        self.waiting = self.waiting[self._step[self.waiting] < 0]
        choose_routes(self._routing, self.waiting, EXPONENTS, stop, self._state)
        self._reduce(left - made, WAITING_MOVES, stop)

    def found(self) -> tuple[Assignment, Problem]:
        """Return the assignment of a complete schedule, and the Problem of its options."""
        start = offsets(route_hops(self._scatter, self._routes) + 1)
        node = np.empty(int(start[-1]), dtype=np.int32)
        route_nodes(self._scatter, self._routes, start, node)
        message = self._structure.delivery_message[self._problem.required]
        made = Transfers(
            message.astype(np.int64), self._step.astype(np.int64), node.astype(np.int64), start
        )
        listed, found = list_transfers(self._problem, made)
        return found, listed
