"""The engine: divide the transfers into teams, one per step, each using every bottleneck.

The papers state three premises: transmitters and receivers are disjoint, every node has one port,
and routes are laid down. With the ports as resources beside the channels, the first two are not
needed, as long as no resource that is contended for takes more than one transfer per step. Where
there are several routes, one is laid down for each delivery; then the search finds schedules, and
refutes nothing.
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

from .routes import laid_down, lay_down
from .traffic import Traffic

FIRST_UNITS, MAX_UNITS = 0.5, 8.0
"""CP-SAT's deterministic time to lay routes down: in the first round, twice as much in each
later one, and never more. By hand: about seconds, so that a first schedule comes soon."""

CATEGORIES_PER_EVALUATION = 32
"""Categories that count as one evaluation; they take some hundredths of a second at most."""

MAX_REMEMBERED = 200_000
"""Sets of transfers that are known to need more steps; a guard of memory: each is a number of one
bit per transfer, below a kilobyte."""


class Liquid:
    """Finds schedules of given routes, and refutes numbers of steps for them."""

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        rounds
            Rounds after which the engine gives up; each looks at twice as many categories.
        categories
            Categories that the first attempt at a number of steps may look at.
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
        """Have the kernels of greedy schedules compiled."""
        compile_first_fit()

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse what waits for others, and what shares resources within a step."""
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
        """Try numbers of steps upwards from the bound, with ever more patience."""
        return until_stopped(run, lambda: _Search(problem, run, self.options).run_all())


class _Search:
    """One run of the engine."""

    def __init__(self, problem: Problem, run: Run, options: Liquid.Options) -> None:
        self.problem = problem
        self.run = run
        self.options = options
        self.packing = Packing.of(problem)
        self.exact = laid_down(self.packing)
        self.random = np.random.default_rng(run.seed)
        self.refuted = 0
        """No schedule over these routes has so many steps; kept where they are the only ones."""

    def run_all(self) -> Stop:
        if self.run.best() is None:
            self.run.offer(first_fit(self.problem, self.run.seed))
            self._spend(1)
        prices = LoadProgram(self.packing, self.run.should_stop).row_prices()
        min_steps = 1 if prices is None else prices.min_steps()
        for number in range(self.options.rounds):
            seed = int(self.random.integers(2**31))
            limit = min(FIRST_UNITS * 2.0**number, MAX_UNITS)
            columns, units = lay_down(
                self.packing, min_steps, limit, seed, self.run.should_stop, hint=number % 2 == 1
            )
            if units:
                self._spend(evaluations(units))
            # Another order is another search: what is equal is tried in the order of the bits.
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
        """Note that fewer steps are impossible over these routes, if there are no others."""
        if not self.exact:
            return
        self.refuted = max(self.refuted, min_steps - 1)
        if self.problem.complete and min_steps > self.run.lower():
            self.run.bound(min_steps)

    def _attempt(self, traffic: Traffic, steps: int, limit: int) -> None:
        """Look for classes for so many steps; offer them, or claim that there are none."""
        hopeless: set[tuple[int, int]] = set()
        rests, teams = [traffic.everything], [0]
        searches = [traffic.teams(traffic.everything, steps)]
        looked = 0
        while searches:
            looked += 1
            if looked % CATEGORIES_PER_EVALUATION == 0:
                self._spend(1)
                self.run.note(target=steps, left=rests[-1].bit_count())
            if looked > limit or not self.run.wants(steps):
                return
            team = next(searches[-1], None)
            if team is None:
                searches.pop()
                teams.pop()
                if len(hopeless) < MAX_REMEMBERED:
                    hopeless.add((rests[-1], len(searches)))
                rests.pop()
                continue
            if not team:
                continue
            rest = rests[-1] & ~team
            if not rest:
                classes = [traffic.columns(made) for made in (*teams[1:], team)]
                self.run.offer(self.packing.assignment(classes))
                return
            if (rest, len(searches)) in hopeless:
                continue
            rests.append(rest)
            teams.append(team)
            searches.append(traffic.teams(rest, steps - len(searches)))
        self._claim(steps + 1)

    def _spend(self, count: int) -> None:
        self.run.spend(count)
        check(self.run.should_stop)
