"""The task of a run: what it works on, and its state, changed only by ``Task.apply``.

``apply`` takes one event of a worker or of the host, with its time and its seat, verifies it and
returns actions: announce an event to observers, share news with other workers, dismiss a worker.
It reads no clock and no file and starts no process, so the same events always lead to the same
state, and a run can be replayed from its log (``replay``).

What is the same for all runs is dealt with here: workers that start, end, crash or break their
contract. A kind of task adds what an offer is and how it is verified, what is better, what ends the
run, and the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from cchybrid.host import events as ev
from cchybrid.host.engine_seconds import Seconds, add_seconds
from cchybrid.host.run_history import RunHistory
from cchybrid.host.run_result import RunResult
from cchybrid.host.wire import Line
from cchybrid.model import Instance
from cchybrid.plugin.strategy import Arm, ArmKey, Phase

if TYPE_CHECKING:
    from cchybrid.host.run_config import RunConfig

HOST = 0
"""The seat of the host itself."""


class ContractError(Exception):
    """A report of a worker is false; the text says what."""


@dataclass(frozen=True)
class Announce:
    """Announce an event to observers."""

    event: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Share:
    """Share news with every worker except the author's seat."""

    line: Line
    author: int


@dataclass(frozen=True)
class Dismiss:
    """End the worker in this seat at once; its later events are ignored."""

    seat: int


Action = Announce | Share | Dismiss


@dataclass
class WorkerState:
    """The state of one worker; a seat is a number that is never used again.

    Attributes
    ----------
    opened
        The event with which the worker was started.
    started
        Whether its engine has started to search.
    has_sent
        Whether it has sent an event other than ``Started`` and ``Silent``.
    ended
        Whether it has reported its end; the end of its process afterwards is no crash.
    distrusted
        Whether it broke the contract; its later events are ignored.
    silent
        Whether its engine has not called ``Run`` for some seconds.
    overdue
        Whether its engine did not return when asked to stop.
    finished
        Whether it ended by itself: no limit ended it.
    """

    opened: ev.Opened
    started: bool = False
    has_sent: bool = False
    ended: bool = False
    distrusted: bool = False
    silent: bool = False
    overdue: bool = False
    finished: bool = False

    @property
    def title(self) -> str:
        """The name for messages: the engine, and what it works on."""
        opened = self.opened
        return f"{opened.name} on quotients" if opened.view == "quotients" else opened.name

    @property
    def arm(self) -> ArmKey:
        """The key of its arm in the run history."""
        return self.opened.name, self.opened.view


class Host(Protocol):
    """The clock of a run, for what a task does before any worker is started."""

    def now(self) -> float:
        """Return the seconds since the start of the run."""

    def part(self, name: str) -> AbstractContextManager[None]:
        """Count the time of a block for a part of the run of this name."""

    def should_stop(self) -> bool:
        """Return whether to give up; called every few milliseconds."""


class Task(ABC):
    """The task and the state of one run.

    Parameters
    ----------
    history
        The state of the arms.
    strategy
        The name of the strategy.
    host
        The name under which the host's own findings are reported.

    Attributes
    ----------
    name
        The name for observers.
    record
        The JSON object for workers and the log: the instance or the design task.
    own_events
        The kinds of events that ``take`` deals with.
    run_class
        The class that does the jobs in worker processes, as ``package.module:Class``.
    max_start_seconds
        Seconds of work after which a worker that has not started is ended, and whose waiting does
        not count in the time limit; ``None``: such a worker only loses its time slice.
    shared
        The instance whose Problem workers need, or ``None``.
    offered
        Whether any worker has offered a valid answer.
    found_at, improved_at
        Seconds at which the best answer was found, and at which the workers' best answer was last
        improved.
    refused
        The error in an engine's options, or ``None``.
    infeasible
        Evidence that there is no answer, or ``None``.
    options
        The options in use, per engine.
    start_seconds, search_seconds
        The seconds of each engine.
    """

    name: str
    record: Mapping[str, Any]
    own_events: ClassVar[tuple[type, ...]] = ()
    run_class: ClassVar[str]
    max_start_seconds: ClassVar[float | None] = None
    shared: Instance | None = None

    def __init__(self, history: RunHistory, strategy: str = "auto", host: str = "host") -> None:
        self.history = history
        self.strategy = strategy
        self.now = 0.0
        self.offered = False
        self.improved_at = 0.0
        self.refused: str | None = None
        self.infeasible: Mapping[str, Any] | None = None
        self.interrupted = False
        self.seats = {HOST: WorkerState(ev.Opened(host, "host"))}
        self.options: dict[str, Mapping[str, Any]] = {}
        self.start_seconds: Seconds = {}
        self.search_seconds: Seconds = {}
        self.troubles: list[str] = []
        self.remarks: list[str] = []
        self.times: Mapping[str, float] = {}
        self._actions: list[Action] = []

    # What a kind of task adds

    def start(self, config: RunConfig, host: Host) -> Iterator[tuple[ev.Opened | None, ev.Event]]:
        """Yield what is known before any worker: its author (``None``: the host), and the event."""
        yield from ()

    @abstractmethod
    def take(self, seat: int, worker: WorkerState, event: ev.Event) -> None:
        """Verify an event of one of ``own_events``, compare, announce and share.

        Raises
        ------
        ContractError
            The event says what is false.
        """

    @property
    @abstractmethod
    def is_settled(self) -> bool:
        """Whether engines have nothing left to do: best meets bound, target or claim."""

    @property
    def is_certified(self) -> bool:
        """Whether no better bound is waited for."""
        return self.is_settled

    @property
    def found_at(self) -> float:
        """Seconds at which the best answer was found."""
        return 0.0

    @property
    def claimed(self) -> int | None:
        """A bound that only an engine claims, to be proven, or ``None``."""
        return None

    @property
    def proof_goal(self) -> int:
        """The bound that the prover tries to prove when it gets a time slice."""
        return 1

    def gain(self, seat: int) -> float:
        """Return what a worker has gained: those of least gain are ended first for memory."""
        return self.history.gain(self.seats[seat].arm)

    @abstractmethod
    def news(self) -> list[Line]:
        """Return what is known as news for a new worker."""

    def job(self, config: RunConfig, arm: Arm | None = None) -> Line:
        """Return further entries of the job of a worker, or of one with an arm."""
        return {}

    def bound_jobs(self, config: RunConfig) -> dict[str, Line]:
        """Return the jobs of workers that look for bounds, by the names of the workers."""
        return {}

    @abstractmethod
    def phases(self, config: RunConfig) -> Iterator[Phase]:
        """Yield the phases of the search."""

    @abstractmethod
    def result(self, config: RunConfig, observer_troubles: Sequence[str] = ()) -> RunResult:
        """Return the result of the run; ``observer_troubles``: a line for each that raised."""

    def common(
        self,
        config: RunConfig,
        observer_troubles: Sequence[str],
        options: Mapping[str, Mapping[str, Any]],
    ) -> dict[str, Any]:
        """Return the attributes that all results have, with these options in use."""
        return {
            "seconds": self.now,
            "seed": config.seed,
            "budget": config.budget.to_json(),
            "versions": config.versions,
            "options": options,
            "troubles": (*self.troubles, *observer_troubles),
            "remarks": tuple(self.remarks),
            "interrupted": self.interrupted,
            "times": self.times,
            "start_seconds": self.start_seconds,
            "search_seconds": self.search_seconds,
        }

    def ended(self, worker: WorkerState, event: ev.End) -> None:
        """Take note of the effort of a worker that has ended."""
        return

    def withdraw(self, seat: int) -> None:
        """Withdraw what a worker claims that has broken its contract."""
        return

    # What is the same for all

    @property
    def done(self) -> bool:
        """Whether engines have nothing left to do."""
        return self.refused is not None or self.infeasible is not None or self.is_settled

    def apply(self, now: float, seat: int, event: ev.Event) -> list[Action]:
        """Apply one event and return the actions that follow.

        Parameters
        ----------
        now
            Seconds since the start of the run.
        seat
            The seat of the worker, or ``HOST``.
        """
        self.now = now
        self._actions = []
        if isinstance(event, ev.Opened):
            self.seats[seat] = WorkerState(event)
            self.opened(self.seats[seat])
            return self._actions
        worker = self.seats[seat]
        if isinstance(event, ev.Spent) and worker.opened.role == "engine":
            worker.started |= event.search_wall > 0  # on other machines
            title = worker.title
            add_seconds(self.start_seconds, title, event.start_processor, event.start_wall)
            if worker.started:
                add_seconds(self.search_seconds, title, event.search_processor, event.search_wall)
        if worker.distrusted or isinstance(event, ev.Spent):
            return self._actions
        if not isinstance(event, ev.Started | ev.Silent):
            worker.has_sent, worker.silent = True, False
        try:
            if isinstance(event, self.own_events):
                self.take(seat, worker, event)
            else:
                self._act_on(seat, worker, event)
        except ContractError as error:
            self._distrust(seat, str(error))
        self.applied()
        return self._actions

    def opened(self, worker: WorkerState) -> None:
        """Take note of a new worker."""
        return

    def applied(self) -> None:
        """Take note that an event has been dealt with."""
        return

    def _act_on(self, seat: int, worker: WorkerState, event: ev.Event) -> None:
        name = worker.title
        match event:
            case ev.Note(metrics):
                self._announce("note", engine=name, metrics=dict(metrics))
            case ev.Started(complete, options):
                worker.started = True
                if worker.opened.role == "engine":
                    self.options[worker.opened.name] = options
                self._announce("started", engine=name, complete=complete)
            case ev.End(stop):
                worker.ended = True
                if stop != "limit" and worker.opened.role != "options":
                    self._finish(worker)
                self.ended(worker, event)
                self._announce("end", engine=name, stop=stop)
            case ev.Unsupported(text, asymmetric):
                worker.ended = True
                self.history.asymmetric |= asymmetric and worker.opened.view == "quotients"
                self._finish(worker)
                # Under other strategies the engine also works on the instance.
                if worker.opened.view != "quotients" or self.strategy == "quotients":
                    self.remarks.append(f"{name}: {text}")
                self._announce("unsupported", engine=name, text=text)
            case ev.Silent():
                worker.silent = True
                self._announce("silent", engine=name)
            case ev.Overdue():
                worker.overdue = True
            case ev.Refused(text) if worker.opened.role == "options":
                worker.ended = True
                self.refused = text
            case ev.Failed(text) | ev.Refused(text):
                raise ContractError(f"failed: {text}")
            case ev.Trouble(text):
                self._trouble(text if seat == HOST else f"{name}: {text}")
            case ev.Garbled(text):
                raise ContractError(text)
            case ev.Exited():
                self._take_exit(worker, event)
            case ev.Sliced(worked):
                self.history.sliced(worker.arm, worked)
            case ev.Phased(engines):
                self._announce("phase", engines=list(engines))
            case ev.Compiling(engines):
                self.history.compiling |= set(engines)
                self._announce("compiling", engines=list(engines))
            case ev.Compiled(engine, worked, error, late):
                self.history.compiling.discard(engine)
                self._announce("compiled", engine=engine, worked=worked, error=error)
                if late:
                    text = "the machine is busy; it compiles its kernels when it starts"
                    self.remarks.append(f"{engine}: {text}")
                if error:
                    self.history.finished |= {(engine, "instance"), (engine, "quotients")}
                    self._trouble(f"{engine}: could not be prepared: {error}")
            case ev.Infeasible(evidence):
                self.infeasible = evidence
                self._announce("infeasible", evidence=dict(evidence))
            case ev.Remarked(text):
                text = text if seat == HOST else f"{name}: {text}"
                if text not in self.remarks:
                    self.remarks.append(text)
            case ev.Finished(interrupted, times):
                self.interrupted, self.times = interrupted, times
            case _:
                raise ContractError(f"sent an unknown event '{type(event).__name__.lower()}'")

    def _take_exit(self, worker: WorkerState, event: ev.Exited) -> None:
        if worker.overdue:
            self._trouble(f"{worker.title}: did not stop when asked; terminated")
        elif worker.ended:
            return
        elif event.how == "killed":
            self.history.finished.add(worker.arm)
            if not self.done:  # otherwise it was given no time, and nothing is lost
                text = "did not stop when asked and ignored SIGTERM; killed"
                self._trouble(f"{worker.title}: {text}")
        elif event.how == "memory":
            self._finish(worker)
            self._trouble(
                f"{worker.title}: ended, as the run exceeded {event.code:,} MiB of memory"
            )
        elif event.how == "terminated":
            if not worker.started and not self.done:
                self.remarks.append(f"{worker.title}: was still starting when its time was up")
        else:
            self._finish(worker)
            how = f"{event.how} {event.code}"
            words = f": {event.last_words}" if event.last_words else ""
            self._trouble(f"{worker.title}: crashed ({how}){words}")

    def _finish(self, worker: WorkerState) -> None:
        worker.finished = True
        self.history.finished.add(worker.arm)

    def _distrust(self, seat: int, reason: str) -> None:
        """End a worker that broke its contract, and withdraw its claims."""
        worker = self.seats[seat]
        worker.distrusted = True
        self.withdraw(seat)
        self._finish(worker)
        self._trouble(f"{worker.title}: {reason}")
        self._actions.append(Dismiss(seat))

    def _trouble(self, text: str) -> None:
        self.troubles.append(text)
        self._announce("trouble", text=text)

    def _announce(self, event: str, **content: Any) -> None:
        self._actions.append(Announce(event, content))

    def _share(self, line: Line, author: int) -> None:
        self._actions.append(Share(line, author))
