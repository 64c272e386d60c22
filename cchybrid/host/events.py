"""The events of a run: events that workers send, and events that the host adds.

The events determine the state of a run (``Task``). ``wire`` reads and writes them as lines, in
which the name of an event is that of its class in lower case.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.model import Steps, Sums
from cchybrid.plugin.engine import Stop

Option = int | float | bool | str
"""The value of an option."""


@dataclass(frozen=True)
class Started:
    """The engine starts to search.

    Parameters
    ----------
    complete
        Whether its Problem lists every option that the instance allows.
    options
        The options in use, defaults included.
    """

    complete: bool | None = None
    options: Mapping[str, Option] = field(default_factory=dict)


@dataclass(frozen=True)
class Offer:
    """A schedule.

    Parameters
    ----------
    spent
        Evaluations so far.
    how
        How it was found, such as by which quotient or from which seed, or "".
    seeded_by
        The engine whose schedule or near-solution the search started from, or "".
    sums
        The sums of the transfers of an allreduce or a scan, as in ``Schedule.sums``.
    rounds
        The rounds of the steps, where they are chosen.
    """

    steps: Steps
    spent: int
    how: str
    seeded_by: str = ""
    sums: Sums = ()
    rounds: tuple[int, ...] = ()


@dataclass(frozen=True)
class Suggest:
    """A near-solution of ``draft`` steps."""

    draft: int
    steps: Steps


@dataclass(frozen=True)
class Bound:
    """A lower bound; ``complete``: even without evidence it holds for the instance."""

    steps: int
    evidence: Mapping[str, Any] | None = None
    complete: bool = False
    provider: str = ""


@dataclass(frozen=True)
class Progress:
    """The fewest conflicts left in a search for ``steps`` steps."""

    steps: int
    conflicts: int


@dataclass(frozen=True)
class Note:
    """Figures of the search."""

    metrics: Mapping[str, float]


@dataclass(frozen=True)
class End:
    """The work is over; fields are ``None`` if nothing was counted."""

    stop: Stop
    evaluations: int | None = None
    conflicts: int | None = None


@dataclass(frozen=True)
class _Text:
    text: str


@dataclass(frozen=True)
class Unsupported(_Text):
    """The engine cannot work on this problem.

    ``asymmetric``: because it was to work on quotients, and no symmetry of the instance was found
    (there is none, or the instance is too large to look for one).
    """

    asymmetric: bool = False


class Refused(_Text):
    """The engine rejects its options."""


class Failed(_Text):
    """The engine raised an exception."""


class Trouble(_Text):
    """An error that does not end the work."""


class Remarked(_Text):
    """A remark for the user."""


@dataclass(frozen=True)
class Silent:
    """The engine has not called ``Run`` for ``lasted`` seconds."""

    lasted: float


@dataclass(frozen=True)
class Overdue:
    """The engine did not return although it was asked to stop."""


@dataclass(frozen=True)
class Designed:
    """A network by its links, and its cost; ``spent``: evaluations so far."""

    links: tuple[tuple[int, int], ...]
    cost: float
    spent: int


@dataclass(frozen=True)
class Spent:
    """The processor and wall-clock seconds of a worker that has ended, without pauses.

    ``start``: until its search began; ``search``: of its search.
    """

    start_processor: float
    start_wall: float
    search_processor: float
    search_wall: float


WorkerEvent = (
    Started | Offer | Suggest | Bound | Progress | Designed | Note | End | Unsupported | Refused
    | Failed | Trouble | Remarked | Silent | Overdue | Spent
)  # fmt: skip
"""The events that a worker may send."""


@dataclass(frozen=True)
class Opened:
    """A worker was started.

    Every worker of a run has a number of its own, its *seat*; seat 0 is the host.

    Parameters
    ----------
    name
        The engine, bound provider or prover.
    role
        ``engine``, ``options`` (only checks its options), ``bounds``, ``proof`` or ``host``.
    view
        ``instance``, ``quotients`` or ``proof``.
    proves
        Whether it may claim bounds without evidence.
    """

    name: str
    role: str
    view: str = "instance"
    proves: bool = False


class Garbled(_Text):
    """A worker sent a line that is no event."""


@dataclass(frozen=True)
class Exited:
    """A worker process has ended.

    Parameters
    ----------
    how
        ``exit``, ``signal``, ``terminated`` (by the host), ``killed`` (it ignored SIGTERM) or
        ``memory`` (ended by the host, as the run needed too much).
    code
        Exit status, signal, or the memory limit of the run in MiB.
    last_words
        The last line on its standard error.
    """

    how: str
    code: int = 0
    last_words: str = ""


@dataclass(frozen=True)
class Sliced:
    """The time slice of a worker is over, after ``worked`` seconds."""

    worked: float


@dataclass(frozen=True)
class Phased:
    """A phase begins with these engines."""

    engines: tuple[str, ...]


@dataclass(frozen=True)
class Compiling:
    """The kernels of these engines are being compiled; they get no time slice until then."""

    engines: tuple[str, ...]


@dataclass(frozen=True)
class Compiled:
    """The compilation of an engine's kernels has ended, after ``worked`` seconds.

    ``error`` says why it failed, or is "". ``late``: it is left to the engine's worker.
    """

    engine: str
    worked: float
    error: str = ""
    late: bool = False


@dataclass(frozen=True)
class Infeasible:
    """The instance has no schedule; the evidence was checked."""

    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Finished:
    """The run is over; ``times``: the seconds of its parts."""

    interrupted: bool
    times: Mapping[str, float] = field(default_factory=dict)


HostEvent = (
    Opened | Garbled | Exited | Sliced | Phased | Compiling | Compiled | Infeasible | Finished
)  # fmt: skip
"""The events that only the host adds."""

Event = WorkerEvent | HostEvent
