"""One run: what is done when, phase by phase, and the result in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cchybrid.checker import proves_infeasible
from cchybrid.host.conclusion import conclude
from cchybrid.host.event_bus import EventBus
from cchybrid.host.events import Finished, Infeasible, Offer, Opened, Phased, Remarked, Sliced
from cchybrid.host.first_schedule import first_schedule
from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_history import PROOF_ARM, PROVER, ArmKey
from cchybrid.host.run_state import HOST, RunState
from cchybrid.host.strategies import STRATEGIES, Arm, Phase, one_by_one
from cchybrid.host.worker_control import LISTEN_SECONDS, WorkerControl
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import Observer
from cchybrid.proof.reach import unreachable

BOUNDS = "bound providers"
"""The name of the worker that runs the core's bound providers; others have their own."""
MAX_BOUND_WAIT_SECONDS = 10.0
"""How long a claimed optimum waits for the bound providers to certify it: on the suite ``thesis``
they took less, or did not find anything at all."""
MAX_WAIT_FOR_ALL_SECONDS = 4.0
"""How long an early verdict of a race waits for engines to start and send a first event."""
MAX_START_SECONDS = 10.0
"""How long the engines of a phase may take to start before another phase begins beside them: a
worker starts in half a second, on a machine with ten times the load in five."""
MAX_LATE_START_SECONDS = 2.0
"""How much longer than the first the others of a phase may take to start before its time slice
begins without them."""


class Session:
    """Carries out one run on one instance.

    Parameters
    ----------
    observers
        With the name of their plugin; called with every event. One that raises is dropped.
    log
        Called with every line of the log of the run (see ``replay``).
    """

    def __init__(
        self,
        instance: Instance,
        config: RunConfig,
        observers: Iterable[tuple[str, Observer]] = (),
        log: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        self.instance = instance
        self.config = config
        self._record = instance.to_json()
        self._bus = EventBus(observers, log)
        self.state = RunState(
            instance,
            target=config.target,
            provable=config.certify and not config.blind,
            strategy=config.strategy,
        )
        self._workers = WorkerControl(self.state, config, self._bus)
        self._pool = self._workers.pool
        self._seat_of: dict[ArmKey, int] = {}
        self._bounding: list[int] = []
        self._proving: int | None = None

    def run(self) -> Result:
        """Work until best meets bound, the budget is spent, or the user interrupts.

        Raises
        ------
        InputError
            If an engine refuses its options.
        """
        config = self.config
        self._bus.record({**config.to_log(), "instance": self._record})
        head = {"instance": self.instance.name, "seed": config.seed}
        self._bus.emit("run", self._workers.now(), head)
        try:
            self._find_infeasible()
            if self.state.infeasible is None:
                self._work()
        except KeyboardInterrupt:
            self._workers.interrupted = True
        finally:
            self._workers.end_workers()
        if self.state.refused is not None:
            raise InputError(self.state.refused)
        self._workers.apply(HOST, Finished(self._workers.interrupted))
        result = conclude(self.state, config, self._bus.troubles)
        self._bus.emit("result", result.seconds, result.to_json())
        return result

    # The run, phase by phase

    def _find_infeasible(self) -> None:
        evidence = unreachable(self.instance.forward)
        if evidence is not None:
            proves_infeasible(self._record, evidence)
            self._workers.apply(HOST, Infeasible(evidence))

    def _work(self) -> None:
        config, state = self.config, self.state
        if not self._options_are_taken():
            return
        self._start_bounds()
        self._workers.compile_kernels()
        repeatable = config.budget.evaluations is not None
        if repeatable or not config.engines:
            self._workers.listen_while(lambda: self._pool.has(self._bounding))
        if config.first_schedule and config.engines:
            self._make_first_schedule()
        for phase in self._phases(repeatable):
            left = self._workers.left()
            if state.done or (left is not None and left <= phase.min_seconds):
                break
            self._run_phase(phase)
        providers = [s for s in self._bounding if state.seats[s].opened.role == "bounds"]
        self._workers.listen_while(lambda: self._pool.has(providers) and not self._settled())
        self._certify()

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

    def _make_first_schedule(self) -> None:
        """Make the host's own greedy schedule, while the bound providers work."""

        def over() -> bool:
            self._workers.listen(0.0)
            return self._workers.out_of_time()

        steps = first_schedule(self.instance, over)
        if steps is not None:
            self._workers.apply(HOST, Offer(steps, 0, ""))
        else:
            messages = self.instance.forward.collective.deliver_messages
            goals = sum(len(message.destinations) for message in messages)
            text = f"too large for a greedy schedule in the time limit: {goals:,} deliveries"
            self._workers.apply(HOST, Remarked(text))

    def _certify(self) -> None:
        """Use the time that is left to prove the bound that only an engine claims."""
        board, seconds = self.state.board, self._workers.left()
        if not self.state.provable or self.state.refused is not None:
            return
        if seconds is None or seconds < 1 or board.lower <= board.certified.steps:
            return
        self._prove(board.lower)
        self._workers.apply(HOST, Phased((PROVER,)))
        seats = [self._seat_of[PROOF_ARM]]
        self._workers.listen_while(
            lambda: self._pool.has(seats) and board.certified.steps < board.lower
        )

    def _prove(self, steps: int) -> None:
        """Let the prover prove that many steps necessary, or go on if it already does."""
        seat = self._seat_of.get(PROOF_ARM)
        if seat is not None and self._pool.has([seat]):
            if self._proving == steps:
                self._pool.resume(seat)
                return
            self._workers.dismiss(seat)
        self._proving = steps
        seat = self._workers.start(Opened(PROVER, "proof", "proof"), 1, {"steps": steps})
        self._seat_of[PROOF_ARM] = seat
        self._bounding.append(seat)

    def _options_are_taken(self) -> bool:
        """Let every engine that the user set options of say whether it takes them."""
        asked = [
            self._workers.start_engine(Arm(info, 1), "options")
            for info in self.config.engines
            if self.config.options.get(info.name)
        ]
        self._workers.listen_while(lambda: self._pool.has(asked))
        return self.state.refused is None

    def _start_bounds(self) -> None:
        """Start the core's providers in one worker, and every other one in a worker of its own."""
        jobs: dict[str, list[list[str]]] = {}
        for info in self.config.bounds:
            core = info.target.startswith("cchybrid.")
            name = BOUNDS if core else f"bound provider {info.name}"
            jobs.setdefault(name, []).append([info.name, info.target])
        for name, providers in jobs.items():
            opened = Opened(name, "bounds", proves=False)
            self._bounding.append(self._workers.start(opened, 1, {"providers": providers}))

    def _run_phase(self, phase: Phase) -> None:
        state = self.state
        arms = [arm for arm in phase.arms if arm.key not in state.history.finished]
        self._await_kernels({arm.engine.name for arm in arms})
        if not arms or state.done:
            return
        seats = [self._take_seat(arm) for arm in arms]
        self._workers.apply(HOST, Phased(tuple(state.seats[seat].title for seat in seats)))
        begun = self._await_start(seats)
        patient_since = begun  # patience begins when the engines work
        time_left = self._workers.left() or 0.0
        end = None if phase.share >= 1 else begun + phase.share * time_left
        if phase.seconds is not None:
            end = begun + phase.seconds
        # The first schedule of a large instance may take long, and is worth more than a handover.
        late = begun + (1 if phase.pause else 2) * phase.share * time_left

        def going() -> bool:
            nonlocal patient_since
            now = self._workers.now()
            waiting = not state.offered and now < late
            patient_since = now if waiting else max(patient_since, state.improved_at)
            if phase.patience is not None and now - patient_since > phase.patience:
                return False
            in_time = waiting or end is None or now < end
            return in_time and self._at_work(seats, phase) and not state.done

        self._workers.listen_while(going)
        if phase.wait_for_all:
            self._wait_for_all(seats)
        for seat in seats:
            self._workers.apply(seat, Sliced(round(max(0.0, self._workers.now() - begun), 3)))
        if phase.pause and not state.done and not self._workers.out_of_time():
            self._pool.pause(seats)
            return
        if state.board.lower == self._proving and not state.settled:
            prover = self._seat_of.get(PROOF_ARM)  # it proves what is only claimed
            seats = [seat for seat in seats if seat != prover]
        self._workers.stop(seats)

    def _await_kernels(self, engines: set[str]) -> None:
        """Wait until the kernels of these engines are compiled, or, without any, of the next one.

        It happens once per installation and does not count in the time limit.
        """
        compiling = self.state.history.compiling
        awaited = engines or set(compiling)
        before = len(compiling & awaited)
        begun = self._workers.now()
        # Any arm may go on with the next engine; a phase with arms needs all of its own.
        while not self.state.done and compiling & awaited:
            if not engines and len(compiling) < before:
                break
            self._workers.listen(LISTEN_SECONDS)
        if before:
            self._workers.extend(self._workers.now() - begun)

    def _await_start(self, seats: Sequence[int]) -> float:
        """Wait until the engines work, so that no slice is spent on starting; return the second.

        An engine that takes much longer than another one does not keep that one's slice waiting.
        """
        begun = self._workers.now()
        first: float | None = None

        def waiting() -> bool:
            nonlocal first
            state, now = self.state, self._workers.now()
            alive = [seat for seat in seats if self._pool.has([seat])]
            missing = [seat for seat in alive if not state.seats[seat].started]
            if first is None and len(missing) < len(seats):
                first = now
            late = now - begun > MAX_START_SECONDS or (
                first is not None and now - first > MAX_LATE_START_SECONDS
            )
            return bool(missing) and not late and not state.done

        self._workers.listen_while(waiting)
        return self._workers.now()

    def _at_work(self, seats: Sequence[int], phase: Phase) -> bool:
        """Return whether any of these engines is alive and, where others wait, calls ``Run``.

        An engine that does not loses the rest of its time slice.
        """
        alive = [seat for seat in seats if self._pool.has([seat])]
        return any(not phase.pause or not self.state.seats[seat].silent for seat in alive)

    def _take_seat(self, arm: Arm) -> int:
        """Start a worker for an arm, or let its worker go on; return its seat."""
        if arm.view == "proof":
            self._prove(self.state.best or self.state.board.lower)
            return self._seat_of[arm.key]
        seat = self._seat_of.get(arm.key)
        if seat is not None and self._pool.has([seat]):
            self._pool.resume(seat)
            return seat
        seat = self._workers.start_engine(arm, "engine")
        self._seat_of[arm.key] = seat
        return seat

    def _wait_for_all(self, seats: Sequence[int]) -> None:
        """Wait until every engine has started, and then until each has sent something."""
        late = self._workers.now() + MAX_WAIT_FOR_ALL_SECONDS

        def waiting() -> bool:
            alive = (self.state.seats[seat] for seat in seats if self._pool.has([seat]))
            missing = not all(place.started and place.heard for place in alive)
            return missing and self._workers.now() < late

        self._workers.listen_while(waiting)

    def _settled(self) -> bool:
        """Return whether the bound providers cannot improve the verdict, or not soon enough."""
        state = self.state
        if state.refused is not None or state.settled:
            return True
        return state.done and self._workers.now() - state.found_at > MAX_BOUND_WAIT_SECONDS
