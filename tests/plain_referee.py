"""The rules of a valid schedule once more, in plain Python: the twin that the referee must match.

Written for reading, not for speed, sharing no code with ``cchybrid.referee.verify``.
``breaches`` returns what the referee must report, without the words.
"""

from collections import defaultdict, deque
from itertools import pairwise
from typing import NamedTuple

from cchybrid.model import Instance, Network, Steps


class Breach(NamedTuple):
    rule: str
    step: int
    transfer: int
    message: int
    place: str


class Use(NamedTuple):
    """A transfer of the forward reading, in which messages go from source to destinations."""

    step: int
    slot: int
    message: int
    path: tuple[int, ...]


def breaches(instance: Instance, steps: Steps) -> set[Breach]:
    """Return every breach of the rules, in the user's numbering."""
    backwards = instance.collective.kind == "combine"
    last = len(steps) - 1
    uses = [
        Use(
            last - s if backwards else s,
            t,
            message,
            tuple(reversed(path)) if backwards else tuple(path),
        )
        for s, step in enumerate(steps)
        for t, (message, path) in enumerate(step)
    ]
    uses.sort(key=lambda use: (use.step, use.slot))
    found = {Breach("empty-step", s, -1, -1, "") for s, step in enumerate(steps) if not step}
    if len(instance.model.rounds) > 1 or instance.model.switching == "tdm":
        found = set()
    if instance.network.times:
        found = late_ends(instance, uses, len(steps))
    found |= broken_paths(instance, uses)
    found |= overloads(instance, uses, len(steps))
    found |= ignorance(instance, uses, len(steps))
    if not backwards:
        return found
    turned = {"inject-overload": "accept-overload", "accept-overload": "inject-overload"}
    return {
        breach._replace(
            rule=turned.get(breach.rule, breach.rule),
            step=last - breach.step
            if breach.step >= 0 and breach.rule != "empty-step"
            else breach.step,
        )
        for breach in found
    }


def forward_network(instance: Instance) -> Network:
    if instance.collective.kind == "deliver":
        return instance.network
    return instance.network.reversed()


def demands(instance: Instance) -> list[tuple[int, tuple[int, ...]]]:
    """Return (source, destinations) of every message of the forward reading."""
    if instance.collective.kind == "deliver":
        return [(m.source, m.destinations) for m in instance.collective.messages]
    return [(m.destination, m.sources) for m in instance.collective.messages]


def distances(network: Network, source: int) -> dict[int, int]:
    """Return the hops from the source to every node that it reaches."""
    hops = {source: 0}
    queue = deque([source])
    while queue:
        node = queue.popleft()
        if node != source and node in network.endpoints:
            continue
        for after in network.successors[node]:
            if after not in hops:
                hops[after] = hops[node] + 1
                queue.append(after)
    return hops


def broken_paths(instance: Instance, uses: list[Use]) -> set[Breach]:
    network, model = instance.network, instance.model
    channels = {(c.source, c.target) for c in network.channels}
    backwards = instance.collective.kind == "combine"
    found = set()
    hops_from: dict[int, dict[int, int]] = {}
    for use in uses:
        path = use.path[::-1] if backwards else use.path  # as the user wrote it
        found_before = len(found)

        def report(rule: str, place: str, use: Use = use) -> None:
            found.add(Breach(rule, use.step, use.slot, use.message, place))

        if len(path) < 2:
            report("path-too-short", "")
        exists = [0 <= node < network.nodes for node in path]
        for node, known in zip(path, exists, strict=True):
            if not known:
                report("no-such-node", f"node {name_of(node)}")
                break
        for i in range(len(path) - 1):
            a, b = path[i], path[i + 1]
            if exists[i] and exists[i + 1] and a != b and (a, b) not in channels:
                report("no-such-channel", f"channel {a}->{b}")
                break
        for i, node in enumerate(path):
            if exists[i] and node in path[:i]:
                report("path-not-simple", f"node {node}")
                break
        for node in path[1:-1]:
            if node in network.endpoints:
                report("passes-endpoint", f"node {node}")
                break
        sound = len(found) == found_before
        hops = len(path) - 1
        if model.switching == "store-and-forward":
            if hops > 1:
                report("not-one-hop", f"path {name_of(path[0])}->{name_of(path[-1])}")
        elif model.table is not None:
            given = list(path[:1])
            while sound and given[-1] != path[-1]:
                given.append(model.table.hops[given[-1]][path[-1]])
                if given[-1] in given[:-1]:
                    break
            if sound and given != list(path):
                report("path-off-table", f"path {path[0]}->{path[-1]}")
        elif sound and model.routing != "any":
            extra = 0 if model.routing == "minimal" else model.routing
            if path[0] not in hops_from:
                hops_from[path[0]] = distances(network, path[0])
            if hops > hops_from[path[0]][path[-1]] + extra:
                report("path-too-long", f"path {path[0]}->{path[-1]}")
        if not 0 <= use.message < len(instance.collective.messages):
            report("unknown-message", f"message {name_of(use.message)}")
    return found


def name_of(number: int) -> str:
    return str(number) if number.bit_length() <= 64 else f"(a number of {number.bit_length()} bits)"


def ends(use: Use, nodes: int) -> tuple[int | None, int | None]:
    """Return who sends and who receives; ``None`` where that makes no sense."""
    if len(use.path) < 2 or use.path[0] == use.path[-1]:
        return None, None
    first, last = use.path[0], use.path[-1]
    return first if 0 <= first < nodes else None, last if 0 <= last < nodes else None


class Time(NamedTuple):
    """When a transfer uses what it needs, in ticks after its start.

    ``before`` has the ticks before each node of the path; what is no channel takes no time.
    """

    before: tuple[int, ...]
    length: int

    @property
    def duration(self) -> int:
        return self.before[-1] + self.length


def time_of(instance: Instance, use: Use) -> Time:
    network = forward_network(instance)
    if not network.times:
        return Time((0,) * len(use.path) or (0,), 1)
    time = {c[:2]: t for c, t in zip(network.channels, network.times, strict=True)}
    before, length = [0], 1
    for hop in pairwise(use.path):
        latency, own = time.get(hop, (0, 1))
        before.append(before[-1] + latency)
        length = max(length, own)
    return Time(tuple(before), length)


def late_ends(instance: Instance, uses: list[Use], steps: int) -> set[Breach]:
    return {
        Breach("ends-too-late", use.step, use.slot, use.message, "")
        for use in uses
        if use.step + time_of(instance, use).duration > steps
    }


def overloads(instance: Instance, uses: list[Use], steps: int) -> set[Breach]:
    network, model = forward_network(instance), instance.forward.model
    capacity = {(c.source, c.target): c.capacity for c in network.channels}
    backwards = instance.collective.kind == "combine"
    pair_of = {}
    for a, b in network.half_duplex:
        pair_of[a, b] = pair_of[b, a] = (a, b)
    group_of = {hop: group[0] for group in network.groups for hop in group}
    users = defaultdict(list)
    for use in uses:
        taken = []
        time = time_of(instance, use)
        known = [node for node in use.path if 0 <= node < network.nodes]
        if len(known) == len(set(known)):
            for late, hop in enumerate(pairwise(use.path)):
                if hop in capacity:
                    # A pair's name is that of the direction that stands first in the file.
                    first = pair_of.get(hop, group_of.get(hop, hop))
                    a, b = first[:: -1 if backwards else 1]
                    if hop in group_of:
                        resource = ("group-overload", f"group of channel {a}->{b}")
                    elif hop in pair_of:
                        resource = ("half-duplex-overload", f"half-duplex link {a}-{b}")
                    else:
                        resource = ("channel-overload", f"channel {a}->{b}")
                    taken.append((late, *resource, capacity[hop]))
        limits = (model.inject_limit, model.accept_limit)
        ports = zip(("inject", "accept"), ends(use, network.nodes), limits, strict=True)
        for kind, node, limit in ports:
            if node is not None and limit(node) is not None:
                late = 0 if kind == "inject" else len(use.path) - 2
                taken.append((late, f"{kind}-overload", f"node {node}", limit(node)))
        for late, *resource in taken:
            when = (use.step + late) % steps if model.switching == "tdm" else use.step
            if network.times:
                when = use.step + time.before[late + (resource[0] == "accept-overload")]
            for tick in range(when, when + time.length):
                users[tick, *resource].append(use)
    found = set()
    for (step, rule, place, size), group in users.items():
        rounds = model.rounds
        limit = size * ((*rounds, *rounds[-1:] * (step + 1))[step] if rounds else 1)
        # In ticks an overload is reported where it begins: in the tick before there was room.
        before = users.get((step - 1, rule, place, size), []) if network.times else []
        if len(group) > limit >= sum(use in before for use in group):
            excess = group[limit]
            found.add(Breach(rule, excess.step, excess.slot, excess.message, place))
    return found


def ignorance(instance: Instance, uses: list[Use], steps: int) -> set[Breach]:
    found = set()
    expected = demands(instance)
    nodes = instance.network.nodes
    since = {(message, source): -1 for message, (source, _) in enumerate(expected)}

    def arrival(use: Use) -> int:
        return use.step + time_of(instance, use).duration - 1

    for use in sorted(uses, key=arrival):
        _, last = ends(use, nodes)
        if last is None or not 0 <= use.message < len(expected):
            continue
        source, destinations = expected[use.message]
        breach = Breach("", use.step, use.slot, use.message, f"node {last}")
        if (use.message, last) in since:
            found.add(breach._replace(rule="received-twice"))
        since.setdefault((use.message, last), arrival(use))
        strange = last != source and last not in destinations
        if strange and instance.model.switching != "store-and-forward":
            found.add(breach._replace(rule="not-a-destination"))
    giver = {}
    for use in reversed(uses):  # of several receipts the first
        giver[use.message, ends(use, nodes)[1]] = ends(use, nodes)[0]

    def is_rooted(message: int, node: int | None) -> bool:
        """Return whether a chain of receipts has a beginning, at the source or an error."""
        chain = set()
        while node is not None and node not in chain and node != expected[message][0]:
            chain.add(node)
            node = giver.get((message, node))
        return node not in chain

    for use in uses:
        first, _ = ends(use, nodes)
        if first is None or not 0 <= use.message < len(expected):
            continue
        if instance.model.switching == "tdm":  # a later period may follow
            known = (use.message, first) in since and is_rooted(use.message, first)
        else:
            known = since.get((use.message, first), steps) < use.step
        if not known:
            found.add(Breach("not-informed", use.step, use.slot, use.message, f"node {first}"))
    for message, (_, destinations) in enumerate(expected):
        for node in destinations:
            if (message, node) not in since:
                found.add(Breach("missing-destination", -1, -1, message, f"node {node}"))
    return found
