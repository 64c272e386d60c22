"""Numbers over time as a row of characters."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.:-=+*#"
"""Characters from the lowest to the highest value."""
UNKNOWN = " "


def sparkline(values: Sequence[float | None], *, ascii_only: bool = False) -> str:
    """Return one character per value, as high as its share of the largest one.

    Parameters
    ----------
    values
        Numbers from 0; ``None`` where there is none, which leaves a space.

    Examples
    --------
    >>> sparkline([None, 8, 4, 4, 1, 0])
    ' █▄▄▁▁'
    >>> sparkline([None, 8, 4, 4, 1, 0], ascii_only=True)
    ' #--__'
    """
    blocks = ASCII_BLOCKS if ascii_only else BLOCKS
    highest = max((value for value in values if value is not None), default=0.0)

    def block(value: float | None) -> str:
        if value is None:
            return UNKNOWN
        share = value / highest if highest > 0 else 0.0
        return blocks[max(0, min(len(blocks) - 1, round(share * len(blocks)) - 1))]

    return "".join(map(block, values))


class GapHistory:
    """The gap between the best schedule and the best lower bound, over the time of a run."""

    def __init__(self) -> None:
        self._times: list[float] = []
        self._gaps: list[int] = []
        self._best: int | None = None
        self._lower = 1

    def record(self, seconds: float, *, best: int | None = None, lower: int | None = None) -> None:
        """Record a better schedule or bound, by its steps, at a time after the previous one."""
        self._best = self._best if best is None else best
        self._lower = self._lower if lower is None else lower
        if self._best is not None:
            self._times.append(seconds)
            self._gaps.append(max(0, self._best - self._lower))

    @property
    def gap(self) -> int | None:
        """The gap at present, in steps; ``None`` before the first schedule."""
        return self._gaps[-1] if self._gaps else None

    def samples(self, seconds: float, count: int) -> list[float | None]:
        """Return the gap at the ends of ``count`` equal parts of the time from 0 to ``seconds``."""
        found: list[float | None] = []
        for part in range(1, count + 1):
            index = bisect_right(self._times, seconds * part / count)
            found.append(self._gaps[index - 1] if index else None)
        return found
