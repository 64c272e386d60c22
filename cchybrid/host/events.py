"""The events of a run: what workers send, and what the host adds.

Together they are all that decides a run; ``wire`` reads and writes them as lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.model import Steps
from cchybrid.plugin.engine import Stop

Option = int | float | bool | str
"""The value of an option."""


@dataclass(frozen=True)
class Started:
    """The engine begins to work; ``options`` are the ones in force, defaults included."""

    complete: bool | None = None
    options: Mapping[str, Option] = field(default_factory=dict)


@dataclass(frozen=True)
class Offer:
    """A schedule; ``spent`` evaluations so far; ``how`` it was found, such as by which quotient."""

    steps: Steps
    spent: int
    how: str


@dataclass(frozen=True)
class Suggest:
    """A near-solution of ``draft`` steps."""

    draft: int
    steps: Steps


@dataclass(frozen=True)
class Bound:
    """No schedule has fewer steps; ``complete``: the claim holds for the instance."""

    steps: int
    evidence: Mapping[str, Any] | None = None
    complete: bool = False
    provider: str = ""


@dataclass(frozen=True)
class Progress:
    """The fewest conflicts left in the search for so many steps."""

    steps: int
    conflicts: int


@dataclass(frozen=True)
class Note:
    """Figures of the search."""

    metrics: Mapping[str, float]


@dataclass(frozen=True)
class End:
    """The work is over; ``None`` where nothing was counted."""

    stop: Stop
    evaluations: int | None = None
    conflicts: int | None = None
    searched: float = 0.0


@dataclass(frozen=True)
class Unsupported:
    """The engine cannot work on this problem."""

    text: str


@dataclass(frozen=True)
class Refused:
    """The engine does not take its options."""

    text: str


@dataclass(frozen=True)
class Failed:
    """The engine raised an exception."""

    text: str


@dataclass(frozen=True)
class Trouble:
    """Something went wrong that does not end the work."""

    text: str


@dataclass(frozen=True)
class Silent:
    """The engine has not called ``Run`` for so many seconds of time that it had."""

    lasted: float


@dataclass(frozen=True)
class Overdue:
    """The engine did not return although it was asked to stop."""


# What the host adds: together with the above, all that decides a run.


@dataclass(frozen=True)
class Opened:
    """A worker was started.

    Parameters
    ----------
    name
        The engine, or what else works there.
    role
        ``engine``, ``options`` (asked only whether it takes them), ``bounds``, ``proof`` or
        ``host``.
    view
        ``instance`` or ``quotients``.
    proves
        Whether it may claim bounds.
    """

    name: str
    role: str
    view: str = "instance"
    proves: bool = False


@dataclass(frozen=True)
class Garbled:
    """A worker sent something that is no event."""

    text: str


@dataclass(frozen=True)
class Exited:
    """A worker process has ended.

    Parameters
    ----------
    how
        ``exit``, ``signal``, ``terminated`` (by the host) or ``killed`` (it ignored SIGTERM).
    code
        Exit status or signal.
    last_words
        The last line on its standard error.
    """

    how: str
    code: int = 0
    last_words: str = ""


@dataclass(frozen=True)
class Sliced:
    """A seat's time slice of so many seconds is over."""

    worked: float


@dataclass(frozen=True)
class Phased:
    """A phase begins with these engines."""

    engines: tuple[str, ...]


@dataclass(frozen=True)
class Compiling:
    """The kernels of these engines are being compiled; until then they get no time slice."""

    engines: tuple[str, ...]


@dataclass(frozen=True)
class Compiled:
    """The kernels of an engine are compiled, or could not be."""

    engine: str
    worked: float
    error: str = ""


@dataclass(frozen=True)
class Infeasible:
    """The instance has no schedule, by this checked evidence."""

    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Remarked:
    """Something that the user should know."""

    text: str


@dataclass(frozen=True)
class Finished:
    """The run is over."""

    interrupted: bool


Event = (
    Started | Offer | Suggest | Bound | Progress | Note | End | Unsupported | Refused | Failed
    | Trouble | Silent | Overdue | Opened | Garbled | Exited | Sliced | Phased | Compiling
    | Compiled | Infeasible | Remarked | Finished
)  # fmt: skip
