"""One instance on many machines: time slices of engines, seeds and groups race there.

The coordinator is a session whose engines work elsewhere. Every job is a whole run of the same task
on some machine, of one *arm*: the bound providers, all engines together, each engine alone, or all
engines on quotients by groups of automorphisms. Further slices of an arm have other seeds, so that
with many machines seeds and groups race, too. A slice begins with the best schedule and the best
bound with evidence that the coordinator has. Slices of an arm double, up to a maximum.

The coordinator verifies every schedule and every piece of evidence in the task, as for workers
on its own machine. It ends the race when schedule and bound meet, or the time is up.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cchybrid.host import events as ev
from cchybrid.host.callbacks import Callbacks
from cchybrid.host.run_config import QUOTIENTS, RunConfig, seed_for
from cchybrid.host.schedule_task import BOUNDS, ScheduleTask
from cchybrid.host.session import Session
from cchybrid.host.task import HOST
from cchybrid.host.wire import LineReader, WireError
from cchybrid.model import Schedule
from cchybrid.plugin.executor import Executor, Job, JobAnswer
from cchybrid.plugin.records import EngineInfo, Observer

MODULE = "cchybrid_plugins.cluster.solve_job"
FIRST_SLICE_SECONDS, FIRST_SLICE_SHARE = 10.0, 0.2
"""The first slice of an arm: seconds, or a share of a short time limit."""
MAX_SLICE_SECONDS = 300.0
"""The longest slice; its news reach the others at its end."""
MIN_SLICE_SECONDS = 1.0
START_SECONDS = 2.0
"""Seconds that are kept of the time limit for the start of a job and the way of its answer."""
OVERTIME_SECONDS = 180.0
"""Seconds beyond its time slice after which a job is ended; it may have to compile kernels."""
MAX_FAILURES = 3
"""Slices of an arm that fail one after another before it is given up."""
POLL_SECONDS = 0.2
"""Longest wait for an answer before the clock and Ctrl-C are looked at."""


@dataclass
class RaceArm:
    """Engines that race in time slices.

    Attributes
    ----------
    title
        Its name for people.
    config
        The configuration of its slices.
    proves
        Whether it may claim bounds without evidence.
    starts, failures
        Its slices so far, and how many have failed since one was done.
    seconds
        The length of its next slice.
    ended
        Whether it has nothing left to do.
    """

    title: str
    config: RunConfig
    proves: bool = False
    starts: int = 0
    failures: int = 0
    seconds: float = FIRST_SLICE_SECONDS
    ended: bool = False


@dataclass
class _Slice:
    """A slice that is running."""

    arm: RaceArm
    seconds: float
    began: float
    steps: int | None
    lower: int


class ClusterSession(Session):
    """A run whose engines work on the machines of an executor.

    Parameters
    ----------
    executor
        The machines; the caller closes it.
    task, config, observers, log, callbacks
        As in ``Session``.
    """

    def __init__(
        self,
        executor: Executor,
        task: ScheduleTask,
        config: RunConfig,
        observers: Iterable[tuple[str, Observer]] = (),
        log: Callable[[Mapping[str, Any]], None] | None = None,
        callbacks: Callbacks | None = None,
    ) -> None:
        super().__init__(task, config, observers, log, callbacks)
        self.task: ScheduleTask = task
        self._executor = executor
        self._running: dict[str, _Slice] = {}

    def _start_background(self) -> None:
        """Start nothing on this machine: bound providers are an arm."""

    def _search(self) -> None:
        """Run the race."""
        try:
            self._race(race_arms(self.config))
        finally:
            self._executor.cancel()

    def _race(self, arms: Sequence[RaceArm]) -> None:
        seconds = self.config.budget.seconds or FIRST_SLICE_SECONDS
        for arm in arms:
            arm.seconds = min(FIRST_SLICE_SECONDS, FIRST_SLICE_SHARE * seconds)
        threads = self.config.budget.threads
        while not self.task.done and not self._workers.out_of_time():
            able = [arm for arm in arms if not arm.ended]
            if not able and not self._running:
                return
            while able and len(self._running) < self._executor.slots(threads):
                if (self._workers.left() or 0.0) < MIN_SLICE_SECONDS + START_SECONDS:
                    break
                self._start(min(able, key=lambda arm: arm.starts))
            for answer in self._executor.poll(POLL_SECONDS):
                self._take(answer)
            self._workers.listen(0.0)  # it raises if the caller ends the run
        # The part of the time that is kept for stopping engines is for the last answers.
        while self._running and not self.task.done and self.now() < seconds:
            for answer in self._executor.poll(POLL_SECONDS):
                self._take(answer)

    def _start(self, arm: RaceArm) -> None:
        """Submit the next slice of an arm."""
        state, left = self.task, self._workers.left() or 0.0
        seconds = max(MIN_SLICE_SECONDS, min(arm.seconds, left - START_SECONDS))
        seed = seed_for(self.config.seed, arm.title, arm.starts)
        budget = replace(self.config.budget, seconds=seconds)
        config = replace(arm.config, seed=seed, budget=budget)
        content: dict[str, Any] = {"config": config.to_json()}
        best = state.schedule
        if best is None:
            content["instance"] = state.record
        else:
            bound = state.blackboard.certified
            content["schedule"] = Schedule(state.instance, best.steps, bound).to_json()
        key = f"{arm.title}-{arm.starts}"
        self._running[key] = _Slice(arm, seconds, self.now(), state.best, state.blackboard.lower)
        arm.starts += 1
        line = json.dumps(content, separators=(",", ":")).encode()
        threads = self.config.budget.threads
        self._executor.submit(Job(key, MODULE, line, threads, seconds + OVERTIME_SECONDS))
        titles = (slice.arm.title for slice in self._running.values())
        self._workers.apply(HOST, ev.Phased(tuple(dict.fromkeys(titles))))

    def _take(self, answer: JobAnswer) -> None:
        """Apply the events of an answer."""
        done = self._running.pop(answer.key, None)
        if done is None:
            return
        arm, state = done.arm, self.task
        seat = self._workers.open_seat(ev.Opened(arm.title, "engine", proves=arm.proves))
        if answer.failure:
            self._workers.apply(seat, ev.Trouble(f"a slice failed: {answer.failure}"))
        try:
            for event in LineReader().feed(answer.output):
                self._workers.apply(seat, event)
        except WireError as error:
            self._workers.apply(seat, ev.Garbled(str(error)))
        improved = (state.best, state.blackboard.lower) != (done.steps, done.lower)
        lasted = self.now() - done.began
        if answer.failure or state.seats[seat].distrusted:
            arm.failures += 1
            arm.ended = arm.ended or arm.failures >= MAX_FAILURES
            return
        arm.failures = 0
        arm.seconds = max(arm.seconds, min(2 * done.seconds, MAX_SLICE_SECONDS))
        # What returns early without anything new has nothing left to do, whatever the seed.
        if lasted < done.seconds / 2 and not improved:
            arm.ended = True


def race_arms(config: RunConfig) -> list[RaceArm]:
    """Return the arms of a race: all engines, the bound providers, each engine alone, quotients.

    Options that the user set go to the arms in which their engine takes part.
    """
    infos = list(config.engines)

    def arm(title: str, engines: Sequence[EngineInfo], strategy: str, bounds: bool) -> RaceArm:
        owners = {*(info.name for info in engines), strategy, "quotients"} if engines else set()
        own = replace(
            config,
            engines=engines,
            bounds=config.bounds if bounds else (),
            strategy=strategy,
            strategy_target=config.strategy_target if strategy == config.strategy else QUOTIENTS,
            first_schedule=False,
            first_bounds=False,
            options={name: texts for name, texts in config.options.items() if name in owners},
        )
        proves = strategy == config.strategy and any(info.proves for info in engines)
        return RaceArm(title, own, proves)

    arms = []
    if infos:
        arms.append(arm(config.strategy, infos, config.strategy, False))
    if config.bounds:
        arms.append(arm(BOUNDS, [], config.strategy, True))
    if len(infos) > 1:
        arms += [arm(info.name, [info], config.strategy, False) for info in infos]
    if infos and config.strategy == "auto":
        arms.append(arm("quotients", infos, "quotients", False))
    return arms
