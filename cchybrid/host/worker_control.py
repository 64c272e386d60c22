"""The workers of a run: started on jobs, read, told news, stopped in time.

Here are the clock and the processes; what is known, and what follows from it, is in ``RunState``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict

from cchybrid.host.event_bus import EventBus
from cchybrid.host.events import Compiled, Compiling, Event, Exited, Opened, Started
from cchybrid.host.run_config import RunConfig, seed_for
from cchybrid.host.run_state import HOST, Announce, Dismiss, RunState, Share
from cchybrid.host.strategies import Arm
from cchybrid.host.wire import Line, to_log
from cchybrid.host.worker_pool import WorkerPool
from cchybrid.host.worker_process import GRACE_SECONDS
from cchybrid.model.schedule import steps_to_json
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.warm_up import WarmUp, pending

LISTEN_SECONDS = 0.05
"""Between two looks at the clock: well below what a person notices."""
MAX_OVERRUN_SECONDS = 0.3
"""How long after the time limit an engine that was asked to stop gets SIGTERM."""
STOP_RESERVE_SECONDS, STOP_RESERVE_SHARE = 1.0, 0.1
"""What is kept of the time limit for stopping engines: a second, or a tenth of a short limit."""


class WorkerControl:
    """Everything in a run that needs the clock or a process.

    Attributes
    ----------
    interrupted
        Whether the user interrupted the run: then workers are ended at once.
    """

    def __init__(self, state: RunState, config: RunConfig, bus: EventBus) -> None:
        self.state = state
        self.pool = WorkerPool()
        self.interrupted = False
        self._config = config
        self._bus = bus
        self._record = state.instance.to_json()
        self._next_seat = HOST + 1
        self._turns: Counter[str] = Counter()
        self._warm_up = WarmUp(pending(config.engines))
        self._extension = 0.0

    def now(self) -> float:
        """Return the seconds since the run began."""
        return self._bus.now()

    def listen_while(self, going: Callable[[], bool]) -> None:
        """Listen as long as ``going`` says so and there is time."""
        while going() and not self.out_of_time():
            self.listen(LISTEN_SECONDS)

    def listen(self, seconds: float) -> None:
        """Wait up to so many seconds, and apply what workers have sent."""
        for seat, event in self.pool.listen(seconds):
            self.apply(seat, event)
        for done in self._warm_up.poll():
            self.apply(HOST, Compiled(done.engine, done.seconds, done.error))

    def compile_kernels(self) -> None:
        """Begin to compile, in the background, what the engines of the run still lack."""
        if self._warm_up.left:
            self.apply(HOST, Compiling(self._warm_up.left))
            self._warm_up.start()

    def extend(self, seconds: float) -> None:
        """Move the end of the run, for waiting that does not count in the time limit."""
        self._extension += seconds
        self.pool.share({"extension": self._extension}, HOST)

    def apply(self, seat: int, event: Event) -> None:
        """Apply an event to the state, and do what follows from it."""
        now = self.now()
        self._bus.record(to_log(now, seat, event))
        for action in self.state.apply(now, seat, event):
            match action:
                case Announce(name, content):
                    self._bus.emit(name, now, content)
                case Share(line, author):
                    # With an evaluation budget, results must not depend on when news arrive.
                    if self._config.budget.evaluations is None:
                        self.pool.share(line, author)
                case Dismiss(liar):
                    self.pool.dismiss(liar)
        if isinstance(event, Started):
            self.pool.mark_started(seat)

    def start(self, opened: Opened, threads: int, content: Line) -> int:
        """Start a worker; return its seat."""
        seat, self._next_seat = self._next_seat, self._next_seat + 1
        self.apply(seat, opened)
        title = self.state.seats[seat].title
        budget = self._config.budget
        seconds = None if budget.seconds is None else max(0.0, self.left() or 0.0)
        job: Line = {
            "kind": opened.role,
            "instance": self._record,
            "seed": seed_for(self._config.seed, title, self._turns[title]),
            "budget": asdict(Budget(seconds, budget.evaluations, threads, budget.memory)),
            "target": self._config.target,
            "blind": self._config.blind,
            "lower": self.state.board.lower,
            "news": self._news(),
            **content,
        }
        self.pool.start(seat, job)
        return seat

    def start_engine(self, arm: Arm, role: str) -> int:
        """Start an engine, to work or to check its options; return its seat."""
        info = arm.engine
        content = {
            "target_name": info.target,
            "options": dict(self._config.options.get(info.name, {})),
            "engine": info.name,
            "view": arm.view,
            "quotients": asdict(self._config.quotient_options),
        }
        opened = Opened(info.name, role, arm.view, info.proves)
        seat = self.start(opened, arm.threads, content)
        if role == "engine":
            self._turns[self.state.seats[seat].title] += 1
        return seat

    def _news(self) -> list[Line]:
        """Return what a worker that starts now has to know."""
        board = self.state.board
        news: list[Line] = [
            {"draft": count, "steps": steps_to_json(steps)}
            for count, (_, steps) in sorted(board.drafts.items())
        ]
        if board.schedule is not None:
            steps = board.schedule.steps
            news.append({"best": len(steps), "steps": steps_to_json(steps)})
        return news

    def dismiss(self, seat: int) -> None:
        """End a worker at once, after what it has already sent."""
        for event in self.pool.dismiss(seat):
            self.apply(seat, event)
        self.apply(seat, Exited("terminated"))

    def stop(self, seats: Sequence[int]) -> None:
        """End these workers: at once if nothing can be gained by asking them first.

        With an evaluation budget what was spent is part of the result, so they are always asked.
        """
        grace = GRACE_SECONDS
        if self._config.budget.evaluations is None and (self.state.done or self.interrupted):
            grace = 0.0
        elif self._config.budget.seconds is not None:
            left = self._config.budget.seconds + self._extension - self.now()
            grace = min(grace, max(0.0, left) + MAX_OVERRUN_SECONDS)
        self.pool.ask(seats, grace)
        while self.pool.has(seats):
            self.listen(LISTEN_SECONDS)

    def end_workers(self) -> None:
        """Leave no process behind, whatever happened, even under a second Ctrl-C."""
        try:
            for seat, event in self.pool.dismiss_paused():
                self.apply(seat, event)
            self.stop(self.pool.seats)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self._warm_up.stop()
            self.pool.close()

    def left(self) -> float | None:
        """Return the seconds left to work; a little is kept back for stopping engines."""
        seconds = self._config.budget.seconds
        if seconds is None:
            return None
        reserve = min(STOP_RESERVE_SECONDS, STOP_RESERVE_SHARE * seconds)
        return seconds + self._extension - reserve - self.now()

    def out_of_time(self) -> bool:
        """Return whether no time is left."""
        left = self.left()
        return left is not None and left <= 0
