"""The engine ``liquid``: divide the transfers into teams, one per step, using all bottlenecks.

A schedule of S steps is *liquid* if S equals the load of the most loaded resources, the
bottlenecks: then every step uses every bottleneck.

1. Routes: if deliveries have several routes, fix one for each, with the smallest maximal load
   (``routes.py``).
2. For a number of steps, from the load upwards: a depth-first search picks a team (a maximal set of
   transfers without congestion that uses every resource with as many remaining users as there are
   steps left) for one step, then teams for the remaining transfers and steps (``traffic.py``).
3. Sets of transfers that need more than the remaining steps are remembered, so that they are not
   searched again.
4. Every round fixes other routes (if there are several), changes the order of the transfers, and
   doubles the limit of the search.

The papers assume disjoint transmitters and receivers, one port per node, and fixed routes. With
ports as resources beside the channels, the first two are not needed, as long as no contended
resource takes more than one transfer per step. Where routes had to be chosen, the search finds
schedules but refutes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Problem
from cchybrid.toolkit.dual_prices import LoadProgram
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.options import require
from cchybrid.toolkit.packing import Packing, refusal
from cchybrid.toolkit.solver import check, evaluations, until_stopped
from cchybrid.toolkit.warmup_problem import compile_first_fit

from .routes import choose_routes, has_fixed_routes
from .traffic import Traffic

FIRST_UNITS, MAX_UNITS = 0.5, 8.0
"""CP-SAT's deterministic time to choose routes, about seconds: in the first round, doubled in each
later one, up to the maximum. Chosen by hand, so that a first schedule is found soon."""

CATEGORIES_PER_EVALUATION = 32
"""Categories that count as one evaluation; they take at most some hundredths of a second."""

MAX_REMEMBERED = 200_000
"""Sets of transfers known to need more steps that are remembered; a guard for memory: each is an
integer of one bit per transfer, below a kilobyte."""


class Liquid:
    """Liquid schedules: every step uses every bottleneck; exact for fixed routes.

    References
    ----------
    E. Gabrielyan, R. D. Hersch, "Efficient liquid schedule search strategies for collective
    communications", IEEE International Conference on Networks (ICON), 2004.

    J. Jaroš, "Evolutionary Design of Collective Communications on Wormhole Networks", Brno
    University of Technology, 2010, section 4.2.2.
    """

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        rounds
            Rounds after which the engine gives up; each examines twice as many categories.
        categories
            Categories that the first attempt at a number of steps may examine.
        max_transfers
            Transfers that a Problem may have: each is compared with all others.
        max_columns
            Options that a Problem may have; each takes about a kilobyte in CP-SAT.
        """

        rounds: int = 30
        categories: int = 3_000
        max_transfers: int = 5_000
        max_columns: int = 100_000

        def __post_init__(self) -> None:
            require(self, rounds=1, categories=1, max_transfers=1, max_columns=1)

    def __init__(self, options: Options) -> None:
        self.options = options

    def prepare(self) -> None:
        """Compile the kernels of greedy schedules."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse Problems with precedence, or with contended resources of capacity above 1."""
        reason = refusal(problem)
        if reason is not None:
            return reason
        if problem.options > self.options.max_columns:
            return f"{problem.options:,} options, more than {self.options.max_columns:,}"
        packing = Packing.of(problem)
        if (packing.capacity > 1).any():
            return "some channel or port takes several transfers per step, not one"
        if packing.rows > self.options.max_transfers:
            return f"{packing.rows:,} transfers, more than {self.options.max_transfers:,}"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Try numbers of steps upwards from the bound, with growing limits."""
        return until_stopped(run, lambda: _Search(problem, run, self.options).run_all())


class _Search:
    """One run of the engine."""

    def __init__(self, problem: Problem, run: Run, options: Liquid.Options) -> None:
        self.problem = problem
        self.run = run
        self.options = options
        self.packing = Packing.of(problem)
        self.exact = has_fixed_routes(self.packing)
        self.random = np.random.default_rng(run.seed)
        self.refuted = 0
        """Number of steps refuted for fixed routes; 0 where routes were chosen."""

    def run_all(self) -> Stop:
        if self.run.best() is None:
            self.run.offer(first_fit(self.problem, self.run.seed))
            self._spend(1)
        prices = LoadProgram(self.packing, self.run.should_stop).row_prices()
        min_steps = 1 if prices is None else prices.min_steps()
        for number in range(self.options.rounds):
            seed = int(self.random.integers(2**31))
            limit = min(FIRST_UNITS * 2.0**number, MAX_UNITS)
            columns, units = choose_routes(
                self.packing, min_steps, limit, seed, self.run.should_stop, hint=number % 2 == 1
            )
            if units:
                self._spend(evaluations(units))
            # Ties are broken by the order of the transfers, so a new order is another search.
            traffic = Traffic.of(self.packing, self.random.permutation(columns))
            self._claim(traffic.load(traffic.everything))
            for steps in self._open(traffic):
                self._attempt(traffic, steps, self.options.categories << number)
            if next(self.run.targets(), None) is None:
                return Stop.LIMIT if self.run.should_stop() else Stop.EXHAUSTED
        return Stop.STALLED

    def _open(self, traffic: Traffic) -> Iterator[int]:
        """Yield the numbers of steps that are worth trying for these routes, upwards."""
        steps = traffic.load(traffic.everything)
        while True:
            steps = max(steps, self.run.lower(), self.refuted + 1)
            if not self.run.wants(steps):
                return
            yield steps
            steps += 1

    def _claim(self, min_steps: int) -> None:
        """Record that fewer steps are impossible, if the routes are the only ones."""
        if not self.exact:
            return
        self.refuted = max(self.refuted, min_steps - 1)
        if self.problem.complete and min_steps > self.run.lower():
            self.run.bound(min_steps)

    def _attempt(self, traffic: Traffic, steps: int, limit: int) -> None:
        """Search for teams for ``steps`` steps; offer a schedule, or claim that there is none."""
        refuted_sets: set[tuple[int, int]] = set()
        rests, teams = [traffic.everything], [0]
        searches = [traffic.teams(traffic.everything, steps)]
        examined = 0
        while searches:
            examined += 1
            if examined % CATEGORIES_PER_EVALUATION == 0:
                self._spend(1)
                self.run.note(target=steps, left=rests[-1].bit_count())
            if examined > limit or not self.run.wants(steps):
                return
            team = next(searches[-1], None)
            if team is None:
                searches.pop()
                teams.pop()
                if len(refuted_sets) < MAX_REMEMBERED:
                    refuted_sets.add((rests[-1], len(searches)))
                rests.pop()
                continue
            if not team:
                continue
            rest = rests[-1] & ~team
            if not rest:
                classes = [traffic.columns(made) for made in (*teams[1:], team)]
                self.run.offer(self.packing.assignment(classes))
                return
            if (rest, len(searches)) in refuted_sets:
                continue
            rests.append(rest)
            teams.append(team)
            searches.append(traffic.teams(rest, steps - len(searches)))
        self._claim(steps + 1)

    def _spend(self, count: int) -> None:
        self.run.spend(count)
        check(self.run.should_stop)
