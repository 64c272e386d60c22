"""One run: workers started phase by phase, listened to, stopped in time, and the result drawn."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from cchybrid.bounds.reach import unreachable
from cchybrid.certify import proves_infeasible
from cchybrid.engine import Budget
from cchybrid.errors import InputError
from cchybrid.host.board import Board, ContractError
from cchybrid.host.conclusion import conclude
from cchybrid.host.crew import Crew
from cchybrid.host.order import Order, seed_for
from cchybrid.host.process import WorkerProcess
from cchybrid.host.result import Result
from cchybrid.host.strategies import STRATEGIES, Phase, one_by_one
from cchybrid.host.tally import Tally
from cchybrid.host.wire import Line
from cchybrid.model import Instance
from cchybrid.model.schedule import steps_from_json, steps_to_json
from cchybrid.records import EngineInfo, Observer

BOUNDS = "bound providers"
"""The name of the worker that runs the core's bound providers; others have their own."""
PROVER = "prover"
"""The name of the worker that looks for a proof of what an engine claims."""
BOUND_GRACE = 10.0
"""Seconds that a claimed optimum waits for the bound providers to certify it."""
MUSTER = 2.0
"""Seconds that an early verdict of a race waits for engines to start, and then to say a word."""
TICK = 0.05
"""Seconds between two looks at the clock."""


class Session:
    """Carries out one order on one instance.

    Parameters
    ----------
    observers
        Called with every event. One that raises is dropped and named.
    """

    def __init__(
        self,
        instance: Instance,
        order: Order,
        observers: Iterable[tuple[str, Observer]] = (),
    ) -> None:
        self.instance = instance
        self.order = order
        self.board = Board(instance)
        self._tally = Tally(order.target)
        self._observers = list(observers)
        self._crew = Crew()
        self._troubles: list[str] = []
        self._remarks: list[str] = []
        self._started = time.monotonic()
        self._found_at = 0.0
        self._improved_at = 0.0
        self._infeasible: dict[str, Any] | None = None
        self._refused: str | None = None
        self._interrupted = False
        self._refused_providers: set[str] = set()
        self._bounding: list[str] = []
        self._turns: Counter[str] = Counter()
        self._spent: set[str] = set()  # engines that have nothing more to give in a later phase

    def run(self) -> Result:
        """Work until best meets bound, the budget is spent, or the user interrupts.

        Raises
        ------
        InputError
            If an engine refuses its options.
        """
        self._emit("run", instance=self.instance.name, seed=self.order.seed)
        try:
            self._find_infeasible()
            if self._infeasible is None:
                self._work()
        except KeyboardInterrupt:
            self._interrupted = True
        finally:
            self._end_workers()
        if self._refused is not None:
            raise InputError(self._refused)
        result = conclude(
            self.instance,
            self.order,
            self.board,
            infeasible=self._infeasible,
            seconds=self._now(),
            seconds_to_best=self._found_at,
            troubles=self._troubles,
            remarks=self._remarks,
            interrupted=self._interrupted,
            **self._tally.facts(self.board.schedule is not None),
        )
        self._emit("result", **result.to_json())
        return result

    # The run, phase by phase

    def _find_infeasible(self) -> None:
        evidence = unreachable(self.instance.forward)
        if evidence is not None:
            proves_infeasible(self.instance.to_json(), evidence)
            self._infeasible = evidence
            self._emit("infeasible", evidence=evidence)

    def _work(self) -> None:
        order = self.order
        if not self._options_are_taken():
            return
        self._start_bounds()
        repeatable = order.budget.evaluations is not None
        if repeatable or not order.engines:
            self._listen_while(lambda: self._crew.has(self._bounding))
        strategy = one_by_one if repeatable else STRATEGIES[order.strategy]
        for phase in strategy(order.engines, order.budget.threads) if order.engines else ():
            left = self._left()
            if self._done() or (left is not None and left <= phase.least):
                break
            self._run_phase(phase)
        self._listen_while(lambda: self._crew.has(self._bounding) and not self._settled())
        self._certify()

    def _certify(self) -> None:
        """Use the time that is left to prove the bound that only an engine claims."""
        board, seconds = self.board, self._left()
        if not self.order.certify or self.order.blind or self._refused is not None:
            return
        if seconds is None or seconds < 1 or board.lower <= board.certified.steps:
            return
        self._bounding.append(PROVER)
        self._start(PROVER, "proof", 1, {"steps": board.lower})
        self._emit("phase", engines=[PROVER])
        self._listen_while(lambda: self._crew.has([PROVER]) and board.certified.steps < board.lower)

    def _options_are_taken(self) -> bool:
        """Let every engine that the user set options of say whether it takes them."""
        for info in self.order.engines:
            if self.order.options.get(info.name):
                self._start_engine(info, "options", 1)
        self._listen_while(lambda: self._crew.has(self._crew.names))
        self._spent.clear()  # what it said of its options is not its word on the instance
        return self._refused is None

    def _start_bounds(self) -> None:
        """Start the core's providers in one worker, and every other one in a worker of its own."""
        jobs: dict[str, list[list[str]]] = {}
        for info in self.order.bounds:
            core = info.target.startswith("cchybrid.")
            name = BOUNDS if core else f"bound provider {info.name}"
            jobs.setdefault(name, []).append([info.name, info.target])
        self._bounding = list(jobs)
        for name, providers in jobs.items():
            self._start(name, "bounds", 1, {"providers": providers})

    def _run_phase(self, phase: Phase) -> None:
        seats = [seat for seat in phase.seats if seat.engine.name not in self._spent]
        names = [seat.engine.name for seat in seats]
        if not names:
            return
        begun = self._improved_at = self._now()
        time_left = self._left() or 0.0
        end = None if phase.share >= 1 else begun + phase.share * time_left
        # The first schedule of a large instance may take long, and is worth more than a handover.
        late = begun + 2 * phase.share * time_left
        for seat in seats:
            self._tally.begin(seat.engine.name)
            self._start_engine(seat.engine, "engine", seat.threads)
            self._turns[seat.engine.name] += 1
        self._emit("phase", engines=names)

        def going() -> bool:
            now = self._now()
            waiting = self.board.best is None and now < late
            if waiting or not self._crew.all_are("ready", names):
                self._improved_at = now  # patience begins when everybody is at work
            elif phase.patience is not None and now - self._improved_at > phase.patience:
                return False
            in_time = waiting or end is None or now < end
            return in_time and self._crew.has(names) and not self._done()

        self._listen_while(going)
        if phase.muster:
            self._muster(names)
        # Under a budget of evaluations the last word counts: what was spent is part of the result.
        self._stop(names, politely=not self._done() or self.order.budget.evaluations is not None)

    def _muster(self, names: Sequence[str]) -> None:
        """Wait until every engine has started, and then until it has shown how it behaves."""
        late = self._now() + MUSTER
        self._listen_while(lambda: self._now() < late and not self._crew.all_are("ready", names))
        late = self._now() + MUSTER
        self._listen_while(lambda: self._now() < late and not self._crew.all_are("heard", names))

    def _listen_while(self, going: Callable[[], bool]) -> None:
        while going() and not self._out_of_time():
            self._listen()

    def _done(self) -> bool:
        """Whether no engine has anything left to do."""
        board, target = self.board, self.order.target
        if self._refused is not None or board.closed:
            return True
        if target is None:
            return False
        return board.lower > target or (board.best is not None and board.best <= target)

    def _settled(self) -> bool:
        """Whether the bound providers cannot improve the verdict, or not soon enough."""
        board = self.board
        if self._refused is not None:
            return True
        if board.best is not None and board.best <= board.certified.steps:
            return True
        return self._done() and self._now() - self._found_at > BOUND_GRACE

    # Workers

    def _start(self, name: str, kind: str, threads: int, content: Line) -> None:
        budget = self.order.budget
        seconds = None if budget.seconds is None else max(0.0, self._left() or 0.0)
        job: Line = {
            "kind": kind,
            "name": name,
            "instance": self.instance.to_json(),
            "seed": seed_for(self.order.seed, name, self._turns[name]),
            "budget": asdict(Budget(seconds, budget.evaluations, threads, budget.memory)),
            "target": self.order.target,
            "blind": self.order.blind,
            "lower": self.board.lower,
            "news": self._news(),
            **content,
        }
        self._crew.start(name, job)

    def _start_engine(self, info: EngineInfo, kind: str, threads: int) -> None:
        options = dict(self.order.options.get(info.name, {}))
        self._start(info.name, kind, threads, {"target_name": info.target, "options": options})

    def _news(self) -> list[Line]:
        """Return what a worker that starts now has to know."""
        news: list[Line] = [
            {"draft": count, "steps": steps_to_json(steps)}
            for count, (_, steps) in sorted(self.board.drafts.items())
        ]
        if self.board.schedule is not None:
            steps = self.board.schedule.steps
            news.append({"best": len(steps), "steps": steps_to_json(steps)})
        return news

    def _share(self, line: Line, author: str) -> None:
        if self.order.budget.evaluations is None:  # else what arrives when would decide
            self._crew.share(line, author)

    def _listen(self) -> None:
        for worker, line in self._crew.listen(TICK):
            if line is not None:
                self._take(worker, line)
            elif worker.garbled:
                self._quarantine(worker, f"sent {worker.garbled}")
            else:
                self._bury(worker)

    def _take(self, worker: WorkerProcess, line: Line) -> None:
        if worker.quarantined:
            return
        try:
            self._act_on(worker, line)
        except ContractError as error:
            self._quarantine(worker, str(error))
        except (InputError, KeyError, TypeError, ValueError) as error:
            self._quarantine(worker, f"sent a malformed event: {error}")

    def _act_on(self, worker: WorkerProcess, line: Line) -> None:
        board, name, event = self.board, worker.name, line["event"]
        worker.heard = worker.heard or event != "started"
        if event == "offer":
            steps = steps_from_json(line["steps"], "steps")
            target = self.order.target
            if board.offer(name, steps, target):
                self._tally.best(name, line["spent"], self._done())
                self._found_at = self._improved_at = self._now()
                best = len(steps)
                self._emit("schedule", engine=name, steps=best, lower=board.lower)
                self._share({"best": best, "steps": steps_to_json(steps)}, name)
                for liar in board.refuted_claims():
                    self._accuse(liar, f"claimed a bound that a schedule of {best} steps beats")
        elif event == "suggest":
            if board.suggest(line["draft"], steps_from_json(line["steps"], "steps")):
                self._emit("draft", engine=name, steps=line["draft"])
                self._share({"draft": line["draft"], "steps": line["steps"]}, name)
        elif event == "bound":
            self._take_bound(name, line)
        elif event == "note":
            self._tally.note(line["metrics"])
            self._emit("note", engine=name, metrics=dict(line["metrics"]))
        elif event == "started":
            worker.ready = True
            self._emit("started", engine=name, complete=line.get("complete"))
        elif event == "end":
            worker.ended = True
            if line["stop"] != "limit":
                self._spent.add(name)
            if "evaluations" in line:  # else it was asked about its options only
                self._tally.end(name, line)
            self._emit("end", engine=name, stop=line["stop"])
        elif event == "unsupported":
            worker.ended = True
            self._spent.add(name)
            self._remarks.append(f"{name}: {line['text']}")
            self._emit("unsupported", engine=name, text=line["text"])
        elif event == "refused":
            worker.ended = True
            self._refused = str(line["text"])
        elif event == "failed":
            self._quarantine(worker, f"failed: {line['text']}")
        elif event == "trouble":
            self._trouble(f"{name}: {line['text']}")
        else:
            raise ContractError(f"sent an unknown event {event!r}")

    def _take_bound(self, name: str, line: Line) -> None:
        board, evidence = self.board, line["evidence"]
        if type(line["steps"]) is not int or not 0 <= line["steps"] < 1 << 40:
            raise ContractError("reported a bound that is no number of steps")
        author = line.get("provider", name)
        if author in self._refused_providers:
            return
        if evidence is not None:
            try:
                better = board.prove(author, line["steps"], evidence)
            except ContractError as error:
                if name not in self._bounding:
                    raise
                # The providers share one worker: the others must not suffer for this one.
                self._refused_providers.add(author)
                self._trouble(f"bound {author}: {error}")
                return
        elif not self._proves(name):
            raise ContractError("claimed a bound although it is registered as proving none")
        elif line["complete"]:
            better = board.claim(name, line["steps"])
        else:
            return  # true of the sampled paths only: nothing that others could use
        if better:
            certified = board.certified.steps >= board.lower
            self._emit("bound", engine=author, steps=board.lower, certified=certified)
            self._share({"lower": board.lower}, name)

    def _accuse(self, name: str, reason: str) -> None:
        worker = self._crew.get(name)
        if worker is None:
            self._distrust(name, reason)
        else:
            self._quarantine(worker, reason)

    def _proves(self, name: str) -> bool:
        return any(info.name == name and info.proves for info in self.order.engines)

    # Ends

    def _bury(self, worker: WorkerProcess) -> None:
        """Take leave of a worker that has ended, and say so if it did not end well."""
        returncode = worker.returncode
        for line in self._crew.dismiss(worker):
            self._take(worker, line)
        if worker.quarantined or worker.ended:
            return
        if worker.killed:
            self._spent.add(worker.name)
            self._trouble(f"{worker.name}: did not stop when asked and ignored SIGTERM; killed")
        elif worker.terminated:
            if worker.overdue:
                self._trouble(f"{worker.name}: did not stop when asked; terminated")
            elif not worker.ready and not self._done():
                self._remarks.append(f"{worker.name}: was still starting when its time was up")
        else:
            self._spent.add(worker.name)
            how = f"signal {-returncode}" if returncode and returncode < 0 else f"exit {returncode}"
            words = f": {worker.last_words}" if worker.last_words else ""
            self._trouble(f"{worker.name}: crashed ({how}){words}")

    def _quarantine(self, worker: WorkerProcess, reason: str) -> None:
        """End a worker that broke its contract, and withdraw what rests on its word."""
        worker.quarantined = True
        self._crew.dismiss(worker)
        self._distrust(worker.name, reason)

    def _distrust(self, name: str, reason: str) -> None:
        if self.board.claims.pop(name, None) is not None:
            self._share({"lower": self.board.lower}, name)
        self._spent.add(name)
        self._trouble(f"{name}: {reason}")

    def _stop(self, names: Sequence[str], politely: bool) -> None:
        """End these workers: by asking first where something may still be gained by it."""
        self._crew.ask(names, politely)
        while self._crew.has(names):
            self._listen()

    def _end_workers(self) -> None:
        """Leave no process behind, whatever happened, even under a second Ctrl-C."""
        try:
            self._stop(self._crew.names, politely=not (self._done() or self._interrupted))
        except KeyboardInterrupt:
            self._interrupted = True
        finally:
            self._crew.close()

    # Clock, events

    def _now(self) -> float:
        return time.monotonic() - self._started

    def _left(self) -> float | None:
        """Return the seconds left to work; a little is kept back for stopping politely."""
        seconds = self.order.budget.seconds
        return None if seconds is None else seconds - min(1.0, seconds / 10) - self._now()

    def _out_of_time(self) -> bool:
        left = self._left()
        return left is not None and left <= 0

    def _trouble(self, text: str) -> None:
        self._troubles.append(text)
        self._emit("trouble", text=text)

    def _emit(self, event: str, **content: Any) -> None:
        line = {"event": event, "seconds": round(self._now(), 3), **content}
        for entry in list(self._observers):
            try:
                with contextlib.redirect_stdout(sys.stderr):  # ours may be JSON
                    entry[1](dict(line))
            except (Exception, SystemExit) as error:
                self._observers.remove(entry)
                text = f"observer of plugin {entry[0]}: {type(error).__name__}: {error}"
                self._troubles.append(" ".join(text.split()))
