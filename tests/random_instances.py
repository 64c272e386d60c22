"""Hypothesis strategies: random small instances of every kind, and valid schedules of them.

    from tests.random_instances import instances, valid_schedules

    @given(instances())
    def test_something(instance): ...

    @given(valid_schedules())
    def test_something_else(schedule): ...      # a Schedule; its instance is random too

Both take the same keywords, which narrow what is drawn:

kinds
    of ``"deliver"``, ``"combine"``.
switchings
    of ``"wormhole"``, ``"store-and-forward"`` (both by default), and ``"tdm"``, which makes every
    instance one of one round, whose messages are delivered, half of the time to one destination.
routings
    of ``"minimal"``, ``"any"`` and numbers of extra hops.
ports
    of ``"all"``, ``"one"`` (a number for all nodes) and ``"list"`` (a number per node).
chunks, rounds
    how many chunks every message has, and the rounds per step, one of these each; by default one
    chunk, one round. ``SEVERAL`` has both.
times
    of ``False`` (by default) and ``True``, which gives every channel a latency and a length in
    ticks, one round per step, and no time slots. ``WITH_TIMES`` has both.
max_nodes, max_messages
    sizes; a network has at least 2 nodes.

Networks are directed, with capacities, half-duplex links and endpoints; every node reaches every
other without passing an endpoint and every limit is at least 1, so every instance has a schedule.
``list_schedule`` makes one with a plain greedy: valid, not short.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import strategies as st

from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
    Schedule,
    Steps,
    Transfer,
)

KINDS = ("deliver", "combine")
SWITCHINGS = ("wormhole", "store-and-forward")
WITH_SLOTS = (*SWITCHINGS, "tdm")
WITH_TIMES = {"times": (False, True)}
"""Keywords for instances with and without times of channels."""
WITH_GROUPS = {"groups": (False, False, True)}
"""Keywords for instances with and without groups of channels that share their capacity."""
TICKS = {"times": (True,)}
"""Keywords for instances with times of channels alone."""
ROUTINGS = ("minimal", "any", 1, 2)
PORTS = ("all", "one", "list")
SEVERAL = {"chunks": (1, 1, 2), "rounds": ((), (2,), (1, 2), (3, 1, 2))}
"""Keywords for instances with several chunks or rounds."""


@st.composite
def networks(draw: st.DrawFn, max_nodes: int = 7) -> Network:
    """Random networks in which every node reaches every other without passing an endpoint."""
    nodes = draw(st.integers(2, max_nodes))
    names = draw(st.permutations(range(nodes)))
    switches = draw(st.one_of(st.just(nodes), st.integers(1, nodes)))
    ring, terminals = names[:switches], names[switches:]
    arcs = {(a, b) for a, b in zip(ring, ring[1:] + ring[:1], strict=True) if a != b}
    for terminal in terminals:
        arcs.add((terminal, draw(st.sampled_from(ring))))
        arcs.add((draw(st.sampled_from(ring)), terminal))
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    arcs.update(draw(st.lists(st.sampled_from(pairs), max_size=2 * nodes)))
    if draw(st.booleans()):
        arcs.update([(b, a) for a, b in arcs])
    size = {arc: draw(st.sampled_from((1, 1, 1, 2, 3))) for arc in sorted(arcs)}
    half_duplex = []
    for a, b in sorted(arcs):
        if a < b and (b, a) in arcs and draw(st.integers(0, 3)) == 0:
            size[b, a] = size[a, b]
            half_duplex.append(draw(st.sampled_from([(a, b), (b, a)])))
    return Network(
        "random",
        nodes,
        tuple(Channel(a, b, size[a, b]) for a, b in draw(st.permutations(sorted(arcs)))),
        half_duplex=tuple(half_duplex),
        endpoints=tuple(sorted(terminals)),
    )


@st.composite
def timed(draw: st.DrawFn, network: Network) -> Network:
    """The network with random latencies and lengths of its channels."""
    time = st.tuples(st.integers(0, 3), st.integers(1, 3))
    if draw(st.integers(0, 3)) == 0:  # alike, as on boards of one technology
        time = st.just(draw(time))
    found = {channel[:2]: draw(time) for channel in network.channels}
    found |= {(b, a): found[a, b] for a, b in network.half_duplex}
    if set(found.values()) == {(0, 1)}:
        found = dict.fromkeys(found, (0, 2))
    return replace(network, times=tuple(found[channel[:2]] for channel in network.channels))


@st.composite
def grouped(draw: st.DrawFn, network: Network) -> Network:
    """The network with random groups of channels of equal capacity and time.

    Those of a group leave one node or enter one, so that no path takes two of them.
    """
    paired = {frozenset(pair) for pair in network.half_duplex}
    free = [channel for channel in network.channels if frozenset(channel[:2]) not in paired]
    groups: dict[tuple, list[tuple[int, int]]] = {}
    sides = draw(st.lists(st.integers(0, 2), min_size=network.nodes, max_size=network.nodes))
    for a, b, size in draw(st.permutations(free)):
        key = ("from", a) if sides[a] == 1 else ("to", b)
        if sides[a] == 1 or sides[b] == 2:
            groups.setdefault((key, size, network.time_of((a, b))), []).append((a, b))
    return replace(network, groups=tuple(map(tuple, groups.values())))


def shared_of(network: Network) -> dict[tuple[int, int], tuple[int, int]]:
    """Return for every channel that shares its capacity the first of its pair or group."""
    sets = [*(((a, b), (b, a)) for a, b in network.half_duplex), *network.groups]
    return {hop: each[0] for each in sets for hop in each}


@st.composite
def collectives(
    draw: st.DrawFn, nodes: int, kinds: Sequence[str] = KINDS, max_messages: int = 5
) -> Collective:
    """Random collectives of both kinds, among them broadcasts, scatters and gathers."""
    messages = []
    root = draw(st.integers(0, nodes - 1))
    shape = draw(st.sampled_from(("any", "broadcast", "scatter", "gather")))
    others = [node for node in range(nodes) if node != root]
    if shape == "broadcast":
        messages = [(root, tuple(others))]
    elif shape == "scatter":
        messages = [(root, (node,)) for node in others[:max_messages]]
    elif shape == "gather":
        messages = [(node, (root,)) for node in others[:max_messages]]
    for _ in range(draw(st.integers(0 if messages else 1, max_messages - len(messages)))):
        one = draw(st.integers(0, nodes - 1))
        rest = [node for node in range(nodes) if node != one]
        many = draw(st.lists(st.sampled_from(rest), min_size=1, unique=True))
        messages.append((one, tuple(many)))
    if draw(st.sampled_from(list(kinds))) == "combine":
        return Collective(shape, tuple(Reduction(many, one) for one, many in messages))
    return Collective(shape, tuple(Message(one, many) for one, many in messages))


@st.composite
def models(
    draw: st.DrawFn,
    nodes: int,
    switchings: Sequence[str] = SWITCHINGS,
    routings: Sequence[str | int] = ROUTINGS,
    ports: Sequence[str] = PORTS,
) -> CommunicationModel:
    """Random communication models for a network of ``nodes`` nodes."""
    limit = st.integers(1, 3)
    sides = {
        "all": st.none(),
        "one": limit,
        "list": st.lists(limit, min_size=nodes, max_size=nodes).map(tuple),
    }
    kind = draw(st.sampled_from(list(ports)))
    return CommunicationModel(
        switching=draw(st.sampled_from(list(switchings))), inject=draw(sides[kind]),
        accept=draw(sides[kind]), routing=draw(st.sampled_from(list(routings))),
    )  # fmt: skip


@st.composite
def instances(
    draw: st.DrawFn,
    *,
    kinds: Sequence[str] = KINDS,
    switchings: Sequence[str] = SWITCHINGS,
    routings: Sequence[str | int] = ROUTINGS,
    ports: Sequence[str] = PORTS,
    chunks: Sequence[int] = (1,),
    rounds: Sequence[tuple[int, ...]] = ((),),
    times: Sequence[bool] = (False,),
    groups: Sequence[bool] = (False,),
    max_nodes: int = 7,
    max_messages: int = 5,
) -> Instance:
    """Random instances; see the top of this file."""
    network = draw(networks(max_nodes))
    parts = draw(st.sampled_from(list(chunks)))
    model = draw(models(network.nodes, switchings, routings, ports))
    periodic = model.switching == "tdm"
    if periodic:
        kinds, rounds = ("deliver",), ((),)
    collective = draw(collectives(network.nodes, kinds, max(max_messages // parts, 1)))
    if periodic and draw(st.booleans()):
        collective = scattered(Instance(network, collective), max_messages).collective
    if not periodic and draw(st.sampled_from(list(times))):
        network, rounds = draw(timed(network)), ((),)
    if draw(st.sampled_from(list(groups))):
        network = draw(grouped(network))
    model = replace(model, rounds=draw(st.sampled_from(list(rounds))))
    return Instance(network, collective.in_chunks(parts), model)


@st.composite
def valid_schedules(draw: st.DrawFn, **narrow: object) -> Schedule:
    """Random instances with a random valid schedule; the keywords of ``instances``."""
    instance = draw(instances(**narrow))  # type: ignore[arg-type]
    return Schedule(instance, list_schedule(instance, draw(st.integers(0, 2**32 - 1))))


def scattered(instance: Instance, max_messages: int = 7) -> Instance:
    """Return the ``deliver`` instance with a message of its own for each destination, cut short."""
    messages = tuple(
        Message(source, (goal,))
        for source, goals in instance.collective.deliver_messages
        for goal in goals
    )
    collective = Collective("scatter", messages[:max_messages])
    return Instance(instance.network, collective, instance.model)


def list_schedule(instance: Instance, seed: int) -> Steps:
    """Return valid steps: fill step after step in random order, stopping early at random."""
    rng = random.Random(seed)
    forward = instance.forward
    if instance.model.switching == "tdm":
        return _fill_period(instance, rng)
    if forward.network.times:
        ticks = _fill_ticks(forward, rng)
        return ticks if forward is instance else _mirrored(ticks)
    holders = [{message.source} for message in forward.collective.deliver_messages]
    steps = []
    while any(
        not holders[index].issuperset(message.destinations)
        for index, message in enumerate(forward.collective.deliver_messages)
    ):
        step = _fill_step(forward, holders, rng, forward.model.rounds_in(len(steps)))
        for message, path in step:
            holders[message].add(path[-1])
        steps.append(step)
    return tuple(steps) if forward is instance else _mirrored(steps)


def _mirrored(steps: Sequence[Sequence[Transfer]]) -> Steps:
    """Return the steps read backwards."""
    return tuple(
        tuple(Transfer(message, path[::-1]) for message, path in step) for step in steps[::-1]
    )


def allowed_paths(instance: Instance, first: int, last: int) -> list[tuple[int, ...]]:
    """Return every path that the instance's routing allows, shortest first (small networks)."""
    paths = sorted(_simple_paths(instance.network, (first,), last), key=len)
    extra = instance.model.extra_hops
    return [path for path in paths if extra is None or len(path) <= len(paths[0]) + extra]


def _simple_paths(network: Network, path: tuple[int, ...], last: int) -> Iterator[tuple[int, ...]]:
    if path[-1] == last:
        yield path
    elif len(path) == 1 or path[-1] not in network.endpoints:
        for node in network.successors[path[-1]]:
            if node not in path:
                yield from _simple_paths(network, (*path, node), last)


def _fill_period(instance: Instance, rng: random.Random) -> Steps:
    """Return a period in which every message has a random path and slot; it may have free slots."""
    network, model = instance.network, instance.model
    size = {(c.source, c.target): c.capacity for c in network.channels}
    pair = shared_of(network)
    slots = rng.randint(1, 4)
    while True:
        room: dict[tuple, int] = {}
        steps: list[list[Transfer]] = [[] for _ in range(slots)]
        for message, source, goal in _random_trees(instance, rng):
            choices = [(s, p) for s in range(slots) for p in allowed_paths(instance, source, goal)]
            rng.shuffle(choices)
            for start, path in choices:
                uses = [
                    ((pair.get(hop, hop), (start + late) % slots), size[hop])
                    for late, hop in enumerate(pairwise(path))
                ]
                ends = (
                    (start, model.inject_limit(source)),
                    (start + len(path) - 2, model.accept_limit(goal)),
                )
                ports = ("from", source), ("to", goal)
                for end, (slot, limit) in zip(ports, ends, strict=True):
                    uses += [] if limit is None else [((end, slot % slots), limit)]
                if all(room.get(use, 0) < limit for use, limit in uses):
                    for use, _ in uses:
                        room[use] = room.get(use, 0) + 1
                    steps[start].append(Transfer(message, path))
                    break
            else:
                break
        else:
            return tuple(map(tuple, steps))
        slots += 1


def _random_trees(instance: Instance, rng: random.Random) -> list[tuple[int, int, int]]:
    """Return message, sender and receiver of the transfers of a random tree for each message."""
    found = []
    for message, (source, goals) in enumerate(instance.collective.deliver_messages):
        holders = [source]
        for goal in rng.sample(goals, len(goals)):
            found.append((message, rng.choice(holders), goal))
            holders.append(goal)
    return rng.sample(found, len(found))


def _fill_ticks(forward: Instance, rng: random.Random) -> Steps:
    """Return steps in which transfers begin as early as they can, or a little later."""
    network, model = forward.network, forward.model
    size = {(c.source, c.target): c.capacity for c in network.channels}
    time = dict(zip(size, network.times, strict=True))
    pair = shared_of(network)
    since = [{message.source: 0} for message in forward.collective.deliver_messages]
    busy: dict[tuple, int] = {}
    found: list[tuple[int, int, Transfer]] = []
    wait = rng.choice((0, 0, 1, 4))
    while expected := _open_deliveries(forward, [set(ready) for ready in since]):
        message, node = rng.choice(expected)
        first = rng.choice(sorted(since[message]))
        paths = allowed_paths(forward, first, node)
        if model.switching == "store-and-forward":
            paths = [(first, node)] if (first, node) in size else []
        if not paths:
            continue
        path = rng.choice(paths)
        hops = list(pairwise(path))
        length = max(time[hop][1] for hop in hops)
        uses = [(("from", first), 0, model.inject_limit(first))]
        late = 0
        for hop in hops:
            uses.append((("over", pair.get(hop, hop)), late, size[hop]))
            late += time[hop][0]
        uses.append((("to", node), late, model.accept_limit(node)))
        cells = [
            ((what, after + tick), limit)
            for what, after, limit in uses
            for tick in range(length)
            if limit is not None
        ]
        start = since[message][first] + rng.randint(0, wait)
        while any(busy.get((what, start + tick), 0) >= limit for (what, tick), limit in cells):
            start += 1
        for (what, tick), _ in cells:
            busy[what, start + tick] = busy.get((what, start + tick), 0) + 1
        since[message][node] = start + late + length
        found.append((start, start + late + length, Transfer(message, path)))
    steps: list[list[Transfer]] = [[] for _ in range(max(end for _, end, _ in found))]
    for start, _, transfer in found:
        steps[start].append(transfer)
    return tuple(map(tuple, steps)) + ((),) * rng.choice((0, 0, 0, 2))


def _fill_step(
    forward: Instance, holders: list[set[int]], rng: random.Random, rounds: int
) -> tuple[Transfer, ...]:
    """Return at least one transfer that fits; ``holders`` is who has what before the step."""
    network, model = forward.network, forward.model
    room = {(c.source, c.target): rounds * c.capacity for c in network.channels}
    pair = shared_of(network)
    inject, accept = (
        [None if limit(node) is None else rounds * limit(node) for node in range(network.nodes)]
        for limit in (model.inject_limit, model.accept_limit)
    )
    expected = _open_deliveries(forward, holders)
    rng.shuffle(expected)
    stop = rng.choice((0.0, 0.1, 0.5))
    step: list[Transfer] = []
    for message, node in expected:
        if step and rng.random() < stop:
            break
        near = sorted(holders[message])
        if model.switching == "store-and-forward":
            near = [holder for holder in near if (holder, node) in room]
        if not near:
            continue
        first = rng.choice(near)
        path = (first, node)
        if model.switching == "wormhole":
            path = rng.choice(allowed_paths(forward, first, node))
        hops = [pair.get(hop, hop) for hop in pairwise(path)]
        if inject[first] == 0 or accept[node] == 0 or any(room[hop] == 0 for hop in hops):
            continue
        for hop in hops:
            room[hop] -= 1
        inject[first] = None if inject[first] is None else inject[first] - 1
        accept[node] = None if accept[node] is None else accept[node] - 1
        step.append(Transfer(message, path))
    return tuple(step)


def _open_deliveries(forward: Instance, holders: list[set[int]]) -> list[tuple[int, int]]:
    """Return (message, node) that may still be delivered: all nodes under store-and-forward."""
    anybody = forward.model.switching == "store-and-forward"
    return [
        (index, node)
        for index, message in enumerate(forward.collective.deliver_messages)
        if not holders[index].issuperset(message.destinations)
        for node in (range(forward.network.nodes) if anybody else message.destinations)
        if node not in holders[index]
    ]
