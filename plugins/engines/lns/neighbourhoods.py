"""Neighbourhoods: which deliveries to remove together, and how their kind is chosen.

Every kind is a function from a partial schedule and a size to scheduled deliveries. A bandit
chooses kinds in proportion to their recent gain per time, and the size of each kind is adapted to
the difficulty of its subproblems, as in adaptive large-neighbourhood search.

References
----------
S. Ropke, D. Pisinger, "An adaptive large neighborhood search heuristic for the pickup and delivery
problem with time windows", Transportation Science 40, 2006. doi:10.1287/trsc.1050.0135
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.partial_schedule import PartialSchedule
from cchybrid.toolkit.usage_matrix import IntVector

DECAY = 0.9
"""Factor on a kind's gain and cost per use of it: about the last ten count. Chosen by hand."""

MIN_RATE_SHARE = 0.1
"""Least rate of a kind, as a share of the best kind's rate; chosen by hand."""

GROWTH, SHRINKAGE = 1.15, 0.9
"""Factors on a size after an easy subproblem and after any other. Chosen by hand: sizes are stable
where two of five subproblems are easy."""


@dataclass(frozen=True, eq=False)
class Situation:
    """The input of a neighbourhood.

    Parameters
    ----------
    partial
        The schedule.
    unscheduled
        The required deliveries that are unscheduled, at least one.
    price
        Shape (resources,): the scarcity of each.
    family
        Shape (deliveries,): see ``usage_matrix.families``.
    """

    partial: PartialSchedule
    unscheduled: IntVector
    price: NDArray[np.float64]
    family: IntVector
    random: np.random.Generator

    def in_steps(self, steps: IntVector) -> IntVector:
        """Return the deliveries of these steps."""
        return np.flatnonzero(np.isin(self.partial.step, steps))

    def draw_options(self) -> IntVector:
        """Return the usable options of a random unscheduled delivery."""
        return self.partial.options_of(int(self.random.choice(self.unscheduled)))


def wasteful_steps(situation: Situation, size: int) -> IntVector:
    """Return the deliveries of steps in which scarce resources have capacity left."""
    partial = situation.partial
    waste = situation.price @ np.where(partial.problem.implied[:, None], 0, partial.residual)
    waste = (waste + 1e-3) * situation.random.random(partial.steps)
    return situation.in_steps(np.argsort(-waste, kind="stable")[: 2 + size])


def window(situation: Situation, size: int) -> IntVector:
    """Return the deliveries of consecutive steps."""
    first = int(situation.random.integers(max(1, situation.partial.steps - size)))
    return situation.in_steps(np.arange(first, first + 1 + size))


def messages(situation: Situation, size: int) -> IntVector:
    """Return all deliveries of some messages, half of them incomplete ones."""
    incomplete = situation.random.permutation(np.unique(situation.family[situation.unscheduled]))
    others = situation.random.permutation(np.setdiff1d(situation.family, incomplete))
    chosen = np.concatenate([incomplete[: max(1, size // 2)], others])[:size]
    return np.flatnonzero(np.isin(situation.family, chosen) & (situation.partial.option >= 0))


def users(situation: Situation, size: int) -> IntVector:
    """Return the deliveries, of any step, on some resources that unscheduled ones could use."""
    chosen: list[int] = []
    for _ in range(size):
        option = situation.random.choice(situation.draw_options(), size=1)
        fresh = np.setdiff1d(situation.partial.resources_of(option), chosen)
        chosen.extend(situation.random.permutation(fresh)[: 1 + size - len(chosen)].tolist())
        if len(chosen) > size:
            break
    return situation.partial.using(np.array(chosen, dtype=np.int64))


def block(situation: Situation, size: int) -> IntVector:
    """Return the deliveries, of some steps, on all resources that an unscheduled one could use."""
    partial = situation.partial
    resources = partial.resources_of(situation.draw_options())
    residual = (situation.price[resources] + 1e-3) @ partial.residual[resources]
    score = (residual + 0.1) * situation.random.random(partial.steps)
    steps = np.argsort(-score, kind="stable")[: 2 + 2 * size]
    found = partial.using(resources)
    return found[np.isin(partial.step[found], steps)]


Kind = Callable[[Situation, int], IntVector]


@dataclass
class Arm:
    """A kind of neighbourhood with its size, and its decayed gain and cost."""

    kind: Kind
    size: float
    max_size: float
    gain: float = 0.0
    cost: float = 0.0

    def learn(self, gain: float, cost: float, *, easy: bool) -> None:
        """Record the gain and the cost of an iteration; increase the size if it was easy."""
        self.gain = DECAY * self.gain + gain
        self.cost = DECAY * self.cost + cost
        self.size = min(max(self.size * (GROWTH if easy else SHRINKAGE), 1.0), self.max_size)


class Bandit:
    """Choose kinds at random, in proportion to their gain per cost.

    Parameters
    ----------
    ordered
        Whether deliveries of the Problem require others.
    max_size
        The largest size of a neighbourhood.
    """

    def __init__(self, ordered: bool, max_size: int = 12) -> None:
        kinds: tuple[Kind, ...] = (users, block, wasteful_steps)
        if ordered:
            kinds = (users, block, window, messages)
        self.arms = [Arm(kind, 2.0, max_size) for kind in kinds]

    def choose(self, random: np.random.Generator) -> Arm:
        """Return a kind."""
        for arm in self.arms:
            if not arm.cost:
                return arm
        rate = np.array([arm.gain / arm.cost for arm in self.arms])
        # A floor, so that a kind without recent gain is still tried.
        rate += MIN_RATE_SHARE * max(float(rate.max()), 1e-9)
        return self.arms[int(random.choice(len(rate), p=rate / rate.sum()))]
