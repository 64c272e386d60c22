"""Schedules of an allreduce: compositions of other collectives, and direct ones by CP-SAT.

1. Bounds of its parts (``allreduce_bounds``).
2. An allgather of all parts, which every node adds up for itself: few steps, many transfers.
3. A reduction of every message to a node and a broadcast from there, the messages spread over the
   nodes: a reduce-scatter and an allgather. Transfers then move to earlier steps where there is
   room, as reductions of some messages and broadcasts of others do not wait for each other.
4. On small networks, a model of partial sums (``toolkit.cpsat.allreduce``), for ever fewer steps.

The halves are solved by runs of their own. The referee verifies every schedule as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

from cchybrid.host.allreduce_bounds import allreduce_bounds, refuse_unreachable
from cchybrid.host.callbacks import Callbacks
from cchybrid.host.event_bus import EventBus
from cchybrid.host.result import Result, Status
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_history import Contribution
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.session import Session
from cchybrid.host.versions import versions
from cchybrid.model import (
    AllReduction,
    Collective,
    Instance,
    LowerBound,
    Message,
    Reduction,
    Schedule,
    Steps,
    Sums,
    Transfer,
)
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import reverse_steps
from cchybrid.plugin.records import Observer
from cchybrid.referee.distances import hop_distances
from cchybrid.referee.verify import verify_schedule

BOUND_SHARE = 0.2
"""Share of the time limit for bounds before any search; the rest follows after the searches."""
PASSED_ON = ("phase", "trouble")
"""Events of the runs of the halves that observers see."""


class AllReduceRun:
    """One run on an allreduce; the parameters are those of ``Session``."""

    def __init__(
        self,
        instance: Instance,
        config: RunConfig,
        observers: Iterable[tuple[str, Observer]] = (),
        callbacks: Callbacks | None = None,
        initial: Schedule | None = None,
    ) -> None:
        _refuse(instance, config)
        self.instance, self.config = instance, config
        self._callbacks = callbacks or Callbacks()
        self._bus = EventBus(observers, None, self._callbacks.notify)
        self._messages = cast(tuple[AllReduction, ...], instance.collective.messages)
        self._best: Schedule | None = None
        self._found_by, self._found_at = "", 0.0
        self._bound, self._bound_by = LowerBound(1), ""
        self._contributions: list[Contribution] = []
        self._troubles: list[str] = []
        self._remarks: list[str] = []
        self._searched: dict[str, float] = {}
        self._options: dict[str, Mapping[str, Any]] = {}
        self._halves_optimal = False
        self._interrupted = False
        self._initial = initial

    def run(self) -> Result:
        """Run until the best schedule meets the bound, the time is spent, or the user interrupts.

        Raises
        ------
        InputError
            A member's part cannot reach another member.
        """
        refuse_unreachable(self.instance)
        seed = self.config.seed
        self._bus.emit("run", self._bus.now(), {"instance": self.instance.name, "seed": seed})
        try:
            if self._initial is not None:
                self._offer(self._initial, "initial schedule")
            self._find_bounds(BOUND_SHARE if self.config.engines else 1.0)
            if self.config.engines:
                for name, search in (
                    ("allgather of all parts", self._gather_all_parts),
                    ("compositions", self._compose),
                    ("partial sums", self._search_directly),
                ):
                    if not self._done() or self._needs_any_schedule():
                        started = self._bus.now()
                        self._searched[name] = 0.0  # if it is interrupted
                        search()
                        self._searched[name] = round(self._bus.now() - started, 3)
                if not self._done():
                    self._find_bounds(1.0)
        except KeyboardInterrupt:
            self._interrupted = True
        self._interrupted = self._interrupted or self._callbacks.stop_requested()
        result = self._result()
        with suppress(KeyboardInterrupt):
            self._bus.emit("result", result.seconds, result.to_json())
        self._callbacks.raise_error()
        return result

    def _left(self) -> float:
        return (self.config.budget.seconds or 0.0) - self._bus.now()

    def _out_of_time(self) -> bool:
        return self._left() <= 0 or self._callbacks.stop_requested()

    def _done(self) -> bool:
        target = self.config.target
        if self._out_of_time() or (target is not None and self._bound.steps > target):
            return True
        enough = self._bound.steps if target is None else max(target, self._bound.steps)
        return self._best is not None and len(self._best.steps) <= enough

    def _needs_any_schedule(self) -> bool:
        """Whether to search even if the time is over, which gives at least a greedy schedule."""
        target = self.config.target
        possible = target is None or self._bound.steps <= target
        return self._best is None and possible and not self._callbacks.stop_requested()

    def _find_bounds(self, share: float) -> None:
        end = share * (self.config.budget.seconds or 0.0)

        def is_over() -> bool:
            return self._bus.now() > end or self._out_of_time()

        for name, bound in allreduce_bounds(
            self.instance, self.config.bounds, is_over, self._trouble_once
        ):
            if bound.steps <= self._bound.steps and self._bound_by:
                continue
            self._bound, self._bound_by = bound, name
            self._contribute(name, "", "bound")
            content = {"engine": name, "steps": bound.steps, "certified": True}
            self._bus.emit("bound", self._bus.now(), content)
            if self._done():
                return

    def _gather_all_parts(self) -> None:
        """Solve an allgather of the parts of all members; each adds up what it gets."""
        parts = [
            (index, node, Message(node, _others(message.members, node)))
            for index, message in enumerate(self._messages)
            for node in message.members
        ]
        steps = self._solve("allgather of all parts", [part for _, _, part in parts], 0.25)
        if steps is not None:
            moved = tuple(
                tuple(Transfer(parts[number][0], path) for number, path in step) for step in steps
            )
            sums = tuple(tuple((parts[number][1],) for number, _ in step) for step in steps)
            self._offer(Schedule(self.instance, moved, sums=sums), "allgather of all parts")

    def _compose(self) -> None:
        """Reduce every message to a node, and broadcast the sum from there."""
        self._halves_optimal = True
        homes = self._homes()
        pairs = list(zip(self._messages, homes, strict=True))
        spread = [Message(home, _others(message.members, home)) for message, home in pairs]
        gather = [Reduction(_others(message.members, home), home) for message, home in pairs]
        second = self._solve("allgather", spread, 0.4)
        if second is None:
            return
        if self._is_symmetric():
            first: Steps | None = reverse_steps(second)
        else:
            first = self._solve("reduce-scatter", gather, 0.6)
        if first is None:
            return
        how = f"reduce-scatter in {len(first)} steps, allgather in {len(second)}"
        if self._halves_optimal:
            self._remark(f"{how}: optimal among compositions with these roots")
        whole = (*first, *second)
        self._offer(with_sums(self.instance, whole), how)
        early = moved_ahead(with_sums(self.instance, whole))
        if len(early.steps) < len(whole):
            self._offer(early, f"{how}, overlapped")

    def _search_directly(self) -> None:
        """Search for ever shorter schedules of partial sums by CP-SAT, while the model is small."""
        from cchybrid.toolkit.cpsat.allreduce import MAX_VARIABLES, find_allreduce, model_size
        from cchybrid.toolkit.solver import StoppedError

        while not self._done():
            if self._best is None:
                return
            steps = len(self._best.steps) - 1
            if model_size(self.instance, steps) > MAX_VARIABLES:
                self._remark(f"too large for the model of partial sums of {steps} steps")
                return
            self._bus.emit("phase", self._bus.now(), {"engines": ["partial sums"]})
            threads, seed = self.config.budget.threads, self.config.seed
            try:
                found = find_allreduce(self.instance, steps, seed, threads, self._out_of_time)
            except StoppedError:
                return
            if found is None:
                self._remark(f"the model of partial sums has no schedule of {steps} steps")
                return
            if not self._offer(found, "partial sums"):
                return

    def _solve(
        self, name: str, messages: list[Message] | list[Reduction], share: float
    ) -> Steps | None:
        """Return the steps of a schedule of a half, found in a share of the time left."""
        collective = Collective(name, cast(Any, tuple(messages)))
        half = Instance(self.instance.network, collective, self.instance.model)
        budget = replace(self.config.budget, seconds=max(1.0, share * self._left()))
        config = replace(self.config, budget=budget, target=None)

        def pass_on(event: Mapping[str, Any]) -> None:
            if event["event"] in PASSED_ON:
                rest = {key: event[key] for key in event if key not in ("event", "seconds")}
                self._bus.emit(event["event"], self._bus.now(), rest)

        callbacks = Callbacks(self._callbacks.stop_requested, pass_on)
        result: Result = Session(ScheduleTask.of(half, config), config, callbacks=callbacks).run()
        self._interrupted = self._interrupted or result.interrupted
        self._troubles += [f"{name}: {text}" for text in result.troubles]
        self._options.update(result.options)
        if result.schedule is None:
            self._remark(f"{name}: no schedule found")
            return None
        self._halves_optimal &= result.status == "optimal" and result.certified
        words = {"optimal": "optimal" if result.certified else "optimal as claimed"}
        known = words.get(result.status, f"at least {result.lower_bound.steps}")
        plural = "step" if result.steps == 1 else "steps"
        self._remark(f"{name}: {result.steps} {plural} by {result.engine}, {known}")
        if self._interrupted:
            raise KeyboardInterrupt
        return result.schedule.steps

    def _homes(self) -> list[int]:
        """Return the node that adds up each message: central ones first, then all in order."""
        network = self.instance.network
        members = sorted({node for message in self._messages for node in message.members})
        distance = hop_distances(network, members)[:, members]
        far = distance.max(axis=1) + distance.max(axis=0)
        order = [members[place] for place in far.argsort(kind="stable").tolist()]
        homes = []
        for index, message in enumerate(self._messages):
            own = [node for node in order if node in message.members]
            homes.append(own[index % len(own)])
        return homes

    def _is_symmetric(self) -> bool:
        """Whether a schedule read backwards keeps all limits."""
        network, model = self.instance.network, self.instance.model
        return model.inject == model.accept and set(network.reversed().channels) == set(
            network.channels
        )

    def _offer(self, schedule: Schedule, how: str) -> bool:
        """Keep a schedule if it is valid and the shortest so far."""
        violations = verify_schedule(schedule)
        if violations:
            self._trouble(f"{how}: not a valid schedule: {violations[0].text}")
            return False
        if self._best is not None and len(schedule.steps) >= len(self._best.steps):
            return False
        self._best, self._found_by, self._found_at = schedule, how, self._bus.now()
        self._contribute(how, "", "schedule")
        content = {
            "engine": how,
            "steps": len(schedule.steps),
            "lower": self._bound.steps,
            "how": "",
        }
        self._bus.emit("schedule", self._found_at, content)
        return True

    def _contribute(self, author: str, how: str, what: str) -> None:
        steps = None if self._best is None else len(self._best.steps)
        self._contributions.append(
            Contribution(self._bus.now(), author, how, what, steps, self._bound.steps, True)
        )

    def _remark(self, text: str) -> None:
        if text not in self._remarks:
            self._remarks.append(text)

    def _trouble_once(self, text: str) -> None:
        if text not in self._troubles:
            self._trouble(text)

    def _trouble(self, text: str) -> None:
        self._troubles.append(text)
        self._bus.emit("trouble", self._bus.now(), {"text": text})

    def _status(self) -> Status:
        target = self.config.target
        if target is not None and self._bound.steps > target:
            return "infeasible"
        if self._best is None:
            return "unknown"
        return "optimal" if len(self._best.steps) == self._bound.steps else "feasible"

    def _result(self) -> Result:
        config, used = self.config, versions()
        budget = config.budget.to_json()
        made_by = {
            "version": used["cchybrid"],
            "engine": self._found_by,
            "seed": config.seed,
            "seconds": round(self._found_at, 3),
            "strategy": config.strategy,
            "budget": budget,
        }
        best = self._best
        if best is not None:
            best = replace(best, lower_bound=self._bound, made_by=made_by)
        return Result(
            instance=self.instance,
            status=self._status(),
            schedule=best,
            lower_bound=self._bound,
            certified=True,
            certified_bound=self._bound,
            bound_by=self._bound_by,
            engine=self._found_by,
            seconds=self._bus.now(),
            seconds_to_best=self._found_at,
            seed=config.seed,
            strategy=config.strategy,
            budget=budget,
            versions=used,
            options=self._options,
            troubles=(*self._troubles, *self._bus.troubles),
            remarks=tuple(self._remarks),
            interrupted=self._interrupted,
            contributions=tuple(self._contributions),
            search_seconds=self._searched,
        )


def with_sums(instance: Instance, steps: Steps) -> Schedule:
    """Return a schedule of an allreduce whose transfers carry all that their senders hold.

    So the steps of a reduction and of a broadcast are completed to a schedule.
    """
    messages = cast(tuple[AllReduction, ...], instance.collective.messages)
    holds: defaultdict[tuple[int, int], frozenset[int]] = defaultdict(frozenset)
    for index, each in enumerate(messages):
        for node in each.members:
            holds[index, node] = frozenset([node])
    found: list[tuple[tuple[int, ...], ...]] = []
    for step in steps:
        carried = [holds[message, path[0]] for message, path in step]
        for (message, path), parts in zip(step, carried, strict=True):
            holds[message, path[-1]] |= parts
        found.append(tuple(tuple(sorted(parts)) for parts in carried))
    return Schedule(instance, steps, sums=tuple(found))


def moved_ahead(schedule: Schedule) -> Schedule:
    """Return a valid schedule with every transfer in the earliest step that has room for it.

    A transfer stays behind what its sender received before, and behind earlier receipts of its
    receiver. The transfers are taken in the order of their steps.
    """
    uses = _Room(schedule.instance)
    messages = cast(tuple[AllReduction, ...], schedule.instance.collective.messages)
    heard: dict[tuple[int, int], int] = defaultdict(int)  # first step after the latest receipt
    steps: list[list[Transfer]] = []
    sums: list[list[tuple[int, ...]]] = []
    for number, step in enumerate(schedule.steps):
        arrived = dict(heard)
        for place, (message, path) in enumerate(step):
            sender, receiver = (message, path[0]), (message, path[-1])
            whole = len(schedule.sums[number][place]) == len(messages[message].members)
            # The whole sum replaces what came before; other receipts may share a step.
            time = max(arrived.get(sender, 0), arrived.get(receiver, 0) - (not whole), 0)
            while not uses.fits(time, path):
                time += 1
            uses.take(time, path)
            while len(steps) <= time:
                steps.append([])
                sums.append([])
            steps[time].append(Transfer(message, path))
            sums[time].append(schedule.sums[number][place])
            heard[receiver] = max(heard[receiver], time + 1)
    return Schedule(
        schedule.instance, tuple(map(tuple, steps)), sums=cast(Sums, tuple(map(tuple, sums)))
    )


class _Room:
    """The uses of channels and ports in every step."""

    def __init__(self, instance: Instance) -> None:
        self._link = {(b, a): (a, b) for a, b in instance.network.half_duplex}
        self._capacity = {(a, b): size for a, b, size in instance.network.channels}
        self._model = instance.model
        self._used: dict[tuple[int, str, object], int] = defaultdict(int)

    def _places(self, path: tuple[int, ...]) -> list[tuple[str, object, int | None]]:
        hops = [self._link.get(hop, hop) for hop in pairwise(path)]
        return [
            ("inject", path[0], self._model.inject_limit(path[0])),
            ("accept", path[-1], self._model.accept_limit(path[-1])),
            *(("link", hop, self._capacity[hop]) for hop in hops),
        ]

    def fits(self, step: int, path: tuple[int, ...]) -> bool:
        """Whether a path has room in a step."""
        return all(
            limit is None or self._used[step, kind, place] < limit
            for kind, place, limit in self._places(path)
        )

    def take(self, step: int, path: tuple[int, ...]) -> None:
        """Use the channels and ports of a path in a step."""
        for kind, place, _ in self._places(path):
            self._used[step, kind, place] += 1


def _others(members: tuple[int, ...], node: int) -> tuple[int, ...]:
    return tuple(member for member in members if member != node)


def _refuse(instance: Instance, config: RunConfig) -> None:
    for where, wrong, hint in (
        ("model.rounds", bool(instance.model.rounds), "solve an allreduce without rounds"),
        ("evaluations", config.budget.evaluations is not None, "set a time limit"),
        ("blind", config.blind, "leave it out"),
    ):
        if wrong:
            raise InputError("not available for an allreduce", where=where, hint=hint)
