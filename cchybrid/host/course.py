"""The course of a run: what every worker has cost and brought so far, and who found what."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

FADE = 0.5
"""What an earlier gain counts when a worker has its next turn."""


@dataclass(frozen=True)
class Contribution:
    """A better schedule or a better bound, and whom it is owed to.

    Parameters
    ----------
    seconds
        Since the run began.
    author
        The engine or the bound provider.
    how
        In which way, such as ``quotient by a group of order 4``, or "".
    steps, lower
        What was known then: the best schedule, ``None`` without one, and the best bound.
    what
        ``schedule`` or ``bound``.
    certified
        Whether the bound was checked.
    """

    seconds: float
    author: str
    how: str
    what: str
    steps: int | None
    lower: int
    certified: bool

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``cchybrid solve --json`` prints."""
        return asdict(self)


@dataclass
class Course:
    """What a strategy goes by.

    Attributes
    ----------
    ordered
        Whether messages are handed on, so that steps have an order.
    provable
        Whether proofs are wanted.
    best, lower
        Steps of the best schedule, ``None`` without one, and the best bound.
    left
        Seconds left to work; ``None`` if nobody counts them.
    spent
        Workers that have nothing more to give.
    """

    ordered: bool
    provable: bool = True
    best: int | None = None
    lower: int = 1
    left: float | None = None
    spent: set[str] = field(default_factory=set)
    contributions: list[Contribution] = field(default_factory=list)
    _gain: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def gap(self) -> int | None:
        """Steps between the best schedule and the best bound."""
        return None if self.best is None else self.best - self.lower

    def took(self, worker: str, seconds: float) -> None:
        """Take note of a turn of a worker."""
        self._seconds[worker] += seconds
        self._gain[worker] *= FADE

    def turned_out(self, worker: str, contribution: Contribution) -> None:
        """Take note of something new, and of the share of the gap that it has closed."""
        before = self.gap
        self.best, self.lower = contribution.steps, max(self.lower, contribution.lower)
        after = self.gap
        if before is None or after is None:
            self._gain[worker] += 1.0
        elif before > 0:
            self._gain[worker] += max(0, before - after) / before
        self.contributions.append(contribution)

    def worth(self, worker: str, prior: float) -> float:
        """Return what another second of a worker promises: gains, late ones more, per second.

        ``prior`` is what it is trusted to bring before it has brought anything.
        """
        return (prior + self._gain[worker]) / (1.0 + self._seconds[worker])
