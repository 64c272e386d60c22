"""The transfers of some steps, in flat arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from cchybrid.model import FlatSteps, Steps, Transfer
from cchybrid.model.steps import MIN_FLAT_TRANSFERS
from cchybrid.problem.ragged import Integers, LongArray, entries_of, offsets

MAX_SHORT = 1 << 16
"""Steps whose numbers fit into two bytes: these are sorted by counting, five times as fast."""


@dataclass(frozen=True, eq=False)
class Transfers:
    """Transfers, in any order.

    Parameters
    ----------
    message, step
        Shape (transfers,): the message and the step of each.
    node, start
        The nodes of transfer t are ``node[start[t] : start[t + 1]]``.
    """

    message: Integers
    step: Integers
    node: Integers
    start: LongArray

    @classmethod
    def of(cls, steps: Iterable[Sequence[Transfer]]) -> "Transfers":
        """Return the transfers of these steps, step after step."""
        if isinstance(steps, FlatSteps):
            numbers = np.arange(len(steps), dtype=np.int32)
            step = np.repeat(numbers, np.diff(steps.first))
            return cls(steps.message, step, steps.node, steps.start)
        listed = [list(step) for step in steps]
        moves = list(chain.from_iterable(listed))
        return cls(
            np.fromiter((move.message for move in moves), dtype=np.int64),
            np.repeat(np.arange(len(listed)), [len(step) for step in listed]),
            np.fromiter(chain.from_iterable(move.path for move in moves), dtype=np.int64),
            offsets([len(move.path) for move in moves]),
        )

    @classmethod
    def joined(cls, parts: "Sequence[Transfers]") -> "Transfers":
        """Return all transfers of several ones, in their order."""
        sizes = [np.diff(part.start) for part in parts]
        return cls(
            np.concatenate([part.message for part in parts]),
            np.concatenate([part.step for part in parts]),
            np.concatenate([part.node for part in parts]),
            offsets(np.concatenate(sizes)),
        )

    @property
    def last(self) -> Integers:
        """Shape (transfers,): the node that receives."""
        return self.node[self.start[1:] - 1]

    def in_steps(self, steps: int | None) -> Steps:
        """Return the transfers step after step, those of a step in their order.

        Parameters
        ----------
        steps
            The number of steps, without the transfers of later ones; ``None`` leaves out steps
            without transfers.
        """
        sizes = np.bincount(self.step, minlength=steps or 0)
        sizes = sizes[sizes > 0] if steps is None else sizes[:steps]
        fits = self.step.max(initial=0) < MAX_SHORT
        step = self.step.astype(np.uint16) if fits else self.step
        order = np.argsort(step, kind="stable")[: sizes.sum()]
        length = np.diff(self.start)
        if (length == 2).all():  # one hop each
            start = np.arange(0, 2 * len(order) + 1, 2)
            node = np.empty(start[-1], dtype=self.node.dtype)
            for end in (0, 1):
                node[end::2] = self.node[end::2][order]
        else:
            node, start = entries_of(self.node, self.start, order)
        flat = FlatSteps(self.message[order], offsets(sizes), node, start)
        return flat if len(order) >= MIN_FLAT_TRANSFERS else tuple(flat)
