"""The engine ``broadcast``: CP-SAT on flows from all informed nodes, with a limited reach per step.

1. For a number of steps, limit the hops of transfers: the last step reaches one hop, each step
   before it one hop farther than the next, and the first one any distance.
2. Let CP-SAT decide that model (``flows.py``); if it has no solution, increase the reach.
3. Models that are not decided in their time get twice as much in the next round, in which more
   reaches are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from cchybrid.plugin.engine import Run, Stop
from cchybrid.problem import Problem
from cchybrid.toolkit.cpsat.solve import decide, small_solver
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import evaluations, until_stopped

from .flows import Senders, SpreadModel

MAX_HOPS = 2_000_000
"""Senders times channels; a guard: to enumerate more takes more than a second."""


class Broadcast:
    """Schedules of broadcasts over shortest paths by CP-SAT on flows; claims no bounds."""

    @dataclass(frozen=True)
    class Options:
        """The options of the engine.

        Parameters
        ----------
        reach
            Maximal hops of a transfer in the last step; each step before it reaches one hop
            farther. 0 tries increasing values.
        reaches
            Reaches that are tried in the first round; one more in each further round.
        units
            Deterministic time of a model in the first round, about seconds; it doubles per round.
        max_messages
            Messages of an instance; with more, they compete everywhere, and limiting the reach is
            of little use.
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
        """Refuse other collectives than wormhole broadcasts, and too large ones."""
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
        """Try the fewest open number of steps and one less than the best, until none is open."""
        assert problem.structure is not None
        senders = Senders.of(problem, problem.structure)
        return until_stopped(run, lambda: _Search(senders, run, self.options).run_all())


class _Search:
    """One run of the engine: the decided models, and the time limit of a model."""

    def __init__(self, senders: Senders, run: Run, options: Broadcast.Options) -> None:
        self.senders, self.run, self.options = senders, run, options
        self.closed: set[tuple[int, ...]] = set()
        """Reaches that are decided."""
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
        """Return the steps to try in a round: the fewest open ones, and one less than the best."""
        run = self.run
        if run.target is not None:
            return [run.target]
        best, lower = run.best(), max(1, run.lower())
        # Every step makes a delivery, so no schedule needs more steps than deliveries.
        enough = self.senders.problem.deliveries
        upper = min(lower + 2**self.rounds - 1, enough) if best is None else best - 1
        return [lower] if upper <= lower else [lower, upper]

    def _reaches(self, steps: int) -> Iterator[tuple[int, ...]]:
        """Yield the maximal hops of each step, increasing, finally without any limit."""
        farthest, last = self.senders.farthest, self.options.reach or 1
        while True:
            far = [last + steps - 1 - step for step in range(steps)]
            # In the first step there is one sender only, so no limit is needed.
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
        answer = decide(make, solver, lambda: run.wants(steps), run.should_stop)
        run.note(target=steps, booleans=answer.booleans, conflicts=answer.solution.conflicts)
        if answer.assignment is not None:
            run.offer(answer.assignment, answer.problem)
        if answer.solvable is not None:
            self.closed.add(reach)
        run.spend(evaluations(answer.units))
