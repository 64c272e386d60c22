"""The engine ``matching``: messages are matched to links in every step; many random restarts."""

import numpy as np

from cchybrid.plugin.engine import EngineBase, NoOptions, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.assignments import without_idle
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.search_run import EvaluationBudget, watched
from cchybrid.toolkit.warmup_problem import warmup_problem

from .one_hop import OneHop
from .restarts import restart
from .routes import new_routes

PATIENCE = 100
"""Sweeps over the routes through the most loaded resources without a smaller load. Chosen by
hand."""
CHUNK = 500_000
"""Options of all schedules between two checks of the run; about a hundredth of a second."""


class Matching(EngineBase[NoOptions]):
    """Matching of messages to links, step by step, for messages that are forwarded.

    1. Every transfer is one hop, in wormhole networks too.
    2. In every step, every receiver lists the messages that it lacks and that a neighbour has since
       an earlier step. Their weights are random combinations of: neighbours of the receiver that
       lack the message (or, with optional deliveries, required ones whose shortest chain begins
       here), copies of the message in the network (subtracted), messages that the receiver lacks,
       and noise.
    3. In descending order of weight, messages are matched to incoming links by augmenting paths:
       a maximum-weight matching where acceptance ports have no limit, as the sets of messages that
       can arrive in one step are independent in a transversal matroid. Otherwise augmenting paths
       may replace messages, so that as many receivers as possible are served. With half-duplex
       links the matching is greedy, with such changes where they fit.
    4. Schedules are repeated with other weights and noise, with one step less than the best one.

    Messages of one destination each (scatters, permutations in store-and-forward switching) get
    routes first, instead of 2 and 3:

    1. Every route is the cheapest one, where the costs of channels and ports increase with the
       number of other routes that use them. All routes are chosen again several times, in random
       order. Then the routes through the most loaded resources are chosen again, and what is
       overloaded costs more from sweep to sweep, until the load is that of the lower bound or is
       not reduced for long.
    2. In every step, a maximum-weight matching of senders to receivers, with the capacities of
       ports, chooses among the next hops of all routes. The weight of a hop is the number of hops
       still to be made through its ports and channels, the hops left on its route, and noise.

    References
    ----------
    W. Won, M. Elavazhagan, S. Srinivasan, S. Gupta, T. Krishna, "TACOS: Topology-Aware Collective
    Algorithm Synthesizer for Distributed Machine Learning", MICRO 2024 (greedy matching of messages
    to links in every step). doi:10.1109/MICRO61859.2024.00068

    J. Edmonds, D. R. Fulkerson, "Transversals and matroid partition", Journal of Research of the
    National Bureau of Standards 69B, 1965. doi:10.6028/jres.069B.016

    L. McMurchie, C. Ebeling, "PathFinder: a negotiation-based performance-driven router for FPGAs",
    FPGA 1995 (prices of overloaded resources that increase for good).
    doi:10.1145/201310.201328

    F. T. Leighton, B. M. Maggs, S. B. Rao, "Packet routing and job-shop scheduling in
    O(congestion + dilation) steps", Combinatorica 14, 1994 (routes of low load, then their
    schedule). doi:10.1007/BF01215349
    """

    Options = NoOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        search = _Restarts(OneHop.of(warmup_problem()), 0)
        search.advance(1, 1, 1, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse problems without forwarding, or with deliveries beyond all chains of one hop."""
        if not problem.ordered:
            return "no message is forwarded"
        if (OneHop.of(problem).depth[problem.required] < 0).any():
            return "some delivery cannot be made by transfers of one hop"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Repeat schedules, each with one step less than the best, up to the lower bound."""
        one_hop = OneHop.of(problem)
        search = _Restarts(one_hop, run.seed)
        budget = EvaluationBudget(run)
        min_steps = int(one_hop.depth[problem.required].max(initial=0))
        while next(run.targets(), None) is not None:
            best = run.best()
            steps = problem.deliveries if best is None else best - 1
            if steps < min_steps:
                return Stop.STALLED
            found = _reach(steps, problem, search, budget, run)
            if found is not None:
                run.offer(found, one_hop.problem)
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED


def _reach(
    steps: int, problem: Problem, search: "_Restarts", budget: EvaluationBudget, run: Run
) -> Assignment | None:
    """Return a schedule of at most ``steps`` steps; ``None`` if it is of no use any more.

    Near-solutions are suggested to other engines.
    """
    useful = steps if run.target is None else min(steps, run.target)
    listed = search.one_hop.problem
    chunk = max(1, CHUNK // listed.options)
    search.reset()
    with watched(run, useful) as stop:
        while run.wants(useful):
            made, improved = search.advance(run.lower(), steps, budget.share(chunk, 1), stop)
            budget.spend(made)
            if search.missing == 0:
                return search.best()
            if improved:
                run.progress(steps, search.missing)
                draft = search.best()
                run.suggest(
                    draft if listed is problem else problem.match(listed.lift(draft, steps).steps)
                )
    return None


class _Restarts:
    """Schedules for one number of steps after another; keeps the one with the fewest unmade."""

    def __init__(self, one_hop: OneHop, seed: int) -> None:
        self.one_hop, self.state = one_hop, seed_state(seed)
        self.found = one_hop.problem.empty()
        self.routes = new_routes(one_hop.tables.flat)
        self._patience = 0
        self.reset()

    def reset(self) -> None:
        """Forget the best, for another number of steps."""
        self.missing = len(self.found.option) + 1

    def advance(self, target: int, steps: int, number: int, stop: BoolArray) -> tuple[int, bool]:
        """Make up to ``number`` schedules; return how many, and whether the best is a new one.

        The load of the routes is reduced to ``target`` if possible, but not in the first call, so
        that a first schedule is made soon.
        """
        one_hop, before, found = self.one_hop, self.missing, self.found
        made, self.missing = restart(
            one_hop.tables,
            self.routes,
            one_hop.has_routes,
            target,
            self._patience,
            steps,
            number,
            before,
            found.option,
            found.step,
            stop,
            self.state,
        )
        self._patience = PATIENCE
        return made, self.missing < before

    def best(self) -> Assignment:
        """Return the best schedule, in ``OneHop.problem``, without unneeded deliveries."""
        option = np.where(self.found.option < 0, -1, self.one_hop.option[self.found.option])
        return without_idle(self.one_hop.problem, option, self.found.step)
