"""Which deliveries to take out together: kinds of neighbourhoods, and how they are chosen.

Every kind is a function from a partial schedule and a size to placed deliveries. Kinds that pay
are asked more often, and the size of each follows how hard its questions turn out to be (adaptive
large-neighbourhood search: Ropke and Pisinger, Transportation Science 40, 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.usage_matrix import IntVector

from .partial_schedule import PartialSchedule

DECAY = 0.9
"""Factor of a kind's gain and cost after each of its turns: about ten turns count. By hand."""

MIN_RATE_SHARE = 0.1
"""Rate of a kind, as a part of the best kind's, that it is chosen by at least; by hand."""

GROWTH, SHRINKAGE = 1.15, 0.9
"""Factors of a size after an easy question and after another one. By hand: sizes stay where two of
five questions are easy."""


@dataclass(frozen=True, eq=False)
class View:
    """What the choice of a neighbourhood looks at.

    Parameters
    ----------
    partial
        The schedule.
    unscheduled
        The required deliveries without a place; there is one at least.
    price
        Shape (resources,): how scarce each is.
    family
        Shape (deliveries,): see ``uses.families``.
    """

    partial: PartialSchedule
    unscheduled: IntVector
    price: NDArray[np.float64]
    family: IntVector
    random: np.random.Generator

    def in_steps(self, steps: IntVector) -> IntVector:
        """Return the deliveries of these steps."""
        return np.flatnonzero(np.isin(self.partial.step, steps))

    def using(self, resources: IntVector) -> IntVector:
        """Return the deliveries that use some of these resources, in any step."""
        partial = self.partial
        placed = np.flatnonzero(partial.option >= 0)
        position, used, _ = partial.uses.entries(partial.option[placed])
        chosen = np.zeros(partial.problem.resources, dtype=np.bool_)
        chosen[resources] = True
        return placed[np.unique(position[chosen[used]])]

    def options(self) -> IntVector:
        """Return the usable options of a random delivery without a place."""
        partial = self.partial
        delivery = int(self.random.choice(self.unscheduled))
        options = np.arange(*partial.problem.option_start[delivery : delivery + 2])
        return options[partial.uses.usable[options]]

    def resources(self, options: IntVector) -> IntVector:
        """Return the resources that these options use, those without which nothing is known."""
        partial = self.partial
        resources = np.unique(partial.uses.entries(options)[1])
        return resources[~partial.problem.implied[resources]]


def wasteful_steps(view: View, size: int) -> IntVector:
    """Steps in which scarce resources have room left."""
    partial = view.partial
    waste = view.price @ np.where(partial.problem.implied[:, None], 0, partial.room)
    waste = (waste + 1e-3) * view.random.random(partial.steps)
    return view.in_steps(np.argsort(-waste, kind="stable")[: 2 + size])


def window(view: View, size: int) -> IntVector:
    """Steps that follow each other."""
    first = int(view.random.integers(max(1, view.partial.steps - size)))
    return view.in_steps(np.arange(first, first + 1 + size))


def messages(view: View, size: int) -> IntVector:
    """All deliveries of some messages, half of them incomplete ones."""
    incomplete = view.random.permutation(np.unique(view.family[view.unscheduled]))
    others = view.random.permutation(np.setdiff1d(view.family, incomplete))
    chosen = np.concatenate([incomplete[: max(1, size // 2)], others])[:size]
    return np.flatnonzero(np.isin(view.family, chosen) & (view.partial.option >= 0))


def users(view: View, size: int) -> IntVector:
    """Whatever uses, in any step, some resources that deliveries without a place could take."""
    chosen: list[int] = []
    for _ in range(size):
        option = view.random.choice(view.options(), size=1)
        fresh = np.setdiff1d(view.resources(option), chosen)
        chosen.extend(view.random.permutation(fresh)[: 1 + size - len(chosen)].tolist())
        if len(chosen) > size:
            break
    return view.using(np.array(chosen, dtype=np.int64))


def block(view: View, size: int) -> IntVector:
    """In some steps, whatever uses the resources of any option of a delivery without a place."""
    partial = view.partial
    resources = view.resources(view.options())
    room = (view.price[resources] + 1e-3) @ partial.room[resources]
    score = (room + 0.1) * view.random.random(partial.steps)
    steps = np.argsort(-score, kind="stable")[: 2 + 2 * size]
    found = view.using(resources)
    return found[np.isin(partial.step[found], steps)]


Kind = Callable[[View, int], IntVector]


@dataclass
class Arm:
    """A kind, the size that it is asked for, and what it has gained at what cost."""

    kind: Kind
    size: float
    max_size: float
    gain: float = 0.0
    cost: float = 0.0

    def learn(self, gain: float, cost: float, *, easy: bool) -> None:
        """Take in how a turn went; after an easy one, the next may be larger."""
        self.gain = DECAY * self.gain + gain
        self.cost = DECAY * self.cost + cost
        self.size = min(max(self.size * (GROWTH if easy else SHRINKAGE), 1.0), self.max_size)


class Bandit:
    """Chooses kinds by what they have gained for what they have cost.

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
        # Without this, a kind that has gained nothing lately would be as good as gone.
        rate += MIN_RATE_SHARE * max(float(rate.max()), 1e-9)
        return self.arms[int(random.choice(len(rate), p=rate / rate.sum()))]
