"""Search among Cayley graphs, circulants included: every node looks the same from every other.

A Cayley graph of a group has a link from every element g to g s, for all s of a connection set that
is closed under inverses. Its latencies are those of one node, so a candidate costs one search from
one source.

References
----------
T. Kitasuka, T. Matsuzaki, M. Iida, "Order adjustment approach using Cayley graphs for the
order/degree problem", IEICE Transactions E101-D (2018) 2908-2915, doi:10.1587/transinf.2018PAP0008.
"""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from cchybrid.plugin.engine import EngineBase, Stop
from cchybrid.toolkit.kernels.rng import State, below, seed_state
from cchybrid.toolkit.options import require

from ..network.bounds import latency_bound
from ..network.cost import Cost
from ..network.designer import DesignRun, is_better
from ..network.distances import NO_LIMIT, scratch, search_distances
from ..network.ports import Ports, links_of
from ..network.task import DesignTask
from ..network.terms import LATENCY_TERMS
from .groups import Group, groups_of


@dataclass(frozen=True)
class SymmetricOptions:
    """The parameters of the search among Cayley graphs.

    Parameters
    ----------
    exhaustive
        The largest number of connection sets of a group that are all tried.
    samples
        The number of random connection sets of a larger group in every round, each improved by
        exchanging one generator as long as that helps.
    """

    exhaustive: int = 20_000
    samples: int = 4

    def __post_init__(self) -> None:
        require(self, exhaustive=0, samples=1)


class Symmetric(EngineBase[SymmetricOptions]):
    """Connection sets of metacyclic groups: all of them, or local search from random ones."""

    Options = SymmetricOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        task = DesignTask(8, 3)
        search = _Search(task, Group(8, 1, 1), Cost(task))
        search.cost(search.draw(seed_state(0)))

    def unsupported(self, task: DesignTask) -> str | None:
        """Return why the designer cannot work on the task: wires are limited."""
        return None if task.max_wire is None else "Cayley graphs ignore the lengths of wires"

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        """Search group by group, in rounds, until the run ends or every set was tried."""
        bound = latency_bound(task).cost(task)
        cost = Cost(task)
        state = seed_state(run.seed)
        searches = [_Search(task, group, cost) for group in groups_of(task.nodes)]
        large = []
        for search in searches:
            if search.sets() > self.options.exhaustive:
                large.append(search)
            elif self._all(search, run):
                return Stop.LIMIT
            if _reached(run, bound, task):
                return Stop.EXHAUSTED
        while large:
            for search in large:
                for _ in range(self.options.samples):
                    if self._improve(search, state, run):
                        return Stop.LIMIT
                    if _reached(run, bound, task):
                        return Stop.EXHAUSTED
        return Stop.STALLED

    def _all(self, search: "_Search", run: DesignRun) -> bool:
        """Try all largest connection sets of a group; return whether the run is over."""
        for chosen in search.all_sets():
            if run.should_stop():
                return True
            search.offer(chosen, search.cost(chosen), run)
        return False

    def _improve(self, search: "_Search", state: State, run: DesignRun) -> bool:
        """Exchange generators of a random set while it helps; return whether the run is over."""
        chosen = search.draw(state)
        cost = search.cost(chosen)
        search.offer(chosen, cost, run)
        improved = True
        while improved:
            improved = False
            for place in range(len(chosen)):
                for other in search.exchanges(chosen, place):
                    if run.should_stop():
                        return True
                    found = search.cost(other)
                    search.offer(other, found, run)
                    if found < cost:
                        chosen, cost, improved = other, found, True
        return False


def _reached(run: DesignRun, bound: float | None, task: DesignTask) -> bool:
    best = run.best()
    return bound is not None and best is not None and best <= bound + task.tolerance


class _Search:
    """The connection sets of a group: ascending numbers of classes {g, inverse of g}."""

    def __init__(self, task: DesignTask, group: Group, cost: Cost) -> None:
        self.task, self._cost = task, cost
        self.product = group.table()
        inverse = np.argmin(self.product, axis=1)
        seen: set[int] = set()
        self.classes: list[tuple[int, ...]] = []
        for element in range(1, task.nodes):
            if element not in seen:
                members = tuple(dict.fromkeys((element, int(inverse[element]))))
                seen.update(members)
                self.classes.append(members)
        self.pairs = [i for i, members in enumerate(self.classes) if len(members) == 2]
        self.single = [i for i, members in enumerate(self.classes) if len(members) == 1]
        self._reach = scratch(task.nodes, 1)
        self._weights = (task.weight("latency") / task.nodes, task.weight("max-latency"))

    def splits(self) -> list[tuple[int, int]]:
        """Return the largest possible numbers of pairs and of involutions, as pairs of numbers."""
        degree = self.task.degree
        found = []
        for single in range(min(degree, len(self.single)) + 1):
            pairs = min((degree - single) // 2, len(self.pairs))
            full = 2 * pairs + single == degree
            if full or single == min(degree, len(self.single)):
                found.append((pairs, single))
        return found

    def sets(self) -> int:
        """Return the number of largest connection sets."""
        return sum(
            math.comb(len(self.pairs), pairs) * math.comb(len(self.single), single)
            for pairs, single in self.splits()
        )

    def all_sets(self) -> list[tuple[int, ...]]:
        """Return all largest connection sets."""
        return [
            tuple(sorted((*first, *second)))
            for pairs, single in self.splits()
            for first in combinations(self.pairs, pairs)
            for second in combinations(self.single, single)
        ]

    def draw(self, state: State) -> tuple[int, ...]:
        """Return a random largest connection set."""
        splits = self.splits()
        pairs, single = splits[below(state, len(splits))]
        chosen: list[int] = []
        for count, pool in ((pairs, self.pairs), (single, self.single)):
            rest = list(pool)
            chosen += [rest.pop(below(state, len(rest))) for _ in range(count)]
        return tuple(sorted(chosen))

    def exchanges(self, chosen: tuple[int, ...], place: int) -> list[tuple[int, ...]]:
        """Return the sets with another class of the same size at a place."""
        kept = chosen[:place] + chosen[place + 1 :]
        pool = self.pairs if len(self.classes[chosen[place]]) == 2 else self.single
        return [tuple(sorted((*kept, other))) for other in pool if other not in chosen]

    def ports(self, chosen: tuple[int, ...]) -> Ports:
        """Return the ports of the Cayley graph of a connection set."""
        elements = [element for index in chosen for element in self.classes[index]]
        ports = np.repeat(
            np.arange(self.task.nodes, dtype=np.int32)[:, None], self.task.degree, axis=1
        )
        ports[:, : len(elements)] = self.product[:, elements]
        return ports

    def cost(self, chosen: tuple[int, ...]) -> float:
        """Return the cost of the Cayley graph of a connection set."""
        ports = self.ports(chosen)
        if not self.task.uses_only(LATENCY_TERMS):
            return self._cost(ports)
        total, diameter = search_distances(ports, 1, NO_LIMIT, self._reach)
        if total < 0:
            return math.inf
        mean, maximum = self._weights
        return mean * total + maximum * diameter

    def offer(self, chosen: tuple[int, ...], cost: float, run: DesignRun) -> None:
        """Count an evaluation, and offer the network if it is the best of the run."""
        run.spend(1)
        if is_better(run, cost):
            run.offer(links_of(self.ports(chosen)), cost)
