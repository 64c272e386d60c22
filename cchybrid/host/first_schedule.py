"""The host's own greedy schedule, for every feasible instance.

It needs no Problem, no compiled kernel and no worker, so a verified schedule exists before any
engine starts. There are four methods:

- ``HopScatter`` (``hop_scatter``) in store-and-forward switching, for messages of one destination,
  if they are not too many.
- ``ScatterGreedy`` (``scatter_greedy``) for all other messages of one destination, and in wormhole
  switching for many deliveries if link matching fails, as between endpoints.
- ``LinkMatching`` (``link_matching``) for messages of several destinations, if one hop per transfer
  is enough.
- ``ListScheduler`` (``toolkit.list_scheduling``) where steps are ticks.
- First fit (below) for all others, as with a routing table, and in addition for few deliveries to
  several destinations; in time slots with paths that are chosen before, in longer and longer
  periods until all messages fit.

First fit:

1. Sort the deliveries by hops: the longest first, or the shortest first if messages have several
   destinations, so that near nodes can send on.
2. Place them one by one. Each takes a shortest path over the channels that are used least so far,
   from one of the nearest nodes that hold the message, in the first step in which all channels and
   ports of the path have free capacity. In store-and-forward switching it is placed hop by hop, and
   every node on the path stores it.
"""

from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise

from cchybrid.host.hop_scatter import HopScatter
from cchybrid.host.link_matching import LinkMatching
from cchybrid.host.scatter_greedy import ScatterGreedy
from cchybrid.host.step_usage import StepUsage
from cchybrid.model import Instance, Steps, Transfer
from cchybrid.model.steps import count_hops, reverse_steps
from cchybrid.model.times import ChannelTime
from cchybrid.plugin.engine import NoOptions
from cchybrid.problem.build import build_problem, routes_of
from cchybrid.toolkit.solver import StoppedError, call
from cchybrid.toolkit.warmup_problem import warmup_problem

CHECK_INTERVAL = 256
"""Deliveries between two calls of ``should_stop``, and before the first: some milliseconds."""
STARTS = 10
"""List schedules in ticks, of which the shortest counts; fewer of large Problems."""
MAX_STARTED_OPTIONS = 500_000
"""Options of these schedules together: one schedule of a million options takes some seconds."""
LONGER = 50
"""A period in which not all messages fit is made longer by this part of it, and by one slot."""
MAX_SENDERS = 4
"""Nearest holders of the message that are compared for a delivery; more were no better on meshes of
64 nodes."""
MAX_DISTANT_SENDERS = 64
"""Number of holders up to which distant ones are considered, too, if fewer than ``MAX_SENDERS``
neighbours of the destination hold the message."""
MAX_COMPARED_DELIVERIES = 20_000
"""Deliveries up to which both methods for messages with several destinations are compared: first
fit takes up to half a second for them, ten times as long as link matching."""
MAX_BALANCED_DELIVERIES = 10_000
"""Deliveries up to which ``HopScatter`` is used: it takes up to two seconds for them, three times
as long as first fit."""


def first_schedule(
    instance: Instance, should_stop: Callable[[], bool] = lambda: False
) -> Steps | None:
    """Return a schedule, or ``None`` if ``should_stop`` became true before one was complete.

    Parameters
    ----------
    instance
        The instance; every destination can be reached.
    should_stop
        Whether to give up; called every few milliseconds, at most some tens.
    """
    forward = instance.forward
    _, counts, _ = forward.collective.flat
    wormhole = not forward.model.hop_by_hop
    is_free = forward.model.table is None
    is_scatter = max(counts) == 1
    is_small = sum(counts) <= MAX_COMPARED_DELIVERIES
    found: list[Steps] = []
    # A path over a group of channels may use it twice, which the greedy ones below do not count.
    shares = wormhole and not forward.model.periodic and forward.network.groups
    if forward.horizon == "ticks" or shares:
        ticks = _in_ticks(forward, should_stop)
        return reverse_steps(ticks) if ticks and instance.collective.kind == "combine" else ticks
    if forward.model.periodic:
        slots = _TimeSlots(forward)
        complete = _run(slots.place_all(), should_stop, CHECK_INTERVAL)
        return tuple(map(tuple, slots.steps)) if complete else None
    if not is_scatter and is_free:
        matching = LinkMatching(forward)
        if not _run(matching.place_all(), should_stop):
            return None
        if matching.complete:
            found.append(matching.steps())
    if is_scatter and not wormhole and sum(counts) <= MAX_BALANCED_DELIVERIES:
        hop_scatter = HopScatter(forward)
        if not _run(hop_scatter.place_all(), should_stop, CHECK_INTERVAL):
            return None
        found.append(hop_scatter.steps())
    elif is_free and (is_scatter or (wormhole and not (found or is_small))):
        scatter = ScatterGreedy(forward)
        if scatter.feasible:
            if not _run(scatter.place_all(), should_stop):
                return None
            found.append(scatter.steps())
    if not found or (is_small and not is_scatter):
        greedy = _Wormhole(forward) if wormhole else _HopByHop(forward)
        if _run(greedy.place_all(), should_stop, CHECK_INTERVAL):
            found.append(tuple(tuple(step) for step in greedy.steps if step))
    if not found:
        return None
    steps = min(found, key=lambda steps: (len(steps), count_hops(steps)))
    return reverse_steps(steps) if instance.collective.kind == "combine" else steps


def _in_ticks(forward: Instance, should_stop: Callable[[], bool]) -> Steps | None:
    """Return a schedule in ticks, or ``None`` if ``should_stop`` became true first."""
    import numpy as np

    from cchybrid.toolkit.kernels.list_scheduling import NEVER
    from cchybrid.toolkit.list_scheduling import ListScheduler

    problem = build_problem(forward)
    scheduler, stop = ListScheduler(problem, np.random.default_rng(0)), np.zeros(1, dtype=np.bool_)
    found, best = None, NEVER
    for _ in range(max(1, min(STARTS, MAX_STARTED_OPTIONS // max(1, problem.options)))):
        scheduler.restart()
        try:
            ticks = call(partial(scheduler.made, best, stop), lambda: stop.fill(1), should_stop)
        except StoppedError:
            break
        if ticks < best:
            found, best = scheduler.assignment(), ticks
        if should_stop():
            break
    return None if found is None else problem.lift(found).steps


def _run(placing: Iterator[None], should_stop: Callable[[], bool], interval: int = 1) -> bool:
    """Run a method to its end; return ``False`` if ``should_stop`` became true first.

    It is called every ``interval`` times that the method yields.
    """
    calls = enumerate(placing, 1)
    return not any(count % interval == 0 and should_stop() for count, _ in calls)


class GreedyKernels:
    """The kernels of large instances, for ``cchybrid warm-up`` like those of an engine."""

    Options = NoOptions

    def __init__(self, options: NoOptions) -> None:
        """Take no options."""

    def prepare(self) -> None:
        """Make a tiny schedule by every kernel."""
        tiny = warmup_problem().origin.instance.with_model(switching="store-and-forward")
        slow = replace(tiny.network, times=(ChannelTime(0, 2),) * len(tiny.network.channels))
        _in_ticks(replace(tiny, network=slow), lambda: False)
        for _ in chain(ScatterGreedy(tiny).place_all(), LinkMatching(tiny).place_many()):
            pass


class _PartialSchedule:
    """The steps so far, and what is left to place."""

    def __init__(self, forward: Instance) -> None:
        self.usage = StepUsage(forward)
        self.messages = forward.collective.deliver_messages
        self.steps: list[list[Transfer]] = []
        self.load = dict.fromkeys(self.usage.channel, 0)
        self.waiting: list[tuple[int, int]] = []
        """Message and destination of the deliveries."""

    def sort_deliveries(self, hops: Callable[[int], Sequence[int]]) -> Iterator[None]:
        """Set ``waiting`` to all deliveries in the order of placing; yield after each message.

        Parameters
        ----------
        hops
            Returns the hop distances from a node.
        """
        by_hops: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        is_forwarded = False
        for index, (source, targets) in enumerate(self.messages):
            is_forwarded = is_forwarded or len(targets) > 1
            for target in targets:
                by_hops[hops(source)[target]].append((index, target))
            yield
        order = sorted(by_hops, reverse=not is_forwarded)
        self.waiting = list(chain.from_iterable(by_hops[count] for count in order))

    def place(self, message: int, path: Sequence[int], resources: Sequence[int], step: int) -> None:
        """Add the transfer of a message over a path to a step."""
        while len(self.steps) <= step:
            self.steps.append([])
        self.steps[step].append(Transfer(message, tuple(path)))
        self.usage.use(resources, 1 << step)
        for hop in pairwise(path):
            self.load[hop] += 1


class _Wormhole(_PartialSchedule):
    """Greedy schedule of whole paths, from the source or a destination that has the message."""

    def __init__(self, forward: Instance) -> None:
        super().__init__(forward)
        network, self._table = forward.network, forward.model.table
        self._hops: list[list[int]] = routes_of(forward).distance.tolist()
        self._endpoints = set(network.endpoints)
        self._next = network.successors
        self._predecessors = network.reversed().successors

    def place_all(self) -> Iterator[None]:
        """Sort and place all deliveries; yield after each."""
        yield from self.sort_deliveries(self._hops.__getitem__)
        received = [{message.source: -1} for message in self.messages]
        while self.waiting:
            left = []
            for message, target in self.waiting:
                if self._deliver(message, target, received[message]):
                    yield
                else:
                    left.append((message, target))
            if len(left) == len(self.waiting):
                raise ValueError(f"node {left[0][1]} cannot be reached")
            self.waiting = left

    def _deliver(self, message: int, target: int, received: dict[int, int]) -> bool:
        """Place a delivery as early as possible; return whether any holder can send it.

        Parameters
        ----------
        received
            The step in which each holder of the message received it, -1 for the source.
        """
        hops = self._hops
        near = [v for v in self._predecessors[target] if hops[v][target] == 1]
        senders = [v for v in near if v in received and self.usage.can_inject(v)]
        if not senders or (len(senders) < MAX_SENDERS and len(received) <= MAX_DISTANT_SENDERS):
            senders = [v for v in received if hops[v][target] > 0 and self.usage.can_inject(v)]
        if not senders:
            return False
        senders.sort(key=lambda node: (hops[node][target], received[node]))
        options = []
        for node in senders[:MAX_SENDERS]:
            path = self._path(node, target)
            used = self.usage.resources(path)
            options.append((self.usage.first_free(used, received[node] + 1), len(path), path, used))
        step, _, path, used = min(options, key=lambda option: option[:2])
        self.place(message, path, used, step)
        received[target] = step
        return True

    def _path(self, source: int, target: int) -> list[int]:
        """Return a shortest path over the channels that are used least, or that of the table."""
        if self._table is not None:
            return [*self._table.path(source, target)]
        path, node, hops, load = [source], source, self._hops, self.load
        while node != target:
            left = hops[node][target] - 1
            node = min(
                (load[node, near], near)
                for near in self._next[node]
                if hops[near][target] == left and (near == target or near not in self._endpoints)
            )[1]
            path.append(node)
        return path


class _TimeSlots(_Wormhole):
    """Greedy schedule of a period: every message takes the first slot that is free."""

    def __init__(self, forward: Instance) -> None:
        super().__init__(forward)
        self._forward = forward
        self._paths: list[tuple[int, list[int]]] = []
        self._sent = [0] * forward.network.nodes

    def place_all(self) -> Iterator[None]:
        """Choose all paths, and place them in longer and longer periods until all fit."""
        yield from super().place_all()
        capacity, channel = self.usage.capacity, self.usage.channel
        steps = max(1, *(-(-load // capacity[channel[hop]]) for hop, load in self.load.items()))
        while not (yield from self._fits(steps)):
            steps += 1 + steps // LONGER

    def _deliver(self, message: int, target: int, received: dict[int, int]) -> bool:
        """Choose a path from the nearest holder, of these the one that sends least."""
        ready = (v for v in received if self._hops[v][target] > 0 and self.usage.can_inject(v))
        nearest = min(ready, key=lambda v: (self._hops[v][target], self._sent[v]), default=None)
        if nearest is None:
            return False
        path = self._path(nearest, target)
        for hop in pairwise(path):
            self.load[hop] += 1
        self._sent[nearest] += 1
        self._paths.append((message, path))
        received[target] = 0
        return True

    def _fits(self, steps: int) -> Generator[None, None, bool]:
        """Place all paths in a period of this length; return whether they fit."""
        usage, every = StepUsage(self._forward), (1 << steps) - 1
        self.steps = [[] for _ in range(steps)]
        for message, path in self._paths:
            uses = list(enumerate(usage.channel[hop] for hop in pairwise(path)))
            for port, hop in ((usage.inject[path[0]], 0), (usage.accept[path[-1]], len(uses) - 1)):
                if port is not None:
                    uses.append((hop, port))
            if len({(hop % steps, resource) for hop, resource in uses}) < len(uses):
                return False  # a group twice in a slot: not in longer periods
            full = 0
            for hop, resource in uses:
                late, bits = hop % steps, usage.full[resource]
                full |= bits >> late | bits << steps - late
            free = ~full & every
            if not free:
                return False
            slot = (free & -free).bit_length() - 1
            for hop, resource in uses:
                usage.use([resource], 1 << (slot + hop) % steps)
            self.steps[slot].append(Transfer(message, tuple(path)))
            yield
        return True


class _HopByHop(_PartialSchedule):
    """Greedy schedule of single hops; every node on a path stores the message."""

    def __init__(self, forward: Instance) -> None:
        super().__init__(forward)
        sources = sorted({message.source for message in self.messages})
        self._hops, self._predecessors = self.usage.hops_from(sources)

    def place_all(self) -> Iterator[None]:
        """Sort all deliveries and place every hop towards each; yield after each."""
        yield from self.sort_deliveries(self._hops.__getitem__)
        received = [{message.source: -1} for message in self.messages]
        for index, target in self.waiting:
            for path in self._path(index, target, received[index]):
                used = self.usage.resources(path)
                step = self.usage.first_free(used, received[index][path[0]] + 1)
                self.place(index, path, used, step)
                received[index][path[1]] = step
            yield

    def _path(self, message: int, target: int, received: dict[int, int]) -> list[tuple[int, int]]:
        """Return the hops to a node from the nearest holder on a shortest path."""
        hops = self._hops[self.messages[message].source]
        path: list[tuple[int, int]] = []
        node = target
        while node not in received:
            before = min(
                (near not in received, self.load[near, node], near)
                for near in self._predecessors[node]
                if hops[near] == hops[node] - 1
            )[2]
            path.append((before, node))
            node = before
        return path[::-1]
