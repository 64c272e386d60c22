"""One run: workers started phase by phase, listened to, stopped in time, and the result drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from cchybrid.checker import proves_infeasible
from cchybrid.host.announcer import Announcer
from cchybrid.host.board import Board
from cchybrid.host.conclusion import conclude
from cchybrid.host.course import Course
from cchybrid.host.crew import Crew
from cchybrid.host.intake import Intake
from cchybrid.host.order import Order, seed_for
from cchybrid.host.result import Result
from cchybrid.host.strategies import PROVER, STRATEGIES, Phase, Seat, Strategy, one_by_one
from cchybrid.host.wire import Line
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_to_json
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import Observer
from cchybrid.problem import is_ordered
from cchybrid.proof.reach import unreachable

BOUNDS = "bound providers"
"""The name of the worker that runs the core's bound providers; others have their own."""
BOUND_GRACE = 10.0
"""Seconds that a claimed optimum waits for the bound providers to certify it."""
MUSTER = 2.0
"""Seconds that an early verdict of a race waits for engines to start, and then to say a word."""


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
        self._say = Announcer(observers)
        self._course = Course(is_ordered(instance), provable=order.certify and not order.blind)
        self._crew = Crew()
        self._intake = Intake(order, self.board, self._crew, self._say, self._course)
        self._infeasible: dict[str, Any] | None = None
        self._interrupted = False
        self._turns: Counter[str] = Counter()
        self._proving: int | None = None

    def run(self) -> Result:
        """Work until best meets bound, the budget is spent, or the user interrupts.

        Raises
        ------
        InputError
            If an engine refuses its options.
        """
        self._say.emit("run", instance=self.instance.name, seed=self.order.seed)
        try:
            self._find_infeasible()
            if self._infeasible is None:
                self._work()
        except KeyboardInterrupt:
            self._interrupted = True
        finally:
            self._end_workers()
        if self._intake.refused is not None:
            raise InputError(self._intake.refused)
        result = conclude(
            self.instance,
            self.order,
            self.board,
            infeasible=self._infeasible,
            seconds=self._say.now(),
            seconds_to_best=self._intake.found_at,
            troubles=self._say.troubles,
            remarks=self._say.remarks,
            interrupted=self._interrupted,
            contributions=self._course.contributions,
            **self._intake.tally.facts(self.board.schedule is not None),
        )
        self._say.emit("result", **result.to_json())
        return result

    # The run, phase by phase

    def _find_infeasible(self) -> None:
        evidence = unreachable(self.instance.forward)
        if evidence is not None:
            proves_infeasible(self.instance.to_json(), evidence)
            self._infeasible = evidence
            self._say.emit("infeasible", evidence=evidence)

    def _work(self) -> None:
        order = self.order
        if not self._options_are_taken():
            return
        self._start_bounds()
        repeatable = order.budget.evaluations is not None
        if repeatable or not order.engines:
            self._listen_while(lambda: self._crew.has(self._intake.bounding))
        strategy = one_by_one if repeatable else STRATEGIES[order.strategy]
        for phase in self._phases(strategy):
            left = self._left()
            if self._intake.done or (left is not None and left <= phase.least):
                break
            self._run_phase(phase)
            self._course.left, self._course.lower = self._left(), self.board.lower
        providers = [name for name in self._intake.bounding if name != PROVER]
        self._listen_while(lambda: self._crew.has(providers) and not self._settled())
        self._certify()

    def _phases(self, strategy: Strategy) -> Iterable[Phase]:
        order = self.order
        return strategy(order.engines, order.budget.threads, self._course) if order.engines else ()

    def _certify(self) -> None:
        """Use the time that is left to prove the bound that only an engine claims."""
        board, seconds = self.board, self._left()
        if not self._course.provable or self._intake.refused is not None:
            return
        if seconds is None or seconds < 1 or board.lower <= board.certified.steps:
            return
        self._prove(board.lower)
        self._say.emit("phase", engines=[PROVER])
        self._listen_while(lambda: self._crew.has([PROVER]) and board.certified.steps < board.lower)

    def _prove(self, steps: int) -> None:
        """Set the prover to work on these steps, or let it go on if it already is."""
        prover = self._crew.get(PROVER)
        if prover is not None and self._proving == steps:
            prover.resume()
            return
        if prover is not None:
            for line in self._crew.dismiss(prover):
                self._intake.take(prover, line)
        self._proving = steps
        if PROVER not in self._intake.bounding:
            self._intake.bounding.append(PROVER)
        self._start(PROVER, "proof", 1, {"steps": steps})

    def _options_are_taken(self) -> bool:
        """Let every engine that the user set options of say whether it takes them."""
        for info in self.order.engines:
            if self.order.options.get(info.name):
                self._start_engine(Seat(info, 1), "options")
        self._listen_while(lambda: self._crew.has(self._crew.names))
        self._course.spent.clear()  # what it said of its options is not its word on the instance
        return self._intake.refused is None

    def _start_bounds(self) -> None:
        """Start the core's providers in one worker, and every other one in a worker of its own."""
        jobs: dict[str, list[list[str]]] = {}
        for info in self.order.bounds:
            core = info.target.startswith("cchybrid.")
            name = BOUNDS if core else f"bound provider {info.name}"
            jobs.setdefault(name, []).append([info.name, info.target])
        self._intake.bounding = list(jobs)
        for name, providers in jobs.items():
            self._start(name, "bounds", 1, {"providers": providers})

    def _run_phase(self, phase: Phase) -> None:
        seats = [seat for seat in phase.seats if seat.name not in self._course.spent]
        names = [seat.name for seat in seats]
        if not names:
            return
        begun = self._intake.improved_at = self._say.now()
        time_left = self._left() or 0.0
        end = None if phase.share >= 1 else begun + phase.share * time_left
        # The first schedule of a large instance may take long, and is worth more than a handover.
        late = begun + (1 if phase.pause else 2) * phase.share * time_left
        for seat in seats:
            self._take_seat(seat)
        self._say.emit("phase", engines=names)

        def going() -> bool:
            now = self._say.now()
            waiting = not self.board.scheduled and now < late
            if waiting or not self._crew.all_are("ready", names):
                self._intake.improved_at = now  # patience begins when everybody is at work
            elif phase.patience is not None and now - self._intake.improved_at > phase.patience:
                return False
            in_time = waiting or end is None or now < end
            return in_time and self._crew.has(names) and not self._intake.done

        self._listen_while(going)
        if phase.muster:
            self._muster(names)
        for name in names:
            self._course.took(name, self._say.now() - begun)
        if phase.pause and not self._intake.done and not self._out_of_time():
            self._crew.pause(names)
            return
        if self.board.lower == self._proving and not self._intake.settled:
            names = [name for name in names if name != PROVER]  # it proves what was claimed
        # Under a budget of evaluations the last word counts: what was spent is part of the result.
        counted = self.order.budget.evaluations is not None
        self._stop(names, politely=counted or not self._intake.done)

    def _take_seat(self, seat: Seat) -> None:
        """Start a worker, or let it go on."""
        worker = self._crew.get(seat.name)
        if seat.view == "proof":
            self._prove(self.board.best or self.board.lower)
        elif worker is not None:
            worker.resume()
        else:
            self._intake.tally.begin(seat.name)
            self._start_engine(seat, "engine")
            self._turns[seat.name] += 1

    def _muster(self, names: Sequence[str]) -> None:
        """Wait until every engine has started, and then until it has shown how it behaves."""
        late = self._say.now() + MUSTER
        self._listen_while(
            lambda: self._say.now() < late and not self._crew.all_are("ready", names)
        )
        late = self._say.now() + MUSTER
        self._listen_while(
            lambda: self._say.now() < late and not self._crew.all_are("heard", names)
        )

    def _listen_while(self, going: Callable[[], bool]) -> None:
        while going() and not self._out_of_time():
            self._intake.listen()

    def _settled(self) -> bool:
        """Whether the bound providers cannot improve the verdict, or not soon enough."""
        if self._intake.refused is not None or self._intake.settled:
            return True
        return self._intake.done and self._say.now() - self._intake.found_at > BOUND_GRACE

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

    def _start_engine(self, seat: Seat, kind: str) -> None:
        info = seat.engine
        content = {
            "target_name": info.target,
            "options": dict(self.order.options.get(info.name, {})),
            "engine": info.name,
            "view": seat.view,
        }
        self._start(seat.name, kind, seat.threads, content)

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

    def _stop(self, names: Sequence[str], politely: bool) -> None:
        """End these workers: by asking first where something may still be gained by it."""
        self._crew.ask(names, politely)
        while self._crew.has(names):
            self._intake.listen()

    def _end_workers(self) -> None:
        """Leave no process behind, whatever happened, even under a second Ctrl-C."""
        try:
            for worker, line in self._crew.dismiss_paused():
                self._intake.take(worker, line)
            self._stop(self._crew.names, politely=not (self._intake.done or self._interrupted))
        except KeyboardInterrupt:
            self._interrupted = True
        finally:
            self._crew.close()

    # Clock, events

    def _left(self) -> float | None:
        """Return the seconds left to work; a little is kept back for stopping politely."""
        seconds = self.order.budget.seconds
        return None if seconds is None else seconds - min(1.0, seconds / 10) - self._say.now()

    def _out_of_time(self) -> bool:
        left = self._left()
        return left is not None and left <= 0
