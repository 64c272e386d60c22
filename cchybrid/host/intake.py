"""What workers say: verified, written down, told to the others; and the end of those that lie."""

from __future__ import annotations

from cchybrid.host.announcer import Announcer
from cchybrid.host.board import Board, ContractError
from cchybrid.host.course import Contribution, Course
from cchybrid.host.crew import Crew
from cchybrid.host.order import Order
from cchybrid.host.process import WorkerProcess
from cchybrid.host.strategies import PROVER
from cchybrid.host.tally import Tally
from cchybrid.host.wire import Line
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_from_json, steps_to_json

TICK = 0.05
"""Seconds between two looks at the clock."""


class Intake:
    """Listens to the crew of one run.

    Attributes
    ----------
    bounding
        Workers that look for bounds whose evidence is checked.
    refused
        Why an engine refuses its options, if one does.
    found_at, improved_at
        Seconds of the run: when the best schedule was found, and since when patience counts.
    """

    def __init__(
        self, order: Order, board: Board, crew: Crew, say: Announcer, course: Course
    ) -> None:
        self._order = order
        self._board = board
        self._crew = crew
        self._say = say
        self._course = course
        self.tally = Tally(order.target)
        self.bounding: list[str] = []
        self.refused: str | None = None
        self.found_at = 0.0
        self.improved_at = 0.0
        self._refused_providers: set[str] = set()

    @property
    def done(self) -> bool:
        """Whether no engine has anything left to do."""
        board, target = self._board, self._order.target
        if self.refused is not None or board.closed:
            return True
        if target is None:
            return False
        return board.lower > target or (board.best is not None and board.best <= target)

    def _share(self, line: Line, author: str) -> None:
        if self._order.budget.evaluations is None:  # else what arrives when would decide
            self._crew.share(line, author)

    @property
    def settled(self) -> bool:
        """Whether the best schedule meets a bound whose evidence was checked."""
        best = self._board.best
        return best is not None and best <= self._board.certified.steps

    def listen(self) -> None:
        """Wait a moment for what workers say, and act on it."""
        for worker, line in self._crew.listen(TICK):
            if line is not None:
                self.take(worker, line)
            elif worker.garbled:
                self._quarantine(worker, f"sent {worker.garbled}")
            else:
                self._bury(worker)

    def take(self, worker: WorkerProcess, line: Line) -> None:
        """Act on what a worker said; end it if that makes no sense."""
        if worker.quarantined:
            return
        try:
            self._act_on(worker, line)
        except ContractError as error:
            self._quarantine(worker, str(error))
        except (InputError, KeyError, TypeError, ValueError) as error:
            self._quarantine(worker, f"sent a malformed event: {error}")

    def _act_on(self, worker: WorkerProcess, line: Line) -> None:
        board, name, event = self._board, worker.name, line["event"]
        worker.heard = worker.heard or event != "started"
        if event == "offer":
            steps = steps_from_json(line["steps"], "steps")
            target = self._order.target
            if board.offer(name, steps, target):
                self.tally.best(name, line["spent"], self.done)
                self.found_at = self.improved_at = self._say.now()
                best = len(steps)
                how = str(line["how"])
                self._say.emit("schedule", engine=name, steps=best, lower=board.lower, how=how)
                self._turned_out(name, name, "schedule", how)
                self._course.spent.discard(PROVER)
                self._share({"best": best, "steps": steps_to_json(steps)}, name)
                for liar in board.refuted_claims():
                    self._accuse(liar, f"claimed a bound that a schedule of {best} steps beats")
        elif event == "suggest":
            if board.suggest(line["draft"], steps_from_json(line["steps"], "steps")):
                self._say.emit("draft", engine=name, steps=line["draft"])
                self._share({"draft": line["draft"], "steps": line["steps"]}, name)
        elif event == "bound":
            self._take_bound(name, line)
        elif event == "note":
            self._say.emit("note", engine=name, metrics=dict(line["metrics"]))
        elif event == "progress":
            self.tally.progress(line["steps"], line["conflicts"])
            self._say.emit(
                "progress", engine=name, steps=line["steps"], conflicts=line["conflicts"]
            )
        elif event == "started":
            worker.ready = True
            self._say.emit("started", engine=name, complete=line.get("complete"))
        elif event == "end":
            worker.ended = True
            if line["stop"] != "limit":
                self._course.spent.add(name)
            if "evaluations" in line:  # else it was asked about its options only
                self.tally.end(name, line)
            self._say.emit("end", engine=name, stop=line["stop"])
        elif event == "unsupported":
            worker.ended = True
            self._course.spent.add(name)
            if worker.remarkable or self._order.strategy == "quotients":
                self._say.remarks.append(f"{name}: {line['text']}")
            self._say.emit("unsupported", engine=name, text=line["text"])
        elif event == "refused":
            worker.ended = True
            self.refused = str(line["text"])
        elif event == "failed":
            self._quarantine(worker, f"failed: {line['text']}")
        elif event == "trouble":
            self._say.trouble(f"{name}: {line['text']}")
        else:
            raise ContractError(f"sent an unknown event {event!r}")

    def _take_bound(self, name: str, line: Line) -> None:
        board, evidence = self._board, line["evidence"]
        if type(line["steps"]) is not int or not 0 <= line["steps"] < 1 << 40:
            raise ContractError("reported a bound that is no number of steps")
        author = line.get("provider", name)
        if author in self._refused_providers:
            return
        if evidence is not None:
            try:
                better = board.prove(author, line["steps"], evidence)
            except ContractError as error:
                if name not in self.bounding:
                    raise
                # The providers share one worker: the others must not suffer for this one.
                self._refused_providers.add(author)
                self._say.trouble(f"bound {author}: {error}")
                return
        elif not self._proves(name):
            raise ContractError("claimed a bound although it is registered as proving none")
        elif line["complete"]:
            better = board.claim(name, line["steps"])
        else:
            return  # true of the sampled paths only: nothing that others could use
        if better:
            certified = board.certified.steps >= board.lower
            self._say.emit("bound", engine=author, steps=board.lower, certified=certified)
            self._turned_out(name, author, "bound", checked=evidence is not None)
            self._share({"lower": board.lower}, name)

    def _turned_out(
        self, worker: str, author: str, what: str, how: str = "", *, checked: bool = False
    ) -> None:
        """Write down what was found, and to whose credit."""
        board = self._board
        # A proof of less than somebody claims is worth what it proves.
        lower = board.certified.steps if checked else board.lower
        certified = board.certified.steps >= lower
        seconds = round(self._say.now(), 3)
        entry = Contribution(seconds, author, how, what, board.best, lower, certified)
        self._course.turned_out(worker, entry)

    def _accuse(self, name: str, reason: str) -> None:
        worker = self._crew.get(name)
        if worker is None:
            self._distrust(name, reason)
        else:
            self._quarantine(worker, reason)

    def _proves(self, name: str) -> bool:
        return any(info.name == name and info.proves for info in self._order.engines)

    def _bury(self, worker: WorkerProcess) -> None:
        """Take leave of a worker that has ended, and say so if it did not end well."""
        returncode = worker.returncode
        for line in self._crew.dismiss(worker):
            self.take(worker, line)
        if worker.quarantined or worker.ended:
            return
        if worker.killed:
            self._course.spent.add(worker.name)
            self._say.trouble(f"{worker.name}: did not stop when asked and ignored SIGTERM; killed")
        elif worker.terminated:
            if worker.overdue:
                self._say.trouble(f"{worker.name}: did not stop when asked; terminated")
            elif not worker.ready and not self.done:
                self._say.remarks.append(f"{worker.name}: was still starting when its time was up")
        else:
            self._course.spent.add(worker.name)
            how = f"signal {-returncode}" if returncode and returncode < 0 else f"exit {returncode}"
            words = f": {worker.last_words}" if worker.last_words else ""
            self._say.trouble(f"{worker.name}: crashed ({how}){words}")

    def _quarantine(self, worker: WorkerProcess, reason: str) -> None:
        """End a worker that broke its contract, and withdraw what rests on its word."""
        worker.quarantined = True
        self._crew.dismiss(worker)
        self._distrust(worker.name, reason)

    def _distrust(self, name: str, reason: str) -> None:
        if self._board.claims.pop(name, None) is not None:
            self._share({"lower": self._board.lower}, name)
        self._course.spent.add(name)
        self._say.trouble(f"{name}: {reason}")
