"""One run, from the instance to the result.

1. Look for destinations that cannot be reached: then the instance is infeasible.
2. Make the host's own greedy schedule, unless the run has none.
3. Compute the cheapest bounds, unless the user names the engines: if the greedy schedule meets
   them, the run ends without any process.
4. Let the engines whose options the user set check them.
5. Start the bound providers and, in the background, the compilation of missing kernels and the
   building of a large Problem.
6. Run the phases of the strategy (``strategies``), one after another, until the best schedule
   meets the best bound, the budget is spent, or the strategy ends.
7. If only an engine claims the best bound, use the remaining time to prove it.
8. End all workers and derive the result (``conclusion``).

What is known during the run is in ``RunState``; processes and the clock are in ``WorkerControl``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from cchybrid.checker import proves_infeasible
from cchybrid.host import events as ev
from cchybrid.host.callbacks import Callbacks
from cchybrid.host.conclusion import conclude
from cchybrid.host.event_bus import EventBus
from cchybrid.host.first_schedule import first_schedule
from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_history import PROOF_ARM, PROVER, ArmKey
from cchybrid.host.run_state import HOST, RunState
from cchybrid.host.strategies import STRATEGIES, Arm, Phase, one_by_one
from cchybrid.host.worker_control import LISTEN_SECONDS, WorkerControl
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import Observer
from cchybrid.proof.reach import unreachable
from cchybrid.proof.records import bounds_of

MIN_GREEDY_SECONDS = 1.0
"""Seconds that the greedy schedule may take before any worker is started, and even if the time
limit is over."""
MAX_CHECK_SECONDS, MAX_CHECK_WAIT_SECONDS = 30.0, 300.0
"""Seconds for engines to check the options that the user set, whatever the time limit: those in
which a worker could work (``WorkingTime``), and wall-clock seconds. A second is enough."""
FIRST_BOUNDS: Mapping[str, float] = {
    "growth": math.inf,
    "nested-sets": math.inf,
    "cut": math.inf,
    "cut-over-time": 300,
    "prices": 1_200,  # columns of its linear program
}
"""The bound providers that the host asks itself as long as the instance is small, and for each the
largest product of nodes and channels for which it takes some ten milliseconds."""
MAX_FIRST_NODES, MAX_FIRST_PAIRS = 128, 20_000
"""The largest such instance: nodes, and nodes times messages."""
MAX_FIRST_SECONDS = 0.2
"""Seconds after which the host leaves those of any size to the worker of the bound providers."""
BOUNDS = "bound providers"
"""Name of the worker that runs the bound providers of cchybrid; every other has its own."""
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
    """One run on one instance.

    Parameters
    ----------
    observers
        Pairs of the name of a plugin and a function that is called with every event. One that
        raises is removed.
    log
        Called with every line of the log of the run (see ``replay``).
    callbacks
        The caller's functions.
    initial
        A verified schedule to start from. Its bound counts if its evidence holds.
    """

    def __init__(
        self,
        instance: Instance,
        config: RunConfig,
        observers: Iterable[tuple[str, Observer]] = (),
        log: Callable[[Mapping[str, Any]], None] | None = None,
        callbacks: Callbacks | None = None,
        initial: Schedule | None = None,
    ) -> None:
        self.instance = instance
        self.config = config
        self._initial = initial
        self._callbacks = callbacks or Callbacks()
        self._bus = EventBus(observers, log, self._callbacks.notify)
        self.state = RunState(
            instance,
            target=config.target,
            provable=config.certify and not config.blind,
            strategy=config.strategy,
        )
        stop_requested = self._callbacks.stop_requested
        self._workers = WorkerControl(self.state, config, self._bus, stop_requested)
        self._pool = self._workers.pool
        self._part = self._workers.times.part
        self._seat_of: dict[ArmKey, int] = {}
        self._bound_workers: list[int] = []
        self._proving: int | None = None

    def run(self) -> Result:
        """Run until the best schedule meets the bound, the budget is spent, or the user interrupts.

        Raises
        ------
        InputError
            If an engine rejects its options.
        Exception
            The exception of a callback, once all workers have ended.
        """
        config = self.config
        self._bus.record({**config.to_log(), "instance": self._workers.record})
        head = {"instance": self.instance.name, "seed": config.seed}
        try:
            self._bus.emit("run", self._workers.now(), head)
            self._find_infeasible()
            if self.state.infeasible is None:
                self._find_schedule()
        except KeyboardInterrupt:
            self._workers.interrupted = True
        finally:
            with self._part("stopping"):
                self._workers.end_workers()
        if self.state.refused is not None:
            raise InputError(self.state.refused)
        times = self._workers.times.seconds()
        self._workers.apply(HOST, ev.Finished(self._workers.interrupted, times))
        result = conclude(self.state, config, self._bus.troubles)
        # Ctrl-C while an observer shows the result must not lose it.
        with suppress(KeyboardInterrupt):
            self._bus.emit("result", result.seconds, result.to_json())
        self._callbacks.raise_error()
        return result

    def _find_infeasible(self) -> None:
        evidence = unreachable(self.instance.forward)
        if evidence is not None:
            proves_infeasible(self._workers.record, evidence)
            self._workers.apply(HOST, ev.Infeasible(evidence))

    def _begin(self) -> None:
        """Take the initial schedule, and make the host's own schedule and bounds."""
        config = self.config
        if self._initial is not None:
            bound = None if config.blind else self._initial.lower_bound
            self._workers.offer_initial(self._initial.steps, bound)
        if config.first_schedule and config.engines:
            with self._part("first schedule"):
                self._make_first_schedule()
        if config.first_bounds and self.state.best is not None:
            with self._part("bounding"):
                self._take_first_bounds()

    def _find_schedule(self) -> None:
        self._begin()
        with self._part("checking options"):
            valid = self._options_are_valid()
        if valid:
            self._search()
            with self._part("proving"):
                self._certify()

    def _search(self) -> None:
        """Run the bound providers and the phases of the strategy."""
        config, state = self.config, self.state
        if not state.done:
            self._start_background()
        repeatable = config.budget.evaluations is not None
        if repeatable or not config.engines:
            with self._part("bounding"):
                self._workers.listen_while(lambda: self._pool.has(self._bound_workers))
        for phase in self._phases(repeatable):
            left = self._workers.left()
            if state.done or (left is not None and left <= phase.min_seconds):
                break
            with self._part("searching"):
                self._run_phase(phase)
        with self._part("bounding"):
            self._workers.listen_while(
                lambda: self._pool.has(self._bound_workers) and not self._needs_no_more_bounds()
            )

    def _options_are_valid(self) -> bool:
        """Let every engine check the options that the user set for it."""
        seats = [
            self._workers.start_engine(Arm(info, 1), "options")
            for info in self.config.engines
            if self.config.options.get(info.name)
        ]
        end = self._workers.now() + MAX_CHECK_WAIT_SECONDS

        def is_checking() -> bool:
            alive = [seat for seat in seats if self._pool.has([seat])]
            in_time = any(self._pool.working_time(seat) < MAX_CHECK_SECONDS for seat in alive)
            return in_time and self.state.refused is None and self._workers.now() < end

        while is_checking():
            self._workers.listen(LISTEN_SECONDS)
        for seat in seats:
            if self.state.refused is None and self._pool.has([seat]):
                text = f"did not check its options within {MAX_CHECK_SECONDS:.0f} seconds"
                self._workers.apply(seat, ev.Failed(text))
        return self.state.refused is None

    def _start_background(self) -> None:
        """Start the bound providers, and what engines need before they start, if time is left.

        The providers of cchybrid share a worker, and every other one has its own.
        """
        if self._bound_workers or self._workers.out_of_time():
            return
        if self.config.engines:
            self._workers.share_problem()
        self._workers.compile_kernels()
        jobs: dict[str, list[list[str | bool]]] = {}
        for info in self.config.bounds:
            core = info.target.startswith("cchybrid.")
            name = BOUNDS if core else f"bound provider {info.name}"
            jobs.setdefault(name, []).append([info.name, info.target, info.rounds])
        for name, providers in jobs.items():
            opened = ev.Opened(name, "bounds", proves=False)
            self._bound_workers.append(self._workers.start(opened, 1, {"providers": providers}))

    def _make_first_schedule(self) -> None:
        """Make the host's own greedy schedule; if it takes long, while the bound providers run."""
        end = self._workers.now() + MIN_GREEDY_SECONDS

        # Besides its result, it listens to the bound providers, once they have started.
        def should_stop() -> bool:
            if self._workers.now() < end:
                return False
            self._start_background()
            self._workers.listen(0.0)
            return self._workers.out_of_time()

        steps = first_schedule(self.instance, should_stop)
        if steps is not None:
            self._workers.apply(HOST, ev.Offer(steps, 0, ""))
        else:
            count = self.state.history.deliveries
            text = f"too large for a greedy schedule in the time limit: {count:,} deliveries"
            self._workers.apply(HOST, ev.Remarked(text))

    def _take_first_bounds(self) -> None:
        """Compute the cheapest bounds of a small instance in this process."""
        messages = self.instance.forward.collective.deliver_messages
        nodes, channels = self.instance.network.nodes, len(self.instance.network.channels)
        if nodes > MAX_FIRST_NODES or nodes * len(messages) > MAX_FIRST_PAIRS:
            return
        end = self._workers.now() + MAX_FIRST_SECONDS
        for info in self.config.bounds:
            if info.name not in FIRST_BOUNDS or not info.target.startswith("cchybrid."):
                continue
            limit = FIRST_BOUNDS[info.name]
            if nodes * channels > limit:
                continue
            for bound in bounds_of(info.target, info.rounds, self.instance):
                event = ev.Bound(bound.steps, bound.evidence, provider=info.name)
                self._workers.apply(HOST, event)
                if self.state.done:
                    return
                if limit == math.inf and self._workers.now() > end:
                    break

    def _phases(self, repeatable: bool) -> Iterable[Phase]:
        config = self.config
        if not config.engines:
            return ()
        if repeatable:
            return one_by_one(config.engines, config.budget.threads)
        strategy = STRATEGIES[config.strategy]
        return strategy.phases(
            config.engines, config.budget.threads, self.state.history, config.strategy_options
        )

    def _run_phase(self, phase: Phase) -> None:
        state = self.state
        if phase.arms:
            self._await_kernels({arm.engine.name for arm in phase.arms})
        else:
            self._await_any_kernel()
        arms = [arm for arm in phase.arms if arm.key not in state.history.finished]
        if not arms or state.done:
            return
        seats = [self._start_or_resume(arm) for arm in arms]
        self._workers.apply(HOST, ev.Phased(tuple(state.seats[seat].title for seat in seats)))
        with self._part("starting"):
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
            now = self._workers.now()
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
            self._workers.apply(seat, ev.Sliced(round(max(0.0, self._workers.now() - start), 3)))
        if phase.pause and not state.done and not self._workers.out_of_time():
            self._pool.pause(seats)
            return
        if state.blackboard.lower == self._proving and not state.is_certified:
            # Keep the prover: an engine now claims the bound that it is proving, and ``_certify``
            # goes on.
            prover = self._seat_of.get(PROOF_ARM)
            seats = [seat for seat in seats if seat != prover]
        self._workers.stop(seats)

    def _await_kernels(self, engines: set[str]) -> None:
        """Wait until the kernels of these engines are compiled."""
        compiling = self.state.history.compiling
        self._await_compilation(lambda: bool(compiling & engines))

    def _await_any_kernel(self) -> None:
        """Wait until the kernels of one of the engines that wait for them are compiled."""
        compiling = self.state.history.compiling
        before = set(compiling)
        self._await_compilation(lambda: bool(before) and compiling == before)

    def _await_compilation(self, is_compiling: Callable[[], bool]) -> None:
        """Wait for kernels; the time, once per installation, does not count in the time limit."""
        while is_compiling() and not self.state.done and not self._workers.out_of_time():
            start = self._workers.now()
            with self._part("compiling"):
                self._workers.listen(LISTEN_SECONDS)
            self._workers.extend(self._workers.now() - start)

    def _start_or_resume(self, arm: Arm) -> int:
        """Start a worker for an arm, or resume its worker; return its seat."""
        if arm.view == "proof":
            self._prove(self.state.best or self.state.blackboard.lower)
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
        end = self._workers.now() + MAX_START_WAIT_SECONDS
        limits = dict.fromkeys(seats, MAX_START_SECONDS)

        # It also sets the limits when the first engine has started.
        def waiting() -> bool:
            late = [seat for seat in seats if not self.state.seats[seat].started]
            missing = {s: self._pool.working_time(s) for s in late if self._pool.has([s])}
            if len(missing) < len(seats):
                for seat, worked in missing.items():
                    limits[seat] = min(limits[seat], worked + MAX_LATE_START_SECONDS)
            in_time = any(worked <= limits[seat] for seat, worked in missing.items())
            return in_time and self._workers.now() <= end and not self.state.done

        self._workers.listen_while(waiting)
        return self._workers.now()

    def _has_active(self, seats: Sequence[int], phase: Phase) -> bool:
        """Return whether an engine is alive.

        In a phase with ``pause``, a silent one does not count, so that it does not keep the paused
        ones waiting.
        """
        alive = [seat for seat in seats if self._pool.has([seat])]
        return any(not phase.pause or not self.state.seats[seat].silent for seat in alive)

    def _wait_for_all(self, seats: Sequence[int]) -> None:
        """Wait until every engine has started and sent a first event."""
        deadline = self._workers.now() + MAX_WAIT_FOR_ALL_SECONDS

        def waiting() -> bool:
            alive = (self.state.seats[seat] for seat in seats if self._pool.has([seat]))
            missing = not all(worker.started and worker.has_sent for worker in alive)
            return missing and self._workers.now() < deadline

        self._workers.listen_while(waiting)

    def _needs_no_more_bounds(self) -> bool:
        """Return whether to stop waiting for the bound providers."""
        state = self.state
        if state.refused is not None or state.is_certified:
            return True
        return state.done and self._workers.now() - state.found_at > MAX_BOUND_WAIT_SECONDS

    def _certify(self) -> None:
        """Use the remaining time to prove a bound that only an engine claims."""
        blackboard, seconds = self.state.blackboard, self._workers.left()
        if not self.state.provable or self.state.refused is not None:
            return
        if seconds is None or seconds < 1 or blackboard.lower <= blackboard.certified.steps:
            return
        self._prove(blackboard.lower)
        self._workers.apply(HOST, ev.Phased((PROVER,)))
        seats = [self._seat_of[PROOF_ARM]]
        self._workers.listen_while(
            lambda: self._pool.has(seats) and blackboard.certified.steps < blackboard.lower
        )

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
