"""Schedules of an allreduce or a scan that are composed of schedules of other collectives.

- An allgather of all parts, which every node adds up for itself: few steps, many transfers. Of a
  scan, each part goes to the members that need it.
- A reduction of every message to a node and a broadcast from there, the messages spread over the
  nodes: a reduce-scatter and an allgather. Transfers then move to earlier steps where there is
  room, as reductions of some messages and broadcasts of others do not wait for each other.
- Of a scan, by the host alone: of blocks of 1, 2, 4, ... members, the last member of every other
  block sends the sum of the block to the next block (J. Sklansky, Conditional-sum addition logic,
  1960, doi:10.1109/TEC.1960.5219822). Transfers then move to earlier steps, too.

The parts are solved by runs of their own, in the worker process of the engine. Of the host's own
schedule, they are greedy.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, cast

from cchybrid.host.callbacks import Callbacks
from cchybrid.host.engine_worker import WorkerRun
from cchybrid.host.first_schedule import MAX_COMPARED_DELIVERIES, first_schedule
from cchybrid.host.result import Result
from cchybrid.host.run_config import RunConfig
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.session import Session
from cchybrid.host.step_usage import StepUsage
from cchybrid.model import (
    Collective,
    Instance,
    Message,
    Reduction,
    Schedule,
    Steps,
    SummedMessage,
    Sums,
    Transfer,
)
from cchybrid.model.shown import counted
from cchybrid.model.steps import reverse_steps
from cchybrid.plugin.engine import NoOptions, Stop
from cchybrid.problem import count_deliveries
from cchybrid.proof.parts import infeasibility
from cchybrid.referee.distances import hop_distances

Part = tuple[int, tuple[int, ...], Message]
"""A message of the collective, the members whose parts are sent, and from where to where."""


class Halves:
    """The collectives of which the schedules of an allreduce or a scan are composed."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.messages = cast(tuple[SummedMessage, ...], instance.collective.messages)
        self.scans = instance.collective.kind != "allreduce"
        self.parts: list[Part] = [
            (index, (node,), Message(node, message.needing(node)))
            for index, message in enumerate(self.messages)
            for node in message.members
            if message.needing(node)
        ]

    def of(self, name: str, messages: list[Message] | list[Reduction]) -> Instance:
        """Return the instance of a half."""
        collective = Collective(name, cast(Any, tuple(messages)))
        return Instance(self.instance.network, collective, self.instance.model)

    @cached_property
    def all_parts(self) -> Instance:
        """An allgather of the parts of all members."""
        return self.of("allgather of all parts", [part for _, _, part in self.parts])

    @cached_property
    def spread(self) -> Instance:
        """The broadcasts of all messages from the nodes that add them up."""
        pairs = zip(self.messages, self._homes, strict=True)
        return self.of("allgather", [Message(h, _others(m.members, h)) for m, h in pairs])

    @cached_property
    def gather(self) -> Instance:
        """The reductions of all messages to the nodes that add them up."""
        pairs = zip(self.messages, self._homes, strict=True)
        return self.of("reduce-scatter", [Reduction(_others(m.members, h), h) for m, h in pairs])

    def of_all_parts(self, steps: Steps) -> Schedule:
        """Return the schedule of the whole, each node of which adds up what it gets."""
        moved, sums = _sums_sent(self.parts, steps)
        return Schedule(self.instance, moved, sums=sums)

    def composed(self, first: Steps, second: Steps) -> Schedule:
        """Return the schedule of a reduction and a broadcast, overlapped if that is shorter."""
        return _overlapped(with_sums(self.instance, (*first, *second)))

    def of_halves(self, should_stop: Callable[[], bool]) -> Schedule | None:
        """Return the schedule of greedy halves; ``None`` if ``should_stop`` became true."""
        second = first_schedule(self.spread, should_stop)
        if second is None:
            return None
        mirrored = reverse_steps(second) if self.is_symmetric else None
        first = mirrored or first_schedule(self.gather, should_stop)
        return None if first is None else self.composed(first, second)

    def of_blocks(self, should_stop: Callable[[], bool]) -> Schedule | None:
        """Return the schedule of a scan by blocks.

        ``None`` if ``should_stop`` became true, or if the members of a block cannot inform each
        other without later ones.
        """
        moved: Steps = ()
        sums: Sums = ()
        members, size = [message.members for message in self.messages], 1
        while size < max(map(len, members)):
            parts = [
                (index, each[end - size : end], Message(each[end - 1], each[end : end + size]))
                for index, each in enumerate(members)
                for end in range(size, len(each), 2 * size)
            ]
            blocks = self.of("blocks", [part[2] for part in parts])
            reachable = infeasibility(blocks) is None
            steps = first_schedule(blocks, should_stop) if reachable else None
            if steps is None:
                return None
            more, their_sums = _sums_sent(parts, steps)
            moved, sums, size = (*moved, *more), sums + their_sums, 2 * size
        return _overlapped(Schedule(self.instance, moved, sums=sums))

    def greedy(self, should_stop: Callable[[], bool]) -> Schedule | None:
        """Return the best greedy schedule, or ``None`` if ``should_stop`` became true before."""
        composed = (self.of_blocks if self.scans else self.of_halves)(should_stop)
        found = [] if composed is None else [composed]
        if not found or count_deliveries(self.all_parts) <= MAX_COMPARED_DELIVERIES:
            steps = first_schedule(self.all_parts, should_stop)
            found += [] if steps is None else [self.of_all_parts(steps)]
        return min(found, key=lambda schedule: schedule.cost, default=None)

    @property
    def is_symmetric(self) -> bool:
        """Whether a schedule read backwards keeps all limits."""
        network, model = self.instance.network, self.instance.model
        same = set(network.reversed().channels) == set(network.channels)
        return same and model.inject == model.accept and model.table is None

    @cached_property
    def _homes(self) -> list[int]:
        """The node that adds up each message: central ones first, then all in order."""
        network = self.instance.network
        members = sorted({node for message in self.messages for node in message.members})
        distance = hop_distances(network, members)[:, members]
        far = distance.max(axis=1) + distance.max(axis=0)
        order = [members[place] for place in far.argsort(kind="stable").tolist()]
        homes = []
        for index, message in enumerate(self.messages):
            own = [node for node in order if node in message.members]
            homes.append(own[index % len(own)])
        return homes


class _Composing:
    """An engine that solves halves by runs of their own; it gets their settings from the host."""

    Options = NoOptions

    def __init__(self, options: NoOptions) -> None:
        self.options = options
        self.halves_optimal = True

    def unsupported(self, instance: Instance) -> str | None:
        """Every allreduce can be composed."""
        return None

    def solve_half(self, half: Instance, run: WorkerRun, share: float) -> Steps | None:
        """Return the steps of a schedule of a half, found in a share of the time left."""
        settings = RunConfig.from_json(run.settings["config"])
        budget = replace(run.budget, seconds=max(1.0, share * run.left()))
        config = replace(settings, budget=budget, target=None)
        callbacks = Callbacks(run.should_stop)
        result: Result = Session(ScheduleTask.of(half, config), config, callbacks=callbacks).run()
        name = half.collective.name
        for text in result.troubles:
            run.send("trouble", text=f"{name}: {text}")
        if result.schedule is None:
            run.remark(f"{name}: no schedule found")
            return None
        self.halves_optimal &= result.status == "optimal" and result.certified
        words = {"optimal": "optimal" if result.certified else "optimal as claimed"}
        known = words.get(result.status, f"at least {result.certified_bound.steps}")
        steps = counted(len(result.schedule.steps), "step")
        run.remark(f"{name}: {steps} by {result.engine}, {known}")
        return result.schedule.steps


class AllParts(_Composing):
    """An allgather of the parts of all members; each adds up what it gets."""

    def solve(self, instance: Instance, run: WorkerRun) -> Stop:
        """Offer one schedule."""
        halves = Halves(instance)
        steps = self.solve_half(halves.all_parts, run, 0.1 if halves.scans else 0.25)
        if steps is not None:
            run.offer_schedule(halves.of_all_parts(steps))
        return Stop.EXHAUSTED


class Composition(_Composing):
    """A reduction of every message to a node, and a broadcast of the sum from there."""

    def solve(self, instance: Instance, run: WorkerRun) -> Stop:
        """Offer one schedule."""
        halves = Halves(instance)
        second = self.solve_half(halves.spread, run, 0.4)
        if second is None:
            return Stop.STALLED
        first: Steps | None = reverse_steps(second)
        if not halves.is_symmetric:
            first = self.solve_half(halves.gather, run, 0.6)
        if first is None:
            return Stop.STALLED
        how = f"reduce-scatter in {len(first)} steps, allgather in {len(second)}"
        if self.halves_optimal:
            run.remark(f"{how}: optimal among compositions with these roots that do not overlap")
        found = halves.composed(first, second)
        overlapped = len(found.steps) < len(first) + len(second)
        run.offer_schedule(found, f"{how}, overlapped" if overlapped else how)
        return Stop.EXHAUSTED


def with_sums(instance: Instance, steps: Steps) -> Schedule:
    """Return a schedule of an allreduce whose transfers carry all that their senders hold.

    So the steps of a reduction and of a broadcast are completed to a schedule.
    """
    messages = cast(tuple[SummedMessage, ...], instance.collective.messages)
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


def _sums_sent(parts: Sequence[Part], steps: Steps) -> tuple[Steps, Sums]:
    """Return the steps of a schedule of sums that are sent like messages, and the sums."""
    moved = tuple(tuple(Transfer(parts[n][0], path) for n, path in step) for step in steps)
    return moved, tuple(tuple(parts[n][1] for n, _ in step) for step in steps)


def _overlapped(whole: Schedule) -> Schedule:
    early = moved_ahead(whole)
    return early if len(early.steps) < len(whole.steps) else whole


def moved_ahead(schedule: Schedule) -> Schedule:
    """Return a valid schedule with every transfer in the earliest step that has room for it.

    A transfer stays behind what its sender received before, and behind earlier receipts of its
    receiver. The transfers are taken in the order of their steps.
    """
    usage = StepUsage(schedule.instance)
    heard: dict[tuple[int, int], int] = defaultdict(int)  # first step after the latest receipt
    parts_of: dict[tuple[int, int], set[int]] = defaultdict(set)  # all that were received
    steps: list[list[Transfer]] = []
    sums: list[list[tuple[int, ...]]] = []
    for number, step in enumerate(schedule.steps):
        arrived = dict(heard)
        for place, (message, path) in enumerate(step):
            sender, receiver = (message, path[0]), (message, path[-1])
            parts = schedule.sums[number][place]
            # A sum that replaces what came before comes later; other receipts may share a step.
            replaces = not parts_of[receiver].isdisjoint(parts)
            time = max(arrived.get(sender, 0), arrived.get(receiver, 0) - (not replaces), 0)
            parts_of[receiver].update(parts)
            used = usage.resources(path)
            time = usage.first_free(used, time)
            usage.use(used, 1 << time)
            while len(steps) <= time:
                steps.append([])
                sums.append([])
            steps[time].append(Transfer(message, path))
            sums[time].append(parts)
            heard[receiver] = max(heard[receiver], time + 1)
    return Schedule(
        schedule.instance, tuple(map(tuple, steps)), sums=cast(Sums, tuple(map(tuple, sums)))
    )


def _others(members: tuple[int, ...], node: int) -> tuple[int, ...]:
    return tuple(member for member in members if member != node)
