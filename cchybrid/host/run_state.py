"""The state of a run: everything known, changed by nothing but ``RunState.apply``.

``apply`` takes one event (what a worker sent, or what the host did) with its second and its seat,
verifies it, and returns what is to be done: what observers are told, what other workers are told,
which worker is to be ended. It reads no clock and no file and starts no process, so the same
events give the same state again: a run can be replayed from its log (``replay``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.host import events as ev
from cchybrid.host.blackboard import Blackboard, ContractError
from cchybrid.host.effort_counter import EffortCounter
from cchybrid.host.run_history import PROOF_ARM, ArmKey, Contribution, RunHistory
from cchybrid.host.wire import Line
from cchybrid.model import Instance, Schedule, Steps
from cchybrid.model.schedule import steps_to_json
from cchybrid.problem import is_ordered

HOST = 0
"""The seat of the host itself."""
HOST_GREEDY = "host greedy"
"""The name of the host's own schedule."""


@dataclass(frozen=True)
class Announce:
    """Tell observers an event."""

    event: str
    content: Mapping[str, Any]


@dataclass(frozen=True)
class Share:
    """Tell news to every worker but the seat that they came from."""

    line: Line
    author: int


@dataclass(frozen=True)
class Dismiss:
    """End the worker in this seat at once; what it still sends is dropped."""

    seat: int


Action = Announce | Share | Dismiss


@dataclass
class Seat:
    """What is known of one worker of the run; seats are numbered, and never used again.

    Attributes
    ----------
    started
        Its engine works, or has worked.
    heard
        It has sent something since it started.
    ended
        It said that it is done; what happens to its process afterwards is no crash.
    distrusted
        It broke the contract; whatever it still sends is ignored.
    silent
        Its engine does not call ``Run``.
    """

    opened: ev.Opened
    started: bool = False
    heard: bool = False
    ended: bool = False
    distrusted: bool = False
    silent: bool = False
    overdue: bool = False

    @property
    def title(self) -> str:
        """What people read: the engine, and on what it works."""
        opened = self.opened
        return f"{opened.name} on quotients" if opened.view == "quotients" else opened.name

    @property
    def arm(self) -> ArmKey:
        """What the history counts it under."""
        return self.opened.name, self.opened.view


@dataclass
class RunState:
    """The state of one run.

    Parameters
    ----------
    target
        The number of steps that the user asked for, or ``None``.
    provable
        Whether proofs are wanted.
    strategy
        Its name.

    Attributes
    ----------
    fallback
        The host's own schedule. Engines neither hear of it nor have to beat it, so that their
        search and what they share do not depend on it.
    offered
        Whether any engine has offered a valid schedule, of any number of steps.
    found_at, improved_at
        Seconds: when the best schedule was found, and when an engine last improved its own.
    refused
        Why an engine refuses its options, if one does.
    infeasible
        Evidence that there is no schedule, if there is none.
    options
        Per engine the options in force.
    """

    instance: Instance
    target: int | None = None
    provable: bool = True
    strategy: str = "auto"
    fallback: Schedule | None = None
    offered: bool = False
    found_at: float = 0.0
    improved_at: float = 0.0
    now: float = 0.0
    refused: str | None = None
    infeasible: Mapping[str, Any] | None = None
    interrupted: bool = False
    seats: dict[int, Seat] = field(default_factory=dict)
    options: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.board = Blackboard(self.instance)
        self.history = RunHistory(is_ordered(self.instance), provable=self.provable)
        self.effort = EffortCounter(self.target)
        self._refused_providers: set[str] = set()
        self._actions: list[Action] = []
        self.seats[HOST] = Seat(ev.Opened(HOST_GREEDY, "host"))

    @property
    def schedule(self) -> Schedule | None:
        """The best schedule, whether of an engine or of the host."""
        found = [each for each in (self.board.schedule, self.fallback) if each is not None]
        return min(found, key=lambda schedule: schedule.cost, default=None)

    @property
    def found_by(self) -> str:
        """What found the best schedule."""
        if self.schedule is None:
            return ""
        return self.board.found_by if self.schedule is self.board.schedule else HOST_GREEDY

    @property
    def best(self) -> int | None:
        """The steps of the best schedule."""
        return None if self.schedule is None else len(self.schedule.steps)

    @property
    def lower_by(self) -> str:
        """What showed the best lower bound; the checked one counts first."""
        claim = self.board.best_claim
        return self.board.certified_by if claim is None else self.seats[claim].title

    @property
    def closed(self) -> bool:
        """Whether the best schedule meets the best bound."""
        return self.best is not None and self.best <= self.board.lower

    @property
    def done(self) -> bool:
        """Whether engines have nothing left to do."""
        if self.refused is not None or self.closed:
            return True
        if self.target is None:
            return False
        return self.board.lower > self.target or (
            self.best is not None and self.best <= self.target
        )

    @property
    def settled(self) -> bool:
        """Whether the best schedule meets a bound whose evidence was checked."""
        return self.best is not None and self.best <= self.board.certified.steps

    def apply(self, now: float, seat: int, event: ev.Event) -> list[Action]:
        """Take in one event and return what is to be done.

        Parameters
        ----------
        now
            Seconds since the run began.
        seat
            The seat that the event is from, ``HOST`` for the host.
        """
        self.now = now
        self._actions = []
        if isinstance(event, ev.Opened):
            self.seats[seat] = Seat(event)
            if event.role == "engine":
                self.effort.begin(self.seats[seat].title)
            return self._actions
        place = self.seats[seat]
        if place.distrusted:
            return self._actions
        try:
            self._act_on(seat, place, event)
        except ContractError as error:
            self._distrust(seat, str(error))
        self.history.lower = self.board.lower  # a withdrawn claim lowers it, too
        return self._actions

    def _act_on(self, seat: int, place: Seat, event: ev.Event) -> None:
        name = place.title
        if not isinstance(event, ev.Started | ev.Silent):
            place.heard, place.silent = True, False
        match event:
            case ev.Offer(steps) if seat == HOST:
                self._take_fallback(place, steps)
            case ev.Offer():
                self._take_offer(seat, place, event)
            case ev.Suggest(draft, steps):
                if self.board.suggest(draft, steps):
                    self._announce("draft", engine=name, steps=draft)
                    self._share({"draft": draft, "steps": steps_to_json(steps)}, seat)
            case ev.Bound():
                self._take_bound(seat, place, event)
            case ev.Progress(steps, conflicts):
                self.effort.progress(steps, conflicts)
                self._announce("progress", engine=name, steps=steps, conflicts=conflicts)
            case ev.Note(metrics):
                self._announce("note", engine=name, metrics=dict(metrics))
            case ev.Started(complete, options):
                place.started = True
                if place.opened.role == "engine":
                    self.options[place.opened.name] = options
                self._announce("started", engine=name, complete=complete)
            case ev.End(stop):
                place.ended = True
                if stop != "limit" and place.opened.role != "options":
                    self.history.finished.add(place.arm)
                self.effort.end(name, event)
                self._announce("end", engine=name, stop=stop)
            case ev.Unsupported(text):
                place.ended = True
                self.history.finished.add(place.arm)
                # Under the other strategies an engine works on the instance, too.
                if place.opened.view != "quotients" or self.strategy == "quotients":
                    self.remarks.append(f"{name}: {text}")
                self._announce("unsupported", engine=name, text=text)
            case ev.Silent():
                place.silent = True
                self._announce("silent", engine=name)
            case ev.Overdue():
                place.overdue = True
            case ev.Refused(text):
                place.ended = True
                self.refused = text
            case ev.Failed(text):
                raise ContractError(f"failed: {text}")
            case ev.Trouble(text):
                self._trouble(text if seat == HOST else f"{name}: {text}")
            case ev.Garbled(text):
                raise ContractError(text)
            case ev.Exited():
                self._take_exit(place, event)
            case ev.Sliced(worked):
                self.history.sliced(place.arm, worked)
            case ev.Phased(engines):
                self._announce("phase", engines=list(engines))
            case ev.Compiling(engines):
                self.history.compiling |= set(engines)
                self._announce("compiling", engines=list(engines))
            case ev.Compiled(engine, worked, error):
                self.history.compiling.discard(engine)
                self._announce("compiled", engine=engine, worked=worked, error=error)
            case ev.Infeasible(evidence):
                self.infeasible = evidence
                self._announce("infeasible", evidence=dict(evidence))
            case ev.Remarked(text):
                self.remarks.append(text)
            case ev.Finished(interrupted):
                self.interrupted = interrupted

    def _take_fallback(self, place: Seat, steps: Steps) -> None:
        """Verify the host's schedule on a blackboard of its own, and keep it."""
        board = Blackboard(self.instance)
        if board.offer(place.title, steps, self.target):
            self.fallback, self.found_at = board.schedule, self.now
            lower = self.board.lower
            self._announce("schedule", engine=place.title, steps=len(steps), lower=lower, how="")

    def _take_offer(self, seat: int, place: Seat, event: ev.Offer) -> None:
        board, name = self.board, place.title
        better = board.offer(name, event.steps, self.target)
        self.offered = True
        if not better:
            return
        best = len(event.steps)
        self.effort.best(name, event.spent, self.done)
        self.improved_at = self.now
        if self.schedule is board.schedule:
            self.found_at = self.now
            self._announce("schedule", engine=name, steps=best, lower=board.lower, how=event.how)
        self._contributed(place, name, "schedule", event.how)
        self.history.finished.discard(PROOF_ARM)
        self._share({"best": best, "steps": steps_to_json(event.steps)}, seat)
        for liar in board.refuted_claims():
            self._distrust(liar, f"claimed a bound that a schedule of {best} steps beats")

    def _take_bound(self, seat: int, place: Seat, event: ev.Bound) -> None:
        board, steps, evidence = self.board, event.steps, event.evidence
        author = event.provider or place.title
        if author in self._refused_providers:
            return
        if evidence is not None:
            try:
                better = board.prove(author, steps, evidence)
            except ContractError as error:
                if place.opened.role not in ("bounds", "proof"):
                    raise
                # Providers share a worker: the others must not suffer for this one.
                self._refused_providers.add(author)
                self._trouble(f"bound {author}: {error}")
                return
        elif not place.opened.proves:
            raise ContractError("claimed a bound although it is not registered as exact")
        elif event.complete:
            if self.best is not None and steps > self.best:
                raise ContractError(
                    f"claimed a bound of {steps} steps, but a verified schedule has {self.best}"
                )
            better = board.claim(seat, steps)
        else:
            return  # true of the sampled paths only: of no use to others
        if better:
            certified = board.certified.steps >= board.lower
            self._announce("bound", engine=author, steps=board.lower, certified=certified)
            self._contributed(place, author, "bound", checked=evidence is not None)
            self._share({"lower": board.lower}, seat)

    def _contributed(
        self, place: Seat, author: str, what: str, how: str = "", *, checked: bool = False
    ) -> None:
        board = self.board
        # A proof of less than what is claimed counts as what it proves.
        lower = board.certified.steps if checked else board.lower
        certified = board.certified.steps >= lower
        entry = Contribution(round(self.now, 3), author, how, what, board.best, lower, certified)
        self.history.contributed(place.arm, entry)

    def _take_exit(self, place: Seat, event: ev.Exited) -> None:
        if place.overdue:
            self._trouble(f"{place.title}: did not stop when asked; terminated")
        elif place.ended:
            return
        elif event.how == "killed":
            self.history.finished.add(place.arm)
            self._trouble(f"{place.title}: did not stop when asked and ignored SIGTERM; killed")
        elif event.how == "terminated":
            if not place.started and not self.done:
                self.remarks.append(f"{place.title}: was still starting when its time was up")
        else:
            self.history.finished.add(place.arm)
            how = f"{event.how} {event.code}"
            words = f": {event.last_words}" if event.last_words else ""
            self._trouble(f"{place.title}: crashed ({how}){words}")

    def _distrust(self, seat: int, reason: str) -> None:
        """End a worker that broke its contract, and withdraw what rests on its word."""
        place = self.seats[seat]
        place.distrusted = True
        if self.board.claims.pop(seat, None) is not None:
            self._share({"lower": self.board.lower}, seat)
        self.history.finished.add(place.arm)
        self._trouble(f"{place.title}: {reason}")
        self._actions.append(Dismiss(seat))

    def _trouble(self, text: str) -> None:
        self.troubles.append(text)
        self._announce("trouble", text=text)

    def _announce(self, event: str, **content: Any) -> None:
        self._actions.append(Announce(event, content))

    def _share(self, line: Line, author: int) -> None:
        self._actions.append(Share(line, author))
