"""Slow, plain definitions of throughput: all sets of nodes, all paths, loads of trees."""

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
from ortools.linear_solver import pywraplp

from cchybrid.checker import RoundsVerdict
from cchybrid.checker.instance import LABELS
from cchybrid.model import Channel, Instance, Network

MAX_NODES = 12
"""Nodes up to which the slow definitions are computed."""


def random_network(seed: int, *, both: bool, switches: int = 0, endpoints: int = 0) -> Network:
    """Return a small network in which all nodes reach each other.

    Parameters
    ----------
    both
        Whether every channel has an opposite one of the same capacity.
    switches
        How many of the last nodes are switches.
    endpoints
        How many of the first nodes are endpoints.
    """
    rng = random.Random(seed)
    nodes = rng.randint(3, 5) + switches
    order = list(range(nodes))
    rng.shuffle(order)
    pairs = set(zip(order, order[1:] + order[:1], strict=True))
    pairs |= {(a, b) for a in range(nodes) for b in range(nodes) if a != b and rng.random() < 0.3}
    if both:
        pairs = {(a, b) for a, b in pairs if (b, a) not in pairs or a < b}
    sizes = {pair: rng.choice((1, 1, 2, 3, 5)) for pair in sorted(pairs)}
    if both:
        sizes |= {(b, a): size for (a, b), size in sizes.items()}
    # Every endpoint is next to a node that is none, and those reach each other.
    inner = [node for node in range(nodes) if node >= endpoints]
    if endpoints:
        sizes |= dict.fromkeys(pairwise(inner), 2) | {(b, a): 2 for a, b in pairwise(inner)}
        for node in range(endpoints):
            hub = rng.choice(inner)
            sizes |= {(node, hub): 1, (hub, node): 1}
    return Network(
        f"random-{seed}",
        nodes,
        tuple(Channel(a, b, size) for (a, b), size in sorted(sizes.items())),
        switches=tuple(range(nodes - switches, nodes)),
        endpoints=tuple(range(endpoints)),
    )


def densest(instance: Instance) -> Fraction:
    """Return the largest quotient of messages and capacity over all sets of nodes."""
    forward = instance.forward
    network, messages = forward.network, forward.collective.deliver_messages
    goals = {node for message in messages for node in message.destinations}
    holders = goals | {message.source for message in messages}
    shut = set(network.endpoints) if instance.model.switching == "wormhole" else set()
    best = Fraction(0)
    for size in range(1, network.nodes):
        for chosen in combinations(range(network.nodes), size):
            inside = set(chosen)
            entering = sum(
                m.source not in inside and bool(inside & set(m.destinations)) for m in messages
            )
            capacity = sum(
                c.capacity
                for c in network.channels
                if c.source not in inside
                and c.target in inside
                and not (c.source in shut and c.source not in holders)
                and not (c.target in shut and c.target not in goals)
            )
            if entering:
                best = max(best, Fraction(entering, capacity))
    return best


def smallest_load(instance: Instance) -> float:
    """Return the smallest largest load of a channel, by a linear program over all simple paths.

    Each destination of a message has paths of its own.
    """
    forward = instance.forward
    network = forward.network
    graph = nx.DiGraph([(c.source, c.target) for c in network.channels])
    messages = forward.collective.deliver_messages
    demand = Counter((m.source, goal) for m in messages for goal in m.destinations)
    solver: Any = pywraplp.Solver.CreateSolver("GLOP")
    rounds = solver.NumVar(0, solver.infinity(), "")
    load: dict[tuple[int, int], list[Any]] = {(c.source, c.target): [] for c in network.channels}
    for (source, goal), count in demand.items():
        passable = graph.subgraph(set(graph) - (set(network.endpoints) - {source, goal}))
        parts = []
        for path in nx.all_simple_paths(passable, source, goal):
            part = solver.NumVar(0, solver.infinity(), "")
            parts.append(part)
            for hop in pairwise(path):
                load[hop].append(part)
        solver.Add(sum(parts) == count)
    for c in network.channels:
        if load[c.source, c.target]:
            solver.Add(sum(load[c.source, c.target]) <= c.capacity * rounds)
    solver.Minimize(rounds)
    assert solver.Solve() == solver.OPTIMAL
    return float(solver.Objective().Value())


def highest_bound(instance: Instance) -> float:
    """Return what no true bound of the rounds per chunk exceeds, up to rounding.

    The densest set of nodes is the optimum if all messages have the same sources and destinations,
    and all other nodes send as much as they receive (J. Bang-Jensen, A. Frank and B. Jackson,
    Preserving and increasing local edge-connectivity in mixed graphs, 1995,
    doi:10.1137/S0036142993226983). Otherwise a route to each destination by itself is a schedule.
    """
    forward = instance.forward
    messages = forward.collective.deliver_messages
    holders = {frozenset({m.source, *m.destinations}) for m in messages}
    others = set(range(forward.network.nodes)) - min(holders, key=len)
    surplus = Counter[int]()
    for c in forward.network.channels:
        surplus[c.source] += c.capacity
        surplus[c.target] -= c.capacity
    shut = others & set(forward.network.endpoints)
    if len(holders) == 1 and not shut and not any(surplus[node] for node in others):
        return float(densest(instance)) + 1e-6
    return smallest_load(instance) + 1e-6


def attained(record: dict[str, Any]) -> Fraction:
    """Return the rounds per chunk of the trees, after checks that they deliver everything."""
    forward = Instance.from_json(record["instance"]).forward
    network = forward.network
    back = record["instance"]["collective"]["kind"] == "combine"
    wormhole = forward.model.switching == "wormhole"
    load: Counter[tuple[int, int]] = Counter()
    carried: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for tree in record["trees"]:
        graph = nx.DiGraph()
        graph.add_node(tree["root"])
        for path in tree["paths"]:
            nodes = path[::-1] if back else path
            assert len(set(nodes)) == len(nodes) > 1
            assert not (wormhole and set(nodes[1:-1]) & set(network.endpoints))
            graph.add_edge(nodes[0], nodes[-1])
            for hop in pairwise(nodes):
                load[hop] += tree["chunks"]
        assert nx.is_arborescence(graph)
        assert next(iter(nx.topological_sort(graph))) == tree["root"]
        carried[tree["root"], tuple(sorted(set(graph) - {tree["root"]}))] += tree["chunks"]
    counts = Counter(
        (m.source, tuple(sorted(m.destinations))) for m in forward.collective.deliver_messages
    )
    [chunks] = {Fraction(carried[key], count) for key, count in counts.items()}
    assert carried.keys() == counts.keys()
    capacity = {(c.source, c.target): c.capacity for c in network.channels}
    return max(Fraction(size, capacity[hop]) for hop, size in load.items()) / chunks


def assert_true(verdict: RoundsVerdict, record: Any) -> None:
    """Assert that the trees of a file attain what is claimed, and that the bound is no higher."""
    record = {**record, "instance": _without_labels(record["instance"])}
    read = Instance.from_json(record["instance"])
    assert attained(record) <= verdict.rounds_per_chunk
    assert read.network.nodes > MAX_NODES or float(verdict.bound) <= highest_bound(read)


def _without_labels(instance: Any) -> Any:
    """Return an instance without what the checker ignores, so that the model reads it."""
    network = {key: value for key, value in instance["network"].items() if key not in LABELS}
    network["endpoints"] = sorted({*network.get("endpoints", [])})
    collective = {**instance["collective"], "name": ""}
    return {**instance, "name": "", "network": {**network, "name": ""}, "collective": collective}
