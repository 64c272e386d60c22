"""The history of a run: what every arm has cost and contributed so far.

An arm is one way to spend the next time slice: an engine on the instance, an engine on quotients,
the prover. ``auto`` treats them as arms of a bandit over an algorithm portfolio (C. P. Gomes and
B. Selman, Algorithm portfolios, 2001, https://doi.org/10.1016/S0004-3702(00)00081-3): the score
is the share of the gap that an arm has closed per second, recent gains counting more.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import Any

DECAY = 0.5
"""Weight of an arm's earlier gains after each of its time slices: one slice without any gain
halves its score, so that an arm that gains nothing is left after a few."""

ArmKey = tuple[str, str]
"""The name of an engine (or the prover), and its view: ``instance``, ``quotients``, ``proof``."""
PROVER = "prover"
"""The worker that looks for a proof that the best schedule is optimal."""
PROOF_ARM: ArmKey = (PROVER, "proof")


@dataclass(frozen=True)
class Contribution:
    """A better schedule or a better bound, and what found it.

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
class RunHistory:
    """What a strategy goes by.

    Attributes
    ----------
    ordered
        Whether messages are forwarded, so that steps have an order.
    provable
        Whether proofs are wanted.
    best, lower
        Steps of the best schedule, ``None`` without one, and the best bound.
    compiling
        Engines whose kernels are being compiled: they get no time slice until they are.
    finished
        Arms that have nothing left to do.
    contributions
        All so far, in their order.
    """

    ordered: bool
    provable: bool = True
    best: int | None = None
    lower: int = 1
    compiling: set[str] = field(default_factory=set)
    finished: set[ArmKey] = field(default_factory=set)
    contributions: list[Contribution] = field(default_factory=list)
    _gain: defaultdict[ArmKey, float] = field(default_factory=lambda: defaultdict(float))
    _seconds: defaultdict[ArmKey, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def gap(self) -> int | None:
        """Steps between the best schedule and the best bound."""
        return None if self.best is None else self.best - self.lower

    def sliced(self, arm: ArmKey, seconds: float) -> None:
        """Record the seconds of an arm's time slice."""
        self._seconds[arm] += seconds
        self._gain[arm] *= DECAY

    def contributed(self, arm: ArmKey, contribution: Contribution) -> None:
        """Record something new, and the share of the gap that it has closed."""
        before = self.gap
        self.best, self.lower = contribution.steps, max(self.lower, contribution.lower)
        after = self.gap
        if before is None or after is None:
            self._gain[arm] += 1.0
        elif before > 0:
            self._gain[arm] += max(0, before - after) / before
        self.contributions.append(contribution)

    def score(self, arm: ArmKey, prior: float) -> float:
        """Return the gain per second to expect of an arm.

        Parameters
        ----------
        prior
            The gain expected before the arm has contributed anything.
        """
        return (prior + self._gain[arm]) / (1.0 + self._seconds[arm])
