"""The engine: asks CP-SAT for a schedule of the fewest steps that are open, near nodes first.

Every number of steps is tried with the last step reaching one hop, two, and so on, each step
before it one hop farther than the next, and the first one anywhere; what is not answered in its
time gets twice as much in the next round, where more is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Problem
from cchybrid.toolkit.cpsat.solve import ask, small_solver
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import evaluations, until_stopped

from .flows import Senders, SpreadModel

MAX_HOPS = 2_000_000
"""Senders times channels; a guard: to look through more takes more than a second."""


class Broadcast:
    """Finds schedules of broadcasts over shortest paths; it never claims a bound."""

    @dataclass(frozen=True)
    class Options:
        """What users may set.

        Parameters
        ----------
        reach
            The most hops of a transfer in the last step, each step before it reaching one hop
            farther; 0 tries one after the other.
        reaches
            Reaches that are tried in the first round; one more in each further one.
        units
            Deterministic time of a question in the first round, about seconds; it doubles.
        max_messages
            Messages of an instance; where more spread, they are in each other's way all the time,
            and reach says little.
        max_variables
            Variables that a model may have.
        log
            Print CP-SAT's own log.
        """

        reach: int = 0
        reaches: int = 3
        units: float = 3.0
        max_messages: int = 4
        max_variables: int = 400_000
        log: bool = False

        def __post_init__(self) -> None:
            require(self, reach=0, reaches=1, units=0.001, max_messages=1, max_variables=1)

    def __init__(self, options: Options) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse what is no broadcast in wormhole switching, and what is too large."""
        structure = problem.structure
        if structure is None:
            return "a quotient has no network of its own"
        if structure.hop_by_hop:
            return "not wormhole switching"
        if not problem.ordered:
            return "every message has one destination: nothing is passed on"
        messages = len(structure.messages)
        options = self.options
        if messages > options.max_messages:
            return f"{messages} messages, more than {options.max_messages}"
        network = structure.network
        hops = network.nodes * len(network.channels)
        if hops > MAX_HOPS:
            return f"{hops:,} senders times channels, more than {MAX_HOPS:,}"
        senders = Senders.of(problem, structure)
        size = senders.size([1, 1])
        if size > options.max_variables:
            limit = options.max_variables
            return f"{size:,} variables for two steps of one hop, more than {limit:,}"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Try the fewest steps that are open and one less than the best, until none is."""
        assert problem.structure is not None
        senders = Senders.of(problem, problem.structure)
        return until_stopped(run, lambda: _Search(senders, run, self.options).run_all())


class _Search:
    """One run of the engine: what has been answered, and the time of a question."""

    def __init__(self, senders: Senders, run: Run, options: Broadcast.Options) -> None:
        self.senders, self.run, self.options = senders, run, options
        self.closed: set[tuple[int, ...]] = set()
        """Reaches that are answered for good."""
        self.units = options.units
        self.rounds = 0

    def run_all(self) -> Stop:
        while not self.run.should_stop():
            tried = False
            for steps in self._targets():
                nearest = (reach for reach in self._reaches(steps) if self._is_open(reach))
                for reach in islice(nearest, self.options.reaches + self.rounds):
                    if self.run.wants(steps):
                        tried = True
                        self._ask(reach)
            if not tried and not self.run.should_stop():
                open_still = next(self.run.targets(), None) is not None
                return Stop.STALLED if open_still else Stop.EXHAUSTED
            self.units *= 2
            self.rounds += 1
        return Stop.LIMIT

    def _targets(self) -> list[int]:
        """Return the steps to try in a round: the fewest, and as many as better the best."""
        run = self.run
        if run.target is not None:
            return [run.target]
        best, lower = run.best(), max(1, run.lower())
        # A step that informs nobody is none, so as many steps as deliveries will do.
        enough = self.senders.problem.deliveries
        upper = min(lower + 2**self.rounds - 1, enough) if best is None else best - 1
        return [lower] if upper <= lower else [lower, upper]

    def _reaches(self, steps: int) -> Iterator[tuple[int, ...]]:
        """Yield how far the steps may reach, ever farther; in the end without any limit."""
        farthest, last = self.senders.farthest, self.options.reach or 1
        while True:
            far = [last + steps - 1 - step for step in range(steps)]
            # One sender has little choice, wherever it sends.
            far[0] = farthest
            yield tuple(min(hops, farthest) for hops in far)
            if last >= farthest or self.options.reach:
                return
            last += max(1, last // 2)

    def _is_open(self, reach: tuple[int, ...]) -> bool:
        return reach not in self.closed and self.senders.size(reach) <= self.options.max_variables

    def _ask(self, reach: tuple[int, ...]) -> None:
        run, steps = self.run, len(reach)

        def unwanted() -> bool:
            return not run.wants(steps)

        def make() -> SpreadModel:
            return SpreadModel(self.senders, reach, unwanted)

        solver = small_solver(run.budget, run.seed + self.rounds, self.units)
        solver.parameters.log_search_progress = self.options.log
        solver.parameters.linearization_level = 0  # the linear relaxation says little
        answer = ask(make, solver, lambda: run.wants(steps), run.should_stop)
        run.note(target=steps, booleans=answer.booleans, conflicts=answer.solution.conflicts)
        if answer.assignment is not None:
            run.offer(answer.assignment, answer.problem)
        if answer.solvable is not None:
            self.closed.add(reach)
        run.spend(evaluations(answer.units))
