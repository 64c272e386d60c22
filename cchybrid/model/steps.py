"""The steps of schedules: tuples of transfers, or flat arrays where transfers are many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, final, overload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.integer[Any]]
    LongArray = NDArray[np.int64]

MIN_FLAT_TRANSFERS = 20_000
"""Transfers from which on steps are kept in flat arrays: a million as tuples take 200 MB, and
seconds wherever they are made, read or sent."""


class Transfer(NamedTuple):
    """One message travelling one path (the nodes in order) within one step."""

    message: int
    path: tuple[int, ...]


Steps = Sequence[tuple[Transfer, ...]]
"""Per step its transfers: a tuple, or ``FlatSteps``."""


@final
class FlatSteps(Sequence[tuple[Transfer, ...]]):
    """The transfers of all steps in flat arrays; reads like a tuple of tuples of ``Transfer``.

    The arrays are copied, and cannot be changed: what the referee has verified stays as it is.

    Parameters
    ----------
    message
        Shape (transfers,): the message of each transfer, step after step.
    first
        Shape (steps + 1,): step s has the transfers ``first[s]`` to ``first[s + 1] - 1``.
    node, start
        The nodes of transfer t are ``node[start[t] : start[t + 1]]``.

    Raises
    ------
    ValueError
        ``first`` or ``start`` does not divide the other arrays, or an array has no integers.
    """

    __slots__ = ("first", "message", "node", "start")
    message: Ints
    first: LongArray
    node: Ints
    start: LongArray
    __hash__ = None  # type: ignore[assignment]  # like all that holds arrays

    def __init__(self, message: Ints, first: Ints, node: Ints, start: Ints) -> None:
        import numpy as np

        arrays = {"message": message, "first": first, "node": node, "start": start}
        for name, array in arrays.items():
            if array.ndim != 1 or array.dtype.kind != "i":
                raise ValueError("an array is no list of whole numbers")
            kind = array.dtype if name in ("message", "node") else np.int64
            copied = np.array(array, dtype=kind)
            copied.flags.writeable = False
            object.__setattr__(self, name, copied)
        for ends, size in ((self.first, len(message)), (self.start, len(node))):
            if not len(ends) or ends[0] or ends[-1] != size or (ends[1:] < ends[:-1]).any():
                raise ValueError("offsets do not divide an array")
        if len(self.start) != len(message) + 1:
            raise ValueError("not one path for each transfer")

    @classmethod
    def of(cls, steps: Steps) -> FlatSteps:
        """Return the same steps in flat arrays."""
        import numpy as np

        if isinstance(steps, FlatSteps):
            return steps
        transfers = [*chain.from_iterable(steps)]
        paths = [path for _, path in transfers]
        return cls(
            np.fromiter((message for message, _ in transfers), np.int64, len(transfers)),
            np.cumsum([0, *map(len, steps)]),
            np.fromiter(chain.from_iterable(paths), np.int64),
            np.cumsum([0, *map(len, paths)]),
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse another array."""
        raise AttributeError(f"{name} cannot be changed")

    def __reduce__(self) -> tuple[type, tuple[Ints, ...]]:
        """Return how to make a copy, whose arrays cannot be changed either."""
        return FlatSteps, (self.message, self.first, self.node, self.start)

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.first) - 1

    @overload
    def __getitem__(self, key: int) -> tuple[Transfer, ...]: ...
    @overload
    def __getitem__(self, key: slice) -> FlatSteps: ...
    def __getitem__(self, key: int | slice) -> tuple[Transfer, ...] | FlatSteps:
        """Return the transfers of a step, or some steps."""
        numbers = range(len(self))[key]
        if isinstance(numbers, range):
            return self._taken(numbers)
        a, b = self.first[numbers : numbers + 2].tolist()
        ends = self.start[a : b + 1]
        nodes = self.node[ends[0] : ends[-1]].tolist()
        paths = [tuple(nodes[i:j]) for i, j in pairwise((ends - ends[0]).tolist())]
        return tuple(map(Transfer, self.message[a:b].tolist(), paths))

    def _taken(self, numbers: range) -> FlatSteps:
        """Return the steps of these numbers, in their order."""
        import numpy as np

        transfers, sizes = _entries(self.first, np.array(numbers, dtype=np.int64))
        places, lengths = _entries(self.start, transfers)
        return FlatSteps(
            self.message[transfers], _offsets(sizes), self.node[places], _offsets(lengths)
        )

    def backwards(self) -> FlatSteps:
        """Return the steps in reverse order, with every path reversed."""
        import numpy as np

        turned = self[::-1]
        length = np.diff(turned.start)
        mirrored = np.repeat(turned.start[:-1] + turned.start[1:] - 1, length)
        places = mirrored - np.arange(len(turned.node))
        return FlatSteps(turned.message, turned.first, turned.node[places], turned.start)

    def __eq__(self, other: object) -> bool:
        """Return whether the other one has the same transfers in the same steps and order."""
        if isinstance(other, (tuple, FlatSteps)):
            pairs = zip(self, other, strict=False)
            return len(self) == len(other) and all(mine == theirs for mine, theirs in pairs)
        return NotImplemented

    def __repr__(self) -> str:
        """Return the numbers of steps and transfers."""
        return f"FlatSteps({len(self)} steps, {len(self.message)} transfers)"


def count_transfers(steps: Steps) -> int:
    """Return the number of transfers."""
    return len(steps.message) if isinstance(steps, FlatSteps) else sum(map(len, steps))


def count_hops(steps: Steps) -> int:
    """Return the hops of all transfers: the channels that they use."""
    if isinstance(steps, FlatSteps):
        return len(steps.node) - len(steps.message)
    return sum(len(path) - 1 for step in steps for _, path in step)


def reverse_steps(steps: Iterable[tuple[Transfer, ...]]) -> Steps:
    """Return a schedule read backwards: the steps in reverse order, every path reversed."""
    if isinstance(steps, FlatSteps):
        return steps.backwards()
    return tuple(
        tuple(Transfer(message, path[::-1]) for message, path in step)
        for step in reversed(tuple(steps))
    )


def _entries(start: LongArray, rows: LongArray) -> tuple[LongArray, LongArray]:
    """Return the places of the entries of some rows, row after row, and the size of each row."""
    import numpy as np

    sizes = start[rows + 1] - start[rows]
    ends = np.cumsum(sizes)
    return np.repeat(start[rows] - ends + sizes, sizes) + np.arange(sizes.sum()), sizes


def _offsets(sizes: LongArray) -> LongArray:
    import numpy as np

    return np.append(0, np.cumsum(sizes))
