"""The state of a run, changed only by ``RunState.apply``.

``apply`` takes one event of a worker or of the host, with its time and its seat, verifies it and
returns actions: announce an event to observers, share news with other workers, dismiss a worker.
It reads no clock and no file and starts no process, so the same events always lead to the same
state, and a run can be replayed from its log (``replay``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.host import events as ev
from cchybrid.host.blackboard import Blackboard, ContractError
from cchybrid.host.effort_counter import EffortCounter
from cchybrid.host.run_history import PROOF_ARM, ArmKey, Contribution, RunHistory
from cchybrid.host.wire import Line, encode_steps
from cchybrid.model import Instance, Schedule, Steps
from cchybrid.problem import count_deliveries, is_ordered

HOST = 0
"""The seat of the host itself."""
HOST_GREEDY = "host greedy"
"""Name under which the host's own schedule is reported."""


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
    """

    opened: ev.Opened
    started: bool = False
    has_sent: bool = False
    ended: bool = False
    distrusted: bool = False
    silent: bool = False
    overdue: bool = False

    @property
    def title(self) -> str:
        """The name for messages: the engine, and what it works on."""
        opened = self.opened
        return f"{opened.name} on quotients" if opened.view == "quotients" else opened.name

    @property
    def arm(self) -> ArmKey:
        """The key of its arm in the run history."""
        return self.opened.name, self.opened.view


@dataclass
class RunState:
    """The state of one run.

    Parameters
    ----------
    target
        The user's number of steps, or ``None`` for the fewest.
    provable
        Whether the prover may take part.
    strategy
        The name of the strategy.

    Attributes
    ----------
    fallback
        The host's own schedule. It is not shared with engines, so that their search does not
        depend on it.
    offered
        Whether any engine has offered a valid schedule, of any number of steps.
    found_at, improved_at
        Seconds at which the best schedule was found, and at which the engines' best schedule was
        last improved.
    refused
        The error in an engine's options, or ``None``.
    infeasible
        Evidence that there is no schedule, or ``None``.
    options
        The options in use, per engine.
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
    seats: dict[int, WorkerState] = field(default_factory=dict)
    options: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    times: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blackboard = Blackboard(self.instance)
        self.history = RunHistory(
            is_ordered(self.instance), count_deliveries(self.instance), self.provable
        )
        self.effort = EffortCounter(self.target)
        self._refused_providers: set[str] = set()
        self._actions: list[Action] = []
        self.seats[HOST] = WorkerState(ev.Opened(HOST_GREEDY, "host"))

    @property
    def schedule(self) -> Schedule | None:
        """The best schedule of an engine or of the host."""
        found = [each for each in (self.blackboard.schedule, self.fallback) if each is not None]
        return min(found, key=lambda schedule: schedule.cost, default=None)

    @property
    def found_by(self) -> str:
        """The name of the engine or host that found the best schedule, or ""."""
        if self.schedule is None:
            return ""
        by_engine = self.schedule is self.blackboard.schedule
        return self.blackboard.found_by if by_engine else HOST_GREEDY

    @property
    def best(self) -> int | None:
        """The steps of the best schedule."""
        return None if self.schedule is None else len(self.schedule.steps)

    @property
    def lower_by(self) -> str:
        """The name of the worker or provider of the best bound, a checked one in case of a tie."""
        claim = self.blackboard.best_claim
        return self.blackboard.certified_by if claim is None else self.seats[claim].title

    @property
    def is_optimal(self) -> bool:
        """Whether the best schedule meets the best bound, certified or claimed."""
        return self.best is not None and self.best <= self.blackboard.lower

    @property
    def done(self) -> bool:
        """Whether engines have nothing left to do."""
        if self.refused is not None or self.is_optimal:
            return True
        if self.target is None:
            return False
        return self.blackboard.lower > self.target or (
            self.best is not None and self.best <= self.target
        )

    @property
    def is_certified(self) -> bool:
        """Whether the best schedule meets a bound whose evidence was checked."""
        return self.best is not None and self.best <= self.blackboard.certified.steps

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
            if event.role == "engine":
                self.effort.start(self.seats[seat].title)
            return self._actions
        worker = self.seats[seat]
        if worker.distrusted:
            return self._actions
        try:
            self._act_on(seat, worker, event)
        except ContractError as error:
            self._distrust(seat, str(error))
        # A withdrawn claim decreases the bound.
        self.history.lower = self.blackboard.lower
        return self._actions

    def _act_on(self, seat: int, worker: WorkerState, event: ev.Event) -> None:
        name = worker.title
        if not isinstance(event, ev.Started | ev.Silent):
            worker.has_sent, worker.silent = True, False
        match event:
            case ev.Offer(steps) if seat == HOST:
                self._take_fallback(worker, steps)
            case ev.Offer():
                self._take_offer(seat, worker, event)
            case ev.Suggest(draft, steps):
                if self.blackboard.suggest(name, draft, steps):
                    self._take_draft(seat, name, draft)
            case ev.Bound():
                self._take_bound(seat, worker, event)
            case ev.Progress(steps, conflicts):
                self.effort.progress(steps, conflicts)
                self._announce("progress", engine=name, steps=steps, conflicts=conflicts)
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
                    self.history.finished.add(worker.arm)
                self.effort.end(name, event)
                self._announce("end", engine=name, stop=stop)
            case ev.Unsupported(text, asymmetric):
                worker.ended = True
                self.history.asymmetric |= asymmetric and worker.opened.view == "quotients"
                self.history.finished.add(worker.arm)
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
                self.remarks.append(text)
            case ev.Finished(interrupted, times):
                self.interrupted, self.times = interrupted, times

    def _take_fallback(self, worker: WorkerState, steps: Steps) -> None:
        """Verify the host's schedule on a separate blackboard, and keep it."""
        blackboard = Blackboard(self.instance)
        if blackboard.offer(worker.title, steps, self.target):
            self.fallback, self.found_at = blackboard.schedule, self.now
            lower = self.blackboard.lower
            self._announce("schedule", engine=worker.title, steps=len(steps), lower=lower, how="")
            self._refute_claims()

    def _refute_claims(self) -> None:
        """End the workers that claim more steps than the best schedule has."""
        if self.best is None:
            return
        for claimant in self.blackboard.refuted_claims(self.best):
            self._distrust(claimant, f"claimed a bound that a schedule of {self.best} steps beats")

    def _take_offer(self, seat: int, worker: WorkerState, event: ev.Offer) -> None:
        blackboard, name = self.blackboard, worker.title
        better = blackboard.offer(name, event.steps, self.target)
        self.offered = True
        if not better:
            return
        best = len(event.steps)
        self.effort.best(name, event.spent, self.done)
        self.improved_at = self.now
        if self.schedule is blackboard.schedule:
            self.found_at = self.now
            lower = blackboard.lower
            self._announce("schedule", engine=name, steps=best, lower=lower, how=event.how)
        known = {other.title for other in self.seats.values()}
        seeded_by = event.seeded_by if event.seeded_by in known else ""
        self._contributed(worker, name, "schedule", event.how, seeded_by=seeded_by)
        # Optimality of a better schedule is a new goal for the prover.
        self.history.finished.discard(PROOF_ARM)
        self._share({"best": best, "steps": encode_steps(event.steps), "by": name}, seat)
        self._refute_claims()

    def _take_bound(self, seat: int, worker: WorkerState, event: ev.Bound) -> None:
        blackboard, steps, evidence = self.blackboard, event.steps, event.evidence
        author = event.provider or worker.title
        if author in self._refused_providers:
            return
        if evidence is not None:
            try:
                better = blackboard.prove(author, steps, evidence)
            except ContractError as error:
                if worker.opened.role not in ("bounds", "proof"):
                    raise
                # Providers share a worker, which the others still need.
                self._refused_providers.add(author)
                self._trouble(f"bound {author}: {error}")
                return
        elif not worker.opened.proves:
            raise ContractError("claimed a bound although it is not registered as exact")
        elif event.complete:
            if self.best is not None and steps > self.best:
                raise ContractError(
                    f"claimed a bound of {steps} steps, but a verified schedule has {self.best}"
                )
            better = blackboard.claim(seat, steps)
        else:
            return  # holds for the sampled paths only
        if better:
            certified = blackboard.certified.steps >= blackboard.lower
            self._announce("bound", engine=author, steps=blackboard.lower, certified=certified)
            self._contributed(worker, author, "bound", checked=evidence is not None)
            self._share({"lower": blackboard.lower}, seat)

    def _take_draft(self, seat: int, name: str, count: int) -> None:
        """Record a near-solution that is better than those of the same number of steps before."""
        _, violations, steps = self.blackboard.drafts[count]
        self._announce("draft", engine=name, steps=count, violations=violations)
        how = f"{count} steps, {violations} violated rule{'s' if violations > 1 else ''}"
        lower, certified = self.blackboard.lower, self.blackboard.best_claim is None
        self.history.drafted(
            Contribution(
                round(self.now, 3), name, how, "draft", self.blackboard.best, lower, certified
            )
        )
        self._share({"draft": count, "steps": encode_steps(steps), "by": name}, seat)

    def _contributed(
        self,
        worker: WorkerState,
        author: str,
        what: str,
        how: str = "",
        *,
        checked: bool = False,
        seeded_by: str = "",
    ) -> None:
        blackboard = self.blackboard
        # A proof below the best claim counts with the value that it proves.
        lower = blackboard.certified.steps if checked else blackboard.lower
        certified = blackboard.certified.steps >= lower
        seconds, best = round(self.now, 3), blackboard.best
        entry = Contribution(seconds, author, how, what, best, lower, certified, seeded_by)
        self.history.contributed(worker.arm, entry)

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
            self.history.finished.add(worker.arm)
            self._trouble(
                f"{worker.title}: ended, as the run exceeded {event.code:,} MiB of memory"
            )
        elif event.how == "terminated":
            if not worker.started and not self.done:
                self.remarks.append(f"{worker.title}: was still starting when its time was up")
        else:
            self.history.finished.add(worker.arm)
            how = f"{event.how} {event.code}"
            words = f": {event.last_words}" if event.last_words else ""
            self._trouble(f"{worker.title}: crashed ({how}){words}")

    def _distrust(self, seat: int, reason: str) -> None:
        """End a worker that broke its contract, and withdraw its claims."""
        worker = self.seats[seat]
        worker.distrusted = True
        if self.blackboard.claims.pop(seat, None) is not None:
            self._share({"lower": self.blackboard.lower}, seat)
        self.history.finished.add(worker.arm)
        self._trouble(f"{worker.title}: {reason}")
        self._actions.append(Dismiss(seat))

    def _trouble(self, text: str) -> None:
        self.troubles.append(text)
        self._announce("trouble", text=text)

    def _announce(self, event: str, **content: Any) -> None:
        self._actions.append(Announce(event, content))

    def _share(self, line: Line, author: int) -> None:
        self._actions.append(Share(line, author))
