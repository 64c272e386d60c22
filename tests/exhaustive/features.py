"""The combinations of all features, all collectives of the named kinds, and the cases to try.

The full product has far too many instances. A case is one of them: every combination of features
is in one case or more, and so is every network with every kind of collective; what is left open
(which nodes are endpoints, whose ports differ, which set of messages of the kind) is drawn.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations, islice, permutations, product
from typing import Any, NamedTuple

from tests.exhaustive.networks import SAMPLE_OF_FIVE, Arcs, all_graphs, is_strong, some_graphs

FEATURES: dict[str, tuple[Any, ...]] = {
    "switching": ("wormhole", "store-and-forward", "tdm"),
    "ports": ("all", 1, 2, "inject 1", "accept 1", "per node", "none at some node"),
    "capacities": ("all 1", "some 2", "all 2"),
    "half duplex": ("none", "some", "all", "groups"),
    "endpoints": ("none", "some"),
    "routing": ("minimal", 1, "any", "table"),
    "chunks": (1, 2),
    "rounds": ((), (2, 2), (1, 2), (2, 1), "ticks"),
}
COMBINATIONS = tuple(
    values for values in product(*FEATURES.values()) if values[0] != "tdm" or not values[-1]
)
"""All of them; in time slots there are no rounds and no ticks."""
KINDS = (
    "broadcast", "allgather", "scatter", "gather", "alltoall", "reduce", "reduce-scatter",
    "multicast", "many-to-many", "permutation", "allreduce", "scan", "exscan",
)  # fmt: skip
SUMS = "allreduce", "scan", "exscan"
"""The kinds whose transfers carry sums."""
COMBINED = "reduce", "reduce-scatter", *SUMS
"""The kinds that there are not in time slots."""
MANY_PORTS = 99
"""More than any node uses; one side alone cannot be ``"all"``."""
TENTH = 10
"""Every case whose hash is a multiple of this is tried in every run of the tests."""


class Case(NamedTuple):
    """One instance to try.

    Attributes
    ----------
    name
        Identifies the case and is the seed of all that is drawn.
    instance
        The JSON object of the instance.
    values
        The combination of features, in the order of ``FEATURES``, and the kind of collective.
    """

    name: str
    instance: dict[str, Any]
    values: tuple[Any, ...]

    @property
    def rng(self) -> random.Random:
        """A new source of random numbers for this case alone."""
        return random.Random(self.name)


@cache
def message_sets(kind: str, nodes: int) -> list[list[Any]]:
    """Return all collectives of a kind: lists of (source, destinations), or of members."""
    everyone = range(nodes)
    others = {node: tuple(other for other in everyone if other != node) for node in everyone}
    if kind in ("broadcast", "reduce"):
        return [[(root, others[root])] for root in everyone]
    if kind in ("allgather", "reduce-scatter"):
        return [[(root, others[root]) for root in everyone]]
    if kind == "scatter":
        return [[(root, (node,)) for node in others[root]] for root in everyone]
    if kind == "gather":
        return [[(node, (root,)) for node in others[root]] for root in everyone]
    if kind == "alltoall":
        return [[(a, (b,)) for a in everyone for b in others[a]]]
    if kind == "multicast":
        return [[(root, goals)] for root in everyone for goals in _subsets(others[root])]
    if kind == "many-to-many":
        found = []
        for senders, receivers in product(_subsets(everyone), _subsets(everyone)):
            pairs = [(a, tuple(b for b in receivers if b != a)) for a in senders]
            if any(goals for _, goals in pairs):
                found.append([(a, goals) for a, goals in pairs if goals])
        return found
    if kind == "permutation":
        return [
            [(a, (b,)) for a, b in enumerate(image) if a != b]
            for image in permutations(everyone)
            if image != tuple(everyone)
        ]
    if kind in ("scan", "exscan"):  # the order of the members counts
        return [[order] for k in range(2, nodes + 1) for order in permutations(everyone, k)]
    return [[members] for members in _subsets(everyone) if len(members) > 1]


def _subsets(nodes: Any) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(nodes, k) for k in range(1, len(nodes) + 1)))


@cache
def pairs_to_try() -> tuple[tuple[int, Arcs, str], ...]:
    """Return networks with a kind of collective each, in a random order.

    Small and strongly connected networks are listed several times: there more can be searched.
    """
    graphs: Counter[tuple[int, Arcs]] = Counter()
    for nodes in (2, 3, 4):
        for arcs in all_graphs(nodes):
            graphs[nodes, arcs] = (3 if is_strong(nodes, arcs) else 1) * (1 if nodes == 4 else 2)
    graphs.update((5, arcs) for arcs in some_graphs(5, SAMPLE_OF_FIVE))
    pairs = [(*graph, kind) for graph in graphs.elements() if graph[1] for kind in KINDS]
    random.Random(0).shuffle(pairs)
    return tuple(pairs)


@cache
def combinations_tried(tenth: bool) -> tuple[tuple[str, int, Arcs, str, tuple[Any, ...]], ...]:
    """Return name, nodes, arcs, kind and features of the cases of the tenth, or of all others."""
    pairs, found = pairs_to_try(), []
    in_slots = tuple(pair for pair in pairs if pair[-1] not in COMBINED)
    for number, features in enumerate(COMBINATIONS):
        fitting = in_slots if features[0] == "tdm" else pairs
        nodes, arcs, kind = fitting[number % len(fitting)]
        name = f"{number}: {nodes} nodes {arcs}, {kind}, {features}"
        digest = hashlib.sha256(name.encode()).digest()
        if (int.from_bytes(digest[:8], "big") % TENTH == 0) == tenth:
            found.append((name, nodes, arcs, kind, features))
    return tuple(found)


def cases(tenth: bool, first: int = 0, every: int = 1) -> Iterator[Case]:
    """Yield cases of the tenth, or of the others: ``first``, ``first + every``, and so on."""
    tried = islice(combinations_tried(tenth), first, None, every)
    for name, nodes, arcs, kind, features in tried:
        yield Case(name, _instance(nodes, arcs, kind, features, name), (*features, kind))


def _instance(
    nodes: int, arcs: Arcs, kind: str, features: tuple[Any, ...], seed: str
) -> dict[str, Any]:
    rng = random.Random(seed)
    chosen = dict(zip(FEATURES, features, strict=True))
    network = _network(nodes, arcs, chosen, rng)
    collective = _collective(rng.choice(message_sets(kind, nodes)), kind)
    model = {
        "switching": chosen["switching"],
        "ports": _ports(chosen["ports"], nodes, rng),
        "routing": chosen["routing"],
    }
    if chosen["routing"] == "table":
        # In store-and-forward switching there is no table.
        hop_by_hop = chosen["switching"] == "store-and-forward"
        model["routing"] = "minimal" if hop_by_hop else _table(network, rng)
    if chosen["chunks"] > 1:
        collective["chunks"] = chosen["chunks"]
    if chosen["rounds"] == "ticks":
        # There are no sums in ticks.
        if kind not in SUMS:
            _add_times(network, rng)
    elif chosen["rounds"]:
        model["rounds"] = list(chosen["rounds"])
    newer = len(collective) > 3 or "rounds" in model or kind in SUMS or "times" in network
    newer = newer or isinstance(model["routing"], dict) or "groups" in network
    newer = newer or chosen["switching"] == "tdm"
    return {
        "format": f"cchybrid-instance/{1 + newer}", "name": "small", "network": network,
        "collective": collective, "model": model,
    }  # fmt: skip


def _network(nodes: int, arcs: Arcs, chosen: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    sizes = {arc: 2 if chosen["capacities"] == "all 2" else rng.choice((1, 2)) for arc in arcs}
    if chosen["capacities"] == "all 1":
        sizes = dict.fromkeys(arcs, 1)
    links = [(a, b) for a, b in arcs if a < b and (b, a) in arcs]
    shared = [
        rng.choice(((a, b), (b, a)))
        for a, b in links
        if chosen["half duplex"] == "all"
        or (chosen["half duplex"] == "some" and rng.random() < 0.5)
    ]
    for a, b in shared:
        sizes[b, a] = sizes[a, b]
    network: dict[str, Any] = {"name": "small", "nodes": nodes}
    network["channels"] = [[*arc, size] if size > 1 else [*arc] for arc, size in sizes.items()]
    if shared:
        network["half_duplex"] = [list(pair) for pair in shared]
    if chosen["half duplex"] == "groups":
        group = _group(arcs, sizes, chosen["switching"] == "wormhole", rng)
        sizes.update(dict.fromkeys(group, sizes[group[0]]))
        network["channels"] = [[*arc, size] if size > 1 else [*arc] for arc, size in sizes.items()]
        network["groups"] = [[list(arc) for arc in group]]
    if chosen["endpoints"] == "some":
        network["endpoints"] = sorted(rng.sample(range(nodes), rng.randrange(1, nodes)))
    return network


def _group(
    arcs: Arcs, sizes: dict[tuple[int, int], int], few: bool, rng: random.Random
) -> list[tuple[int, int]]:
    """Return channels that share one capacity: all that leave or enter a node, or any.

    With ``few`` no more of any than the capacity, so that every path fits in one round.
    """
    end, (node, _) = rng.choice((0, 1, 2, 2)), rng.choice(arcs)
    group = [arc for arc in arcs if end == 2 or arc[end] == node] or [*arcs]
    if end == 2 or group == [*arcs]:
        group = rng.sample(arcs, rng.randint(1, len(arcs)))
        group = group[: sizes[group[0]]] if few else group
    return group


def _add_times(network: dict[str, Any], rng: random.Random) -> None:
    """Give every channel a latency and a length; not all are those of a step."""
    slow = rng.choice(((0, 1), (1, 1), (0, 2), (2, 3)))
    times = {tuple(arc[:2]): rng.choice(((0, 2), slow)) for arc in network["channels"]}
    for a, b in network.get("half_duplex", []):
        times[a, b] = times[b, a]
    for group in network.get("groups", []):
        times.update((tuple(arc), times[tuple(group[0])]) for arc in group)
    if any(time != (0, 1) for time in times.values()):
        network["times"] = [list(time) for time in times.values()]


def _table(network: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a routing table: for every node a random tree of paths to it, or from it.

    Few trees leave nodes out that a path could reach.
    """
    key, nodes = rng.choice(("next", "previous")), range(network["nodes"])
    arcs = [arc[:2] if key == "next" else arc[1::-1] for arc in network["channels"]]
    rows = [[node] * len(nodes) for node in nodes]
    for root in nodes:
        inside = {root}
        while rng.random() < 0.97:
            passable = inside - {*network.get("endpoints", [])} | {root}
            leading = [(a, b) for a, b in arcs if a not in inside and b in passable]
            if not leading:
                break
            a, b = rng.choice(leading)
            rows[a][root] = b
            inside.add(a)
    return {key: rows}


def _ports(value: Any, nodes: int, rng: random.Random) -> Any:
    if value == "inject 1":
        return {"inject": 1, "accept": MANY_PORTS}
    if value == "accept 1":
        return {"inject": MANY_PORTS, "accept": 1}
    if value == "per node":
        return {side: [rng.choice((1, 2)) for _ in range(nodes)] for side in ("inject", "accept")}
    if value == "none at some node":
        ports = _ports("per node", nodes, rng)
        ports[rng.choice(("inject", "accept"))][rng.randrange(nodes)] = 0
        return ports
    return value


def _collective(messages: list[Any], kind: str) -> dict[str, Any]:
    if kind in SUMS:
        members = [{"members": list(members)} for members in messages]
        return {"name": kind, "kind": kind, "messages": members}
    if kind in ("reduce", "reduce-scatter"):
        parts = [{"sources": list(many), "destination": one} for one, many in messages]
        return {"name": kind, "kind": "combine", "messages": parts}
    copies = [{"source": one, "destinations": list(many)} for one, many in messages]
    return {"name": kind, "kind": "deliver", "messages": copies}
