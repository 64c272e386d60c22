"""The history of a run: the cost and the contributions of every arm, and its score.

An arm is an engine on the instance, an engine on quotients, or the prover. Strategies read the
history; the strategy ``auto`` gives the next time slice to the arms with the best score
(``strategies``). The score is the share of the gap between schedule and bound that an arm closes
per second, with recent gains weighted more:

1. A contribution that reduces the gap from g to h adds (g - h) / g to the arm's gain. The first
   schedule adds 1.
2. At the end of each of its time slices, the arm's gain is halved and its seconds are added up.
3. The score is (prior + gain) / (1 + seconds).
"""

from collections import defaultdict
from copy import copy
from dataclasses import asdict, dataclass, field
from typing import Any

from cchybrid.model.shown import counted
from cchybrid.plugin.strategy import PROVER, ArmKey

DECAY = 0.5
"""Factor of an arm's gain after each of its time slices."""

PROOF_ARM: ArmKey = (PROVER, "proof")
"""Key of the prover."""


@dataclass(frozen=True)
class Contribution:
    """A better schedule, a better bound, or a near-solution, and the worker that found it.

    Parameters
    ----------
    seconds
        Seconds since the start of the run.
    author
        The engine or the bound provider.
    how
        How it was found, such as ``quotient by a group of order 4``, or "".
    what
        ``schedule``, ``bound``, or ``draft``: a near-solution, which ``how`` describes.
    steps, lower
        Steps of the best schedule (``None`` without one) and the best bound at that time.
    certified
        Whether the evidence of the bound was checked.
    seeded_by
        The engine whose schedule or near-solution the search started from, or "".
    """

    seconds: float
    author: str
    how: str
    what: str
    steps: int | None
    lower: int
    certified: bool
    seeded_by: str = ""

    def __str__(self) -> str:
        """Return the contribution as text, such as ``tabu: 8 steps``."""
        if self.what == "bound":
            sure = "certified" if self.certified else "claimed"
            return f"{self.author}: at least {counted(self.lower, 'step')}, {sure}"
        if self.what == "draft":
            return f"{self.author}: near-solution of {self.how}"
        how = f" ({self.how})" if self.how else ""
        return f"{self.author}: {counted(self.steps or 0, 'step')}{how}"

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``cchybrid solve --json`` prints."""
        return asdict(self)


@dataclass
class RunHistory:
    """The state of a run as strategies see it, see ``cchybrid.plugin.strategy.History``.

    Attributes
    ----------
    ordered
        Whether some delivery requires another, so that the order of the steps matters.
    hop_by_hop
        Whether switching is store-and-forward.
    deliveries
        The number of required deliveries.
    provable
        Whether the prover may take part.
    best, lower
        Steps of the engines' best schedule (the host's own does not count), ``None`` without one,
        and the best bound.
    gains
        The number of better schedules, bounds and near-solutions so far.
    asymmetric
        Whether no symmetry of the instance was found, so that no arm can work on quotients.
    compiling
        Engines whose kernels are being compiled; they get no time slice until then.
    finished
        Arms that have nothing left to do.
    contributions
        All contributions, in order.
    """

    ordered: bool
    deliveries: int = 0
    provable: bool = True
    hop_by_hop: bool = False
    best: int | None = None
    lower: int = 1
    gains: int = 0
    asymmetric: bool = False
    compiling: set[str] = field(default_factory=set)
    finished: set[ArmKey] = field(default_factory=set)
    contributions: list[Contribution] = field(default_factory=list)
    _gain: defaultdict[ArmKey, float] = field(default_factory=lambda: defaultdict(float))
    _seconds: defaultdict[ArmKey, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def gap(self) -> int | None:
        """Steps between the best schedule and the best bound."""
        return None if self.best is None else self.best - self.lower

    def gain(self, arm: ArmKey) -> float:
        """Return the decayed sum of the shares of the gap that an arm has closed."""
        return self._gain.get(arm, 0.0)

    def worked(self, arm: ArmKey) -> float:
        """Return the seconds of all time slices of an arm."""
        return self._seconds.get(arm, 0.0)

    def sliced(self, arm: ArmKey, seconds: float) -> None:
        """Record the end of a time slice of this many seconds."""
        self._seconds[arm] += seconds
        self._gain[arm] *= DECAY

    def contributed(self, arm: ArmKey, contribution: Contribution) -> None:
        """Record a contribution, and the share of the gap that it has closed."""
        before = self.gap
        self.gains += 1
        self.best, self.lower = contribution.steps, max(self.lower, contribution.lower)
        after = self.gap
        if before is None or after is None:
            self._gain[arm] += 1.0
        elif before > 0:
            self._gain[arm] += max(0, before - after) / before
        self.contributions.append(contribution)

    def drafted(self, draft: Contribution, *, is_gain: bool = True) -> None:
        """Record a near-solution; of those of one engine only the last is kept.

        It is a gain if it violates fewer rules than those of all engines before.
        """
        self.gains += is_gain
        self.contributions = [
            each
            for each in self.contributions
            if (each.author, each.what) != (draft.author, "draft")
        ]
        self.contributions.append(draft)

    def score(self, arm: ArmKey, prior: float) -> float:
        """Return the expected gain per second of an arm.

        Parameters
        ----------
        prior
            The gain per second that is expected before the arm has contributed anything.
        """
        return (prior + self._gain[arm]) / (1.0 + self._seconds[arm])


class HistoryView:
    """A view of a history for strategies: the history cannot be changed through it."""

    def __init__(self, history: RunHistory) -> None:
        self._history = history

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._history, name)
        return copy(value) if isinstance(value, set | list) else value
