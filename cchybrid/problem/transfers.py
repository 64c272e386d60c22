"""The transfers of some steps, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from cchybrid.model import Transfer
from cchybrid.problem.arrays import LongArray
from cchybrid.problem.ragged import offsets


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

    message: LongArray
    step: LongArray
    node: LongArray
    start: LongArray

    @classmethod
    def of(cls, steps: Iterable[Sequence[Transfer]]) -> Transfers:
        """Return the transfers of these steps, step after step."""
        listed = [list(step) for step in steps]
        moves = list(chain.from_iterable(listed))
        return cls(
            np.fromiter((move.message for move in moves), dtype=np.int64),
            np.repeat(np.arange(len(listed)), [len(step) for step in listed]),
            np.fromiter(chain.from_iterable(move.path for move in moves), dtype=np.int64),
            offsets([len(move.path) for move in moves]),
        )

    @property
    def last(self) -> LongArray:
        """Shape (transfers,): the node that receives."""
        return self.node[self.start[1:] - 1]
