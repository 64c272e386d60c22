"""The workers and the clock of a run.

``WorkerControl`` starts workers on jobs, passes their events to the ``Task``, carries out the
actions that it returns, and stops workers in time.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict

from cchybrid.host.event_bus import EventBus
from cchybrid.host.events import (
    Bound,
    Compiled,
    Compiling,
    Event,
    Exited,
    Failed,
    Offer,
    Opened,
    Started,
)
from cchybrid.host.memory_budget import MemoryBudget
from cchybrid.host.phase_times import PhaseTimes
from cchybrid.host.run_config import RunConfig, seed_for
from cchybrid.host.shared_instance import SharedInstance
from cchybrid.host.task import HOST, Announce, Dismiss, Share, Task
from cchybrid.host.wire import Line, to_log
from cchybrid.host.worker_pool import WorkerPool
from cchybrid.host.worker_process import GRACE_SECONDS
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.strategy import Arm
from cchybrid.plugin.warm_up import WarmUp, pending

LISTEN_SECONDS = 0.05
"""Longest wait for events between two checks of the clock."""
MAX_EXTENSION_SECONDS = 120.0
"""Largest extension of the time limit, for waiting for kernels."""
MAX_OVERRUN_SECONDS = 0.3
"""Seconds after the time limit at which an engine that was asked to stop gets SIGTERM."""
STOP_RESERVE_SECONDS, STOP_RESERVE_SHARE = 1.0, 0.1
"""Part of the time limit for stopping engines: a second, or a tenth of a short limit."""
TERMINATED = Exited("terminated")


def usable_seconds(limit: float) -> float:
    """Return the seconds of a time limit without the part for stopping engines."""
    return limit - min(STOP_RESERVE_SECONDS, STOP_RESERVE_SHARE * limit)


class WorkerControl:
    """The workers of a run, its clock and its time limit.

    Parameters
    ----------
    stop_requested
        Whether the caller ends the run; called with every wait for events.

    Attributes
    ----------
    task
        The task and the state of the run.
    pool
        The worker processes.
    times
        Where the time of the run goes.
    interrupted
        Whether the user interrupted the run; then workers are ended at once.
    """

    def __init__(
        self,
        task: Task,
        config: RunConfig,
        bus: EventBus,
        stop_requested: Callable[[], bool] = lambda: False,
    ) -> None:
        self.task = task
        self._stop_requested = stop_requested
        self.pool = WorkerPool()
        self.interrupted = False
        self._config = config
        self._bus = bus
        self.times = PhaseTimes(self.now)
        self._memory = MemoryBudget(config.budget.memory, task.history.deliveries)
        self._shared = SharedInstance(task.shared, lambda: task.record, self._memory.mebibytes)
        self._next_seat = HOST + 1
        self._starts: Counter[str] = Counter()
        self._warm_up: WarmUp | None = None
        self._extension = 0.0

    def now(self) -> float:
        """Return the seconds since the start of the run."""
        return self._bus.now()

    def listen_while(self, condition: Callable[[], bool]) -> None:
        """Listen while the condition holds and time is left."""
        while condition() and not self.out_of_time():
            self.listen(LISTEN_SECONDS)

    def listen(self, seconds: float) -> None:
        """Wait for events up to this many seconds, and apply them.

        Raises
        ------
        KeyboardInterrupt
            The caller ends the run.
        """
        if not self.interrupted and self._stop_requested():
            self.interrupted = True
            raise KeyboardInterrupt
        for seat, event in self.pool.listen(seconds):
            self.apply(seat, event)
        if self._warm_up is not None:
            for done in self._warm_up.poll():
                self.apply(HOST, Compiled(done.engine, done.seconds, done.error, done.late))
        if self._memory.is_due():
            self._release_memory()

    def _release_memory(self) -> None:
        """End workers while the whole run needs too much memory.

        First paused ones: their arms stay in the strategy, and a later time slice starts them
        again, with the best schedule and the near-solutions so far. Others are ended only above the
        memory limit, and take no further part.
        """
        paused, working = self._memory.superfluous(self.pool, self.task.gain, self._shared.memory)
        for seat in paused:
            self.dismiss(seat)
        for seat in working:
            self.dismiss(seat, Exited("memory", self._memory.mebibytes))

    def compile_kernels(self) -> None:
        """Start to compile, in the background, the missing kernels of the run's engines."""
        if self._warm_up is not None:
            return
        # Not earlier: many runs end before any worker starts.
        self._warm_up = WarmUp(pending(self._config.engines))
        if self._warm_up.left:
            self.apply(HOST, Compiling(self._warm_up.left))
            self._warm_up.start()

    def share_problem(self) -> None:
        """Start to build, in the background, the Problem that all workers share if it is large."""
        self._shared.build()

    def extend(self, seconds: float) -> None:
        """Extend the time limit, for waiting that does not count, within a bound for the run."""
        self._extension = min(self._extension + seconds, MAX_EXTENSION_SECONDS)
        # The total: a paused worker gets only the newest line of each kind.
        self.pool.share({"extension": self._extension}, HOST)

    def apply(self, seat: int, event: Event) -> None:
        """Apply an event to the state, and carry out the actions that follow."""
        now = self.now()
        if self._bus.has_log:  # a line may have a million numbers
            self._bus.record(to_log(now, seat, event))
        with self.times.part("verifying") if isinstance(event, Offer | Bound) else nullcontext():
            actions = self.task.apply(now, seat, event)
        for action in actions:
            match action:
                case Announce(name, content):
                    self._bus.emit(name, now, content)
                case Share(line, author):
                    # With an evaluation budget, results must not depend on when news arrive.
                    if self._config.budget.evaluations is None:
                        self.pool.share(line, author)
                case Dismiss(dismissed):
                    for last in self.pool.dismiss(dismissed):
                        self.apply(dismissed, last)
        if isinstance(event, Started):
            self.pool.mark_started(seat)

    def start(self, opened: Opened, threads: int, content: Line) -> int:
        """Start a worker; return its seat."""
        seat = self.open_seat(opened)
        title = self.task.seats[seat].title
        budget = self._config.budget
        files = self._shared.files(opened.role)
        seconds = None if budget.seconds is None else max(0.0, self.left() or 0.0)
        job: Line = {
            "run": self.task.run_class,
            "kind": opened.role,
            "seed": seed_for(self._config.seed, title, self._starts[title]),
            "budget": asdict(Budget(seconds, budget.evaluations, threads, budget.memory)),
            "extension": self._extension,
            "news": self.task.news(),
            "files": files,
            **self.task.job(self._config),
            **content,
        }
        line = b"" if files else self._shared.line
        try:
            self.pool.start(seat, job, line, list(files.values()))
        except OSError as error:  # too few processes or open files
            self.apply(seat, Failed(f"could not be started: {error.strerror}"))
        return seat

    def open_seat(self, opened: Opened) -> int:
        """Return a new seat, of a worker or of work that is done elsewhere."""
        seat, self._next_seat = self._next_seat, self._next_seat + 1
        self.apply(seat, opened)
        return seat

    def seat_of(self, opened: Opened | None) -> int:
        """Return the seat of an author before any worker, a new one if it is not the host."""
        return HOST if opened is None else self.open_seat(opened)

    def start_engine(self, arm: Arm, role: str) -> int:
        """Start an engine, to search or to check its options; return its seat."""
        info = arm.engine
        content = {
            "target_name": info.target,
            "options": dict(self._config.options.get(info.name, {})),
            "engine": info.name,
            **self.task.job(self._config, arm),
        }
        opened = Opened(info.name, role, arm.view, info.proves)
        seat = self.start(opened, arm.threads, content)
        if role == "engine":
            self._starts[self.task.seats[seat].title] += 1
        return seat

    def dismiss(self, seat: int, reason: Exited = TERMINATED) -> None:
        """Apply the events that a worker has already sent, and end it at once."""
        for event in self.pool.dismiss(seat):
            self.apply(seat, event)
        self.apply(seat, reason)

    def stop(self, seats: Sequence[int]) -> None:
        """Stop these workers: at once if the run is over, otherwise with a time of grace.

        With an evaluation budget they always get the time of grace, as they then report what they
        have spent.
        """
        grace = GRACE_SECONDS
        if self._config.budget.evaluations is None and (self.task.done or self.interrupted):
            grace = 0.0
        elif self._config.budget.seconds is not None:
            left = self._config.budget.seconds + self._extension - self.now()
            grace = min(grace, max(0.0, left) + MAX_OVERRUN_SECONDS)
        self.pool.ask_to_stop(seats, grace)
        while self.pool.has(seats):
            self.listen(LISTEN_SECONDS)

    def end_workers(self) -> None:
        """End all processes, even after errors or a second Ctrl-C."""
        self._stop_requested = lambda: False
        try:
            for seat, event in self.pool.dismiss_paused():
                self.apply(seat, event)
            self.stop(self.pool.seats)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            if self._warm_up is not None:
                self._warm_up.stop()
            self.pool.close()
            self._shared.close()

    def left(self) -> float | None:
        """Return the seconds left, without the reserve for stopping engines; ``None``: no limit."""
        seconds = self._config.budget.seconds
        if seconds is None:
            return None
        return usable_seconds(seconds) + self._extension - self.now()

    def out_of_time(self) -> bool:
        """Return whether no time is left."""
        left = self.left()
        return left is not None and left <= 0
