"""The base of the results of all kinds of runs: common attributes, and the verdict as text."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

MIN_OVERRUN_SECONDS, MIN_OVERRUN_SHARE = 1.0, 0.05
"""Seconds, and share of the time limit, up to which a run that took longer is not remarked on."""


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines, every column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]


@dataclass(frozen=True, kw_only=True, repr=False)
class RunResult(ABC):
    """The base of all results.

    Attributes
    ----------
    seconds
        Wall-clock seconds of the whole run.
    seed, budget, versions, options
        Settings of the run; ``options`` has the values in use, per engine or designer.
    troubles
        One line for each engine or plugin that failed, with its name, and for a log that could
        not be written.
    remarks
        One line for each engine that could not work, with the reason.
    interrupted
        Whether the user interrupted the run, or ended it by ``stop``.
    times
        Wall-clock seconds of the parts of the run, the longest first.
    start_seconds, search_seconds
        Seconds of each engine or designer, ``processor`` and ``wall``, without those in which it
        was paused: until its search began (start of the process, compilation, building the
        Problem), and of the search.
    """

    INTERRUPTED: ClassVar[str] = "interrupted: this is the best so far"

    seconds: float
    seed: int = 0
    budget: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    interrupted: bool = False
    times: Mapping[str, float] = field(default_factory=dict)
    start_seconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    search_seconds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The verdict in one line."""

    def details(self) -> list[str]:
        """Return further lines of the verdict: bounds, evidence, authors."""
        return []

    def contributed(self) -> list[str]:
        """Return a line for each engine and bound provider that contributed."""
        return []

    def lines(self, *, explain: bool = False) -> list[str]:
        """Return the lines that state the verdict, the troubles and the remarks.

        Parameters
        ----------
        explain
            Add the contributions of every engine.
        """
        lines = [self.sentence, *self.details()]
        if self.overrun:
            lines.append(self._overrun())
        if explain:
            lines += [f"  {line}" for line in self.contributed()]
        if self.interrupted:
            lines.append(self.INTERRUPTED)
        lines += [f"trouble: {text}" for text in self.troubles]
        return lines + [f"remark: {text}" for text in self.remarks]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.sentence}>"

    @property
    def overrun(self) -> float:
        """The seconds beyond the time limit; 0 up to a second, or 5 % of a longer limit."""
        limit = self.budget.get("seconds")
        if limit is None:
            return 0.0
        late = self.seconds - float(limit)
        return late if late > max(MIN_OVERRUN_SECONDS, MIN_OVERRUN_SHARE * limit) else 0.0

    def _overrun(self) -> str:
        """Return by how much the run took longer than asked, and where its time went."""
        limit = self.budget["seconds"]
        parts = ", ".join(
            f"{name} {seconds:.1f} s" for name, seconds in self.times.items() if seconds >= 0.05
        )
        text = f"took {self.overrun:.1f} s longer than the {limit:g} s asked"
        return f"{text}: {parts}" if parts else text

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object: what all results have."""
        return {
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "budget": dict(self.budget),
            "versions": dict(self.versions),
            "options": {name: dict(values) for name, values in self.options.items()},
            "troubles": list(self.troubles),
            "remarks": list(self.remarks),
            "interrupted": self.interrupted,
            "overrun": round(self.overrun, 3),
            "times": dict(self.times),
            "start_seconds": {name: dict(spent) for name, spent in self.start_seconds.items()},
            "search_seconds": {name: dict(spent) for name, spent in self.search_seconds.items()},
        }
