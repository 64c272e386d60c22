"""One run, from its task to its result.

1. Take what the task knows before any worker: that there is no answer, first answers, first bounds.
   If they meet, the run ends without any process.
2. Let the engines whose options the user set check them.
3. Start the bound providers and, in the background, the compilation of missing kernels and the
   building of a large Problem.
4. Run the phases of the task (``strategies``), one after another, until the best answer meets the
   best bound, the budget is spent, or the phases end.
5. If only an engine claims the best bound, use the remaining time to prove it.
6. End all workers; the task states the result.

What is known during the run is in the ``Task``; processes and the clock are in ``WorkerControl``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from cchybrid.host import events as ev
from cchybrid.host.callbacks import Callbacks
from cchybrid.host.event_bus import EventBus
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_history import PROOF_ARM
from cchybrid.host.task import HOST, Task
from cchybrid.host.worker_control import LISTEN_SECONDS, WorkerControl
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.records import Observer
from cchybrid.plugin.strategy import PROVER, Arm, ArmKey, Phase

MIN_FIRST_SECONDS = 3.0
"""Seconds that a first answer may take before any worker is started, and even if the time limit is
over."""
MAX_CHECK_SECONDS, MAX_CHECK_WAIT_SECONDS = 30.0, 300.0
"""Seconds for engines to check the options that the user set, whatever the time limit: those in
which a worker could work (``WorkingTime``), and wall-clock seconds. A second is enough."""
MAX_BOUND_WAIT_SECONDS = 10.0
"""Seconds for which a claimed optimum waits for bound providers to certify it; on the suite
``thesis`` they took less time, or found nothing."""
MAX_WAIT_FOR_ALL_SECONDS = 4.0
"""Seconds to wait at the end of a phase for engines to start and send a first event."""
MAX_START_SECONDS, MAX_START_WAIT_SECONDS = 10.0, 60.0
"""Seconds after which a time slice begins even if no engine of the phase has started: those in
which a worker could work, and wall-clock seconds. A worker starts in half a second."""
MAX_LATE_START_SECONDS = 2.0
"""Seconds in which a worker could work after the start of the first engine of a phase, after which
its time slice begins even if this worker has not started."""


class Session:
    """One run on one task.

    Parameters
    ----------
    observers
        Pairs of the name of a plugin and a function that is called with every event. One that
        raises is removed.
    log
        Called with every line of the log of the run (see ``replay``).
    callbacks
        The caller's functions.
    """

    def __init__(
        self,
        task: Task,
        config: RunConfig,
        observers: Iterable[tuple[str, Observer]] = (),
        log: Callable[[Mapping[str, Any]], None] | None = None,
        callbacks: Callbacks | None = None,
    ) -> None:
        self.task = task
        self.config = config
        self._callbacks = callbacks or Callbacks()
        self._bus = EventBus(observers, log, self._callbacks.notify)
        stop_requested = self._callbacks.stop_requested
        self._workers = WorkerControl(task, config, self._bus, stop_requested)
        self._pool = self._workers.pool
        self.part = self._workers.times.part
        self.now = self._workers.now
        self._seat_of: dict[ArmKey, int] = {}
        self._bound_workers: list[int] = []
        self._proving: int | None = None
        self._first_end: float | None = None

    def run(self) -> Any:
        """Run until the best answer meets the bound, the budget is spent, or the user interrupts.

        Returns
        -------
        RunResult
            The result of the task.

        Raises
        ------
        InputError
            If an engine rejects its options.
        Exception
            The exception of a callback, once all workers have ended.
        """
        config, task = self.config, self.task
        if self._bus.has_log:
            self._bus.record({**config.to_log(), "instance": task.record})
        head = {"instance": task.name, "seed": config.seed}
        try:
            self._bus.emit("run", self.now(), head)
            for opened, event in task.start(config, self):
                self._workers.apply(self._workers.seat_of(opened), event)
            if task.infeasible is None:
                self._find()
        except KeyboardInterrupt:
            self._workers.interrupted = True
        finally:
            with self.part("stopping"):
                self._workers.end_workers()
        if task.refused is not None:
            raise InputError(task.refused)
        times = self._workers.times.seconds()
        self._workers.apply(HOST, ev.Finished(self._workers.interrupted, times))
        result = task.result(config, self._bus.troubles)
        # Ctrl-C while an observer shows the result must not lose it.
        with suppress(KeyboardInterrupt):
            self._bus.emit("result", result.seconds, result.to_json())
        self._callbacks.raise_error()
        return result

    def should_stop(self) -> bool:
        """See ``Host.should_stop``: from a second on, workers start and events are dealt with."""
        if self._first_end is None:
            self._first_end = self.now() + MIN_FIRST_SECONDS
        if self.now() < self._first_end:
            return False
        self._start_background()
        self._workers.listen(0.0)
        return self._workers.out_of_time()

    def _find(self) -> None:
        """Check options, search, and prove what is claimed."""
        with self.part("checking options"):
            valid = self._options_are_valid()
        if valid:
            self._search()
            with self.part("proving"):
                self._certify()

    def _search(self) -> None:
        """Run the bound providers and the phases of the task."""
        config, state = self.config, self.task
        if not state.done:
            self._start_background()
        repeatable = config.budget.evaluations is not None
        if repeatable or not config.engines:
            with self.part("bounding"):
                self._workers.listen_while(lambda: self._pool.has(self._bound_workers))
        for phase in self._phases():
            if state.done or self._workers.out_of_time():
                break
            with self.part("searching"):
                self._run_phase(phase)
        with self.part("bounding"):
            self._workers.listen_while(
                lambda: self._pool.has(self._bound_workers) and not self._needs_no_more_bounds()
            )

    def _phases(self) -> Iterator[Phase]:
        """Yield the phases of the task until they end, or a plugin's strategy fails."""
        try:
            yield from self.task.phases(self.config)
        except PluginError as error:
            self._workers.apply(HOST, ev.Trouble(f"strategy {self.config.strategy}: {error}"))

    def _options_are_valid(self) -> bool:
        """Let every engine check the options that the user set for it."""
        seats = [
            self._workers.start_engine(Arm(info, 1), "options")
            for info in self.config.engines
            if self.config.options.get(info.name)
        ]
        start = self.now()
        end = start + MAX_CHECK_WAIT_SECONDS

        def is_checking() -> bool:
            alive = [seat for seat in seats if self._pool.has([seat])]
            in_time = any(self._pool.working_time(seat) < MAX_CHECK_SECONDS for seat in alive)
            return in_time and self.task.refused is None and self.now() < end

        while is_checking():
            self._workers.listen(LISTEN_SECONDS)
        for seat in seats:
            if self.task.refused is None and self._pool.has([seat]):
                text = f"did not check its options within {MAX_CHECK_SECONDS:.0f} seconds"
                self._workers.apply(seat, ev.Failed(text))
        self._do_not_count(start)
        return self.task.refused is None

    def _start_background(self) -> None:
        """Start the bound providers, and what engines need before they start, if time is left."""
        if self._bound_workers or self._workers.out_of_time():
            return
        if self.config.engines:
            self._workers.share_problem()
        self._workers.compile_kernels()
        for name, job in self.task.bound_jobs(self.config).items():
            self._bound_workers.append(self._workers.start(ev.Opened(name, "bounds"), 1, job))

    def _run_phase(self, phase: Phase) -> None:
        state = self.task
        compiling = state.history.compiling
        if phase.arms:
            engines = {arm.engine.name for arm in phase.arms}
            self._await_compilation(lambda: bool(compiling & engines))
        else:  # until the kernels of one of the engines that wait for them are compiled
            before = set(compiling)
            self._await_compilation(lambda: bool(before) and compiling == before)
        arms = [arm for arm in phase.arms if arm.key not in state.history.finished]
        if state.done:
            return
        if not arms:
            # A strategy that goes on for ever with finished arms waits for bounds and the time.
            self._workers.listen(LISTEN_SECONDS)
            return
        seats = [self._start_or_resume(arm) for arm in arms]
        self._workers.apply(HOST, ev.Phased(tuple(state.seats[seat].title for seat in seats)))
        with self.part("starting"):
            start = self._await_start(seats)
        last_improved = start
        time_left = self._workers.left() or 0.0
        end = None if phase.share >= 1 else start + phase.share * time_left
        if phase.seconds is not None:
            end = start + phase.seconds
        # Until an engine has offered a schedule, neither ``seconds`` nor ``patience`` ends the
        # phase: only its share of the time (twice the share if its engines are stopped afterwards).
        first_end = start + (1 if phase.pause else 2) * phase.share * time_left

        # It also updates the time of the last improvement, from which ``patience`` counts.
        def is_running() -> bool:
            nonlocal last_improved
            self._end_unstarted(seats)
            now = self.now()
            waiting = not state.offered and now < first_end
            last_improved = now if waiting else max(last_improved, state.improved_at)
            if phase.patience is not None and now - last_improved > phase.patience:
                return False
            in_time = waiting or end is None or now < end
            return in_time and self._has_active(seats, phase) and not state.done

        self._workers.listen_while(is_running)
        if phase.wait_for_all:
            self._wait_for_all(seats)
        for seat in seats:
            self._workers.apply(seat, ev.Sliced(round(max(0.0, self.now() - start), 3)))
        if phase.pause and not state.done and not self._workers.out_of_time():
            self._pool.pause(seats)
            return
        if self._proving is not None and state.claimed == self._proving:
            # Keep the prover: an engine now claims the bound that it is proving, and ``_certify``
            # goes on.
            prover = self._seat_of.get(PROOF_ARM)
            seats = [seat for seat in seats if seat != prover]
        self._workers.stop(seats)

    def _await_compilation(self, is_compiling: Callable[[], bool]) -> None:
        """Wait for kernels; the time, once per installation, does not count in the time limit."""
        while is_compiling() and not self.task.done and not self._workers.out_of_time():
            start = self.now()
            with self.part("compiling"):
                self._workers.listen(LISTEN_SECONDS)
            self._workers.extend(self.now() - start)

    def _start_or_resume(self, arm: Arm) -> int:
        """Start a worker for an arm, or resume its worker; return its seat."""
        if arm.view == "proof":
            self._prove(self.task.proof_goal)
            return self._seat_of[arm.key]
        seat = self._seat_of.get(arm.key)
        if seat is not None and self._pool.has([seat]):
            self._pool.resume(seat)
            return seat
        seat = self._workers.start_engine(arm, "engine")
        self._seat_of[arm.key] = seat
        return seat

    def _await_start(self, seats: Sequence[int]) -> float:
        """Wait until the engines have started; return the seconds since the start of the run.

        The time slice begins afterwards, so that starting does not use it up. An engine that takes
        much longer than the others is not waited for.
        """
        end = self.now() + MAX_START_WAIT_SECONDS
        limits = dict.fromkeys(seats, self.task.max_start_seconds or MAX_START_SECONDS)
        before = self.now()

        # It also sets the limits when the first engine has started.
        def waiting() -> bool:
            nonlocal before
            self._do_not_count(before)
            before = self.now()
            self._end_unstarted(seats)
            late = [seat for seat in seats if not self.task.seats[seat].started]
            missing = {s: self._pool.working_time(s) for s in late if self._pool.has([s])}
            if len(missing) < len(seats):
                for seat, worked in missing.items():
                    limits[seat] = min(limits[seat], worked + MAX_LATE_START_SECONDS)
            in_time = any(worked <= limits[seat] for seat, worked in missing.items())
            return in_time and self.now() <= end and not self.task.done

        self._workers.listen_while(waiting)
        return self.now()

    def _do_not_count(self, since: float) -> None:
        """Extend the time limit by the time since then, where preparing does not count."""
        if self.task.max_start_seconds is not None:
            self._workers.extend(self.now() - since)

    def _end_unstarted(self, seats: Sequence[int]) -> None:
        """End workers that do not start, where the task limits that."""
        limit = self.task.max_start_seconds
        for seat in seats if limit is not None else ():
            if self._pool.has([seat]) and not self.task.seats[seat].started:
                worked = self._pool.working_time(seat)
                if worked >= (limit or 0.0):
                    text = f"did not start within {worked:.0f} seconds of work"
                    self._workers.apply(seat, ev.Failed(text))

    def _has_active(self, seats: Sequence[int], phase: Phase) -> bool:
        """Return whether an engine is alive.

        In a phase with ``pause``, a silent one does not count, so that it does not keep the paused
        ones waiting.
        """
        alive = [seat for seat in seats if self._pool.has([seat])]
        return any(not phase.pause or not self.task.seats[seat].silent for seat in alive)

    def _wait_for_all(self, seats: Sequence[int]) -> None:
        """Wait until every engine has started and sent a first event."""
        deadline = self.now() + MAX_WAIT_FOR_ALL_SECONDS

        def waiting() -> bool:
            alive = (self.task.seats[seat] for seat in seats if self._pool.has([seat]))
            missing = not all(worker.started and worker.has_sent for worker in alive)
            return missing and self.now() < deadline

        self._workers.listen_while(waiting)

    def _needs_no_more_bounds(self) -> bool:
        """Return whether to stop waiting for the bound providers."""
        state = self.task
        if state.refused is not None or state.is_certified:
            return True
        return state.done and self.now() - state.found_at > MAX_BOUND_WAIT_SECONDS

    def _certify(self) -> None:
        """Use the remaining time to prove a bound that only an engine claims."""
        task, seconds = self.task, self._workers.left()
        goal = task.claimed
        if goal is None or task.refused is not None or seconds is None or seconds < 1:
            return
        self._prove(goal)
        self._workers.apply(HOST, ev.Phased((PROVER,)))
        seats = [self._seat_of[PROOF_ARM]]
        self._workers.listen_while(lambda: self._pool.has(seats) and task.claimed is not None)

    def _prove(self, steps: int) -> None:
        """Start the prover on this lower bound, or resume it if it is already working on it."""
        seat = self._seat_of.get(PROOF_ARM)
        if seat is not None and self._pool.has([seat]):
            if self._proving == steps:
                self._pool.resume(seat)
                return
            self._workers.dismiss(seat)
        self._proving = steps
        seat = self._workers.start(ev.Opened(PROVER, "proof", "proof"), 1, {"steps": steps})
        self._seat_of[PROOF_ARM] = seat
