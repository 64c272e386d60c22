"""The engine ``broadcast``: CP-SAT on flows from all informed nodes, with a limited reach per step.

1. For a number of steps, limit the hops of transfers: the last step reaches one hop, each step
   before it one hop farther than the next, and the first one any distance.
2. Let CP-SAT decide that model (``flows.py``); if it has no solution, increase the reach.
3. Models that are not decided in their time get twice as much in the next round, in which more
   reaches are tried.

Several messages compete for channels everywhere. If no source is a destination, they have to leave
the sources by long paths, and only few nodes forward them in the first steps. So then the sources
reach farther than other nodes, in the last step as far as every source needs to its nearest
destination, and destinations reach farther than one hop in the first steps only. Schedules that are
invariant under a group of automorphisms are tried first, as their models are smaller.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from cchybrid.plugin.engine import EngineBase, Run, Stop
from cchybrid.problem import NetworkStructure, Problem
from cchybrid.problem.symmetry import Images, small_groups
from cchybrid.toolkit.cpsat.solve import decide, small_solver
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import evaluations, until_stopped

from .flows import Senders, SpreadModel

MAX_HOPS = 2_000_000
"""Senders times channels; a guard: to enumerate more takes more than a second."""


class Trial(NamedTuple):
    """A model to decide.

    Parameters
    ----------
    reach, from_source
        Shape (steps,): the maximal hops of a transfer in each step, and of one from its source.
    group
        The index of a group of automorphisms, or ``None``.
    """

    reach: tuple[int, ...]
    from_source: tuple[int, ...]
    group: int | None = None


class Broadcast(EngineBase["Broadcast.Options"]):
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
            With more than ``max_messages`` messages it is twice as much.
        max_messages
            Messages of an instance; with more, they compete everywhere, and limiting the reach is
            of little use.
        max_apart
            Messages of an instance in which no source is a destination, if that is more.
        groups
            Groups of automorphisms that are tried with more than ``max_messages`` messages.
        max_variables
            Variables that a model may have.
        log
            Print CP-SAT's own log.
        """

        reach: int = 0
        reaches: int = 3
        units: float = 3.0
        max_messages: int = 4
        max_apart: int = 16
        groups: int = 3
        max_variables: int = 400_000
        log: bool = False

        def __post_init__(self) -> None:
            require(self, reach=0, reaches=1, units=0.001, max_messages=1, max_variables=1)
            require(self, max_apart=0, groups=0)

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse other collectives than wormhole broadcasts, and too large ones."""
        structure = problem.structure
        if structure is None:
            return "quotients and routing tables fix the paths"
        if structure.hop_by_hop:
            return "not wormhole switching"
        if not problem.ordered:
            return "every message has one destination: nothing is passed on"
        messages = len(structure.messages)
        options = self.options
        limit = options.max_messages
        if messages > limit and _are_apart(structure):
            limit = max(limit, options.max_apart)
        if messages > limit:
            return f"{messages} messages, more than {limit}"
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
        self.closed: set[Trial] = set()
        """Models that are decided."""
        self.units = options.units
        self.rounds = 0
        structure = senders.structure
        self.many = len(structure.messages) > options.max_messages
        self.groups: list[Images] = []
        if self.many:
            # These models are larger; of 9,000 variables they take 2 to 10 units.
            self.units *= 2.0
            self.groups = small_groups(senders.problem, run.seed, options.groups, run.should_stop)

    def run_all(self) -> Stop:
        while not self.run.should_stop():
            tried = False
            for steps in self._targets():
                nearest = (trial for trial in self._trials(steps) if self._is_open(trial))
                for trial in islice(nearest, self.options.reaches + self.rounds):
                    if self.run.wants(steps):
                        tried = True
                        self._ask(trial)
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

    def _trials(self, steps: int) -> Iterator[Trial]:
        """Yield the models for a number of steps, those of small reach first."""
        if not self.many:
            for reach in self._reaches(steps):
                yield Trial(reach, reach)
            return
        before: list[Trial] = []
        for reach, from_source in self._reaches_apart(steps):
            for group in range(len(self.groups)):
                yield Trial(reach, from_source, group)
            # Without a group the model is larger, so it comes after those of the next reach.
            yield from before
            before = [Trial(reach, from_source)]
        yield from before

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

    def _reaches_apart(self, steps: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the maximal hops of each step where no source is a destination, increasing.

        Returns
        -------
        reach, from_source
            Those of destinations, and of sources.
        """
        farthest, last = self.senders.farthest, self.options.reach or 1
        near = _nearest(self.senders.structure)
        extra = 1
        while True:
            far = [last + max(0, extra + 1 - step) for step in range(steps)]
            source = [max(near, last) + steps - 1 - step for step in range(steps)]
            yield (
                tuple(min(hops, farthest) for hops in far),
                tuple(min(hops, farthest) for hops in source),
            )
            if min(far + source) >= farthest or self.options.reach:
                return
            if extra < steps:
                extra += 1
            else:
                last += max(1, last // 2)

    def _is_open(self, trial: Trial) -> bool:
        size = self.senders.size(trial.reach, trial.from_source)
        return trial not in self.closed and size <= self.options.max_variables

    def _ask(self, trial: Trial) -> None:
        run, steps = self.run, len(trial.reach)
        images = None if trial.group is None else self.groups[trial.group]

        def unwanted() -> bool:
            return not run.wants(steps)

        def make() -> SpreadModel:
            return SpreadModel(
                self.senders, trial.reach, unwanted, from_source=trial.from_source, images=images
            )

        solver = small_solver(run.budget, run.seed + self.rounds, self.units)
        solver.parameters.log_search_progress = self.options.log
        solver.parameters.linearization_level = 0  # the linear relaxation says little
        answer = decide(make, solver, lambda: run.wants(steps), run.should_stop)
        run.note(target=steps, booleans=answer.booleans, conflicts=answer.solution.conflicts)
        if answer.assignment is not None:
            run.offer(answer.assignment, answer.problem)
        if answer.solvable is not None:
            self.closed.add(trial)
        run.spend(evaluations(answer.units))


def _are_apart(structure: NetworkStructure) -> bool:
    """Return whether no source is a destination."""
    sources = {message.source for message in structure.messages}
    return all(sources.isdisjoint(message.destinations) for message in structure.messages)


def _nearest(structure: NetworkStructure) -> int:
    """Return the hops within which every source has a destination."""
    distance = structure.distance
    return max(int(distance[source, list(goals)].min()) for source, goals in structure.messages)
