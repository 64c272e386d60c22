"""The choice of an option per delivery, before any step is assigned: short options, balanced loads.

Where no delivery requires another, the options are paths; otherwise they form trees, in which the
option of a delivery requires a delivery nearer to the source.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import INJECT, Problem
from cchybrid.toolkit.kernels.flat import ports_of
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix, families

Check = Callable[[], None]
"""A function that is called often; it raises to end the work."""


PASSES = 4
"""Passes over all deliveries in which loads are balanced, at most."""


class Chooser:
    """Choose an option per delivery, -1 for deliveries that are not needed.

    Parameters
    ----------
    check
        Called between deliveries.
    """

    def __init__(self, problem: Problem, uses: UsageMatrix, check: Check) -> None:
        self.problem = problem
        self.check = check
        self.uses = uses.expanded(np.arange(problem.options))
        self.size = uses.costs(np.ones(problem.resources)).astype(np.int64)
        self.usable = uses.usable
        self.load = np.zeros(problem.resources, dtype=np.int64)

    def shortest(self, random: np.random.Generator | None = None) -> IntVector:
        """Return, per delivery, an option with the fewest uses: a random one, or the first."""
        problem = self.problem
        found = np.full(problem.deliveries, -1, dtype=np.int64)
        for delivery in np.flatnonzero(problem.required).tolist():
            first, last = problem.option_start[delivery : delivery + 2].tolist()
            size = np.where(self.usable[first:last], self.size[first:last], np.iinfo(np.int64).max)
            if random is None:
                found[delivery] = first + int(np.argmin(size))
            else:
                found[delivery] = first + int(random.choice(np.flatnonzero(size == size.min())))
        return found

    def balanced(self, random: np.random.Generator) -> IntVector:
        """Return options with balanced loads: local search over one delivery at a time.

        The cost of an option is the load of its most loaded resource, then its total load.
        """
        found = self.shortest(random)
        self.load[:] = 0
        for delivery in np.flatnonzero(found >= 0).tolist():
            self._add(int(found[delivery]), 1)
        order = np.flatnonzero(found >= 0)
        for _ in range(PASSES):
            changed = False
            for delivery in random.permutation(order).tolist():
                self.check()
                before = int(found[delivery])
                self._add(before, -1)
                first, last = self.problem.option_start[delivery : delivery + 2].tolist()
                cost = self._cost(first, last)
                best = first + int(np.argmin(cost))
                if cost[best - first] >= cost[before - first]:
                    best = before
                changed |= best != before
                found[delivery] = best
                self._add(best, 1)
            if not changed:
                break
        return found

    def trees(self, random: np.random.Generator) -> IntVector:
        """Return options that form trees, grown breadth first, where every delivery is required.

        In each round, informed nodes inform others, each as many as its ports allow in one step;
        cheap options come first. The maximal length of options is drawn at random for the whole
        forest: long paths make it shallow, short ones leave more capacity for other messages. It is
        increased only where no tree grows any more.
        """
        problem = self.problem
        found = np.full(problem.deliveries, -1, dtype=np.int64)
        made = np.zeros(problem.deliveries, dtype=np.bool_)
        self.load[:] = 0
        family = families(problem)
        left = np.arange(problem.deliveries)
        reach = int(random.choice(np.unique(self.size[self.usable])))
        while len(left):
            served: Counter[tuple[int, int]] = Counter()
            for delivery in random.permutation(left).tolist():
                self.check()
                first, last = problem.option_start[delivery : delivery + 2].tolist()
                requires = problem.option_requires[first:last]
                ready = ((requires < 0) | made[requires]) & (self.size[first:last] <= reach)
                cost = np.where(ready, self._cost(first, last), np.inf)
                for offset in np.argsort(cost, kind="stable").tolist():
                    if cost[offset] == np.inf:
                        break
                    option = first + offset
                    sender = int(requires[offset])
                    key = (sender if sender >= 0 else ~family[delivery], int(self.port[option]))
                    if key[1] >= 0 and served[key] >= problem.capacity[key[1]]:
                        continue
                    served[key] += 1
                    found[delivery] = option
                    self._add(option, 1)
                    break
            grown = left[found[left] >= 0]
            if not len(grown):
                longer = self.size[self.usable & (self.size > reach)]
                if not len(longer):
                    raise ValueError("some delivery cannot be reached")
                reach = int(longer.min())
            made[grown] = True
            left = left[found[left] < 0]
        return found

    def chains(self, random: np.random.Generator) -> IntVector:
        """Return options that reach every required delivery over optional ones.

        Every required delivery, in random order, is connected backwards, over the fewest and then
        the least loaded options, to a delivery that is made already or requires none.
        """
        problem = self.problem
        found = np.full(problem.deliveries, -1, dtype=np.int64)
        self.load[:] = 0
        for goal in random.permutation(np.flatnonzero(problem.required)).tolist():
            if found[goal] >= 0:
                continue
            for delivery, option in self._chain(goal, found):
                found[delivery] = option
                self._add(option, 1)
        return found

    def _chain(self, goal: int, found: IntVector) -> list[tuple[int, int]]:
        """Run Dijkstra's algorithm from the goal backwards to any delivery that is made."""
        problem = self.problem
        towards: dict[int, tuple[int, int]] = {}
        queue: list[tuple[float, int, int, int]] = [(0.0, goal, -1, -1)]
        settled: set[int] = set()
        total = float(self.load.sum()) + 1.0
        while queue:
            spent, delivery, option, after = heapq.heappop(queue)
            if delivery in settled:
                continue
            if after >= 0:
                towards[delivery] = option, after
            if delivery < 0 or found[delivery] >= 0:
                chain = []
                while delivery in towards:
                    chosen, following = towards[delivery]
                    chain.append((following, chosen))
                    delivery = following
                return chain
            self.check()
            settled.add(delivery)
            first, last = problem.option_start[delivery : delivery + 2].tolist()
            busy = np.add.reduceat(*self._relative(first, last)) / total
            for offset in range(last - first):
                before = int(problem.option_requires[first + offset])
                if self.usable[first + offset] and before not in settled:
                    cost = spent + 1.0 + float(busy[offset])
                    heapq.heappush(queue, (cost, before, first + offset, delivery))
        raise ValueError(f"delivery {goal} cannot be reached")

    def _add(self, option: int, sign: int) -> None:
        resource, times = self.uses.row(option)
        self.load[resource] += sign * times

    def _cost(self, first: int, last: int) -> NDArray[np.float64]:
        """Return each option's largest relative load, plus a fraction of its total load."""
        relative, edge = self._relative(first, last)
        cost = np.maximum.reduceat(relative, edge) + np.add.reduceat(relative, edge) * 1e-4
        return np.where(self.usable[first:last], cost, np.inf)

    def _relative(self, first: int, last: int) -> tuple[NDArray[np.float64], IntVector]:
        """Return the relative loads of the options' resources, and the start of each option's."""
        start = self.uses.start[first : last + 1]
        used = slice(start[0], start[-1])
        resource = self.uses.resource[used]
        load = self.load[resource] + self.uses.times[used]
        return load / np.maximum(self.problem.capacity[resource], 1), start[:-1] - start[0]

    @cached_property
    def port(self) -> NDArray[np.int32]:
        """Shape (options,): the injection port that each option uses, -1 for none."""
        return ports_of(self.problem, INJECT)[self.problem.option_path]
