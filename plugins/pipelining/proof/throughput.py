"""Throughput optima: the fewest rounds per chunk of endless schedules, with trees and evidence.

Messages that all go to the same nodes are broadcast over a packing of spanning trees, and a cut
bounds them; messages with one destination each are a concurrent flow, bounded by prices. The cut
that demands most is found by Newton's method for fractions (Dinkelbach, Management Science 13,
1967, doi:10.1287/mnsc.13.7.492): minimum cuts in integers, from one quotient to the next.
"""

import math
import time
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from itertools import chain, groupby, pairwise
from typing import Any, NamedTuple

from cchybrid.checker import Network
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.throughput import FORMAT
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.proof.linear_evidence import linear
from cchybrid.proof.reach import explain, unreachable

from .concurrent_flow import OVER, PathFlow, concurrent_flow, largest_load
from .edge_splitting import Arc, Splitting
from .max_flow import FlowNetwork
from .tree_packing import PathTree, pack_trees, with_paths


class Broadcasts(NamedTuple):
    """Messages that all go to the same nodes (their own source left out).

    Attributes
    ----------
    channels
        The capacity of every channel that can carry them.
    weights
        The number of messages by source.
    targets
        The nodes that want every message.
    """

    channels: dict[Arc, int]
    weights: dict[int, int]
    targets: frozenset[int]


def throughput_record(instance: Instance, time_limit: float = math.inf) -> dict[str, Any]:
    """Return the throughput optimum of an instance as a ``cchybrid-throughput/1`` object.

    Where the trees that were found take more rounds per chunk than the bound, ``rounds_per_chunk``
    and ``bound`` differ. What the limit of ``time_limit`` seconds left out stands in ``made_by``
    as ``left_out``; trees of shortest paths are found without limit.

    Raises
    ------
    InputError
        Throughput is not defined for the instance, or a destination cannot be reached.
    """
    deadline = time.monotonic() + time_limit
    refuse_undefined(instance)
    anyhow = instance.with_model(routing="any")
    evidence = unreachable(anyhow.forward)
    if evidence is not None:
        lost, name = explain(anyhow, evidence), instance.network.node_name
        raise InputError(
            f"no path leads from node {name(lost.source)} to node {name(lost.destination)}",
            where=instance.name,
            hint="add a channel, or leave the node out",
        )
    record = anyhow.to_json()
    network = Network(record)
    if all(len(goals) == 1 for _, goals in network.messages):
        found = _scatters(network, deadline)
    else:
        found = _broadcasts(instance, network, deadline)
    trees, chunks, rounds, candidates, left_out = found
    bound, evidence = max(
        ((linear_rounds(network, each, None), each) for each in candidates),
        key=lambda pair: pair[0],
    )
    return {
        "format": FORMAT,
        "instance": record,
        "rounds_per_chunk": str(Fraction(rounds, chunks)),
        "chunks": chunks,
        "rounds": rounds,
        "bound": str(bound),
        "evidence": evidence,
        "trees": [
            {
                "root": tree.root,
                "chunks": tree.weight,
                "paths": [list(path[::-1] if network.backwards else path) for path in tree.paths],
            }
            for tree in sorted(trees)
        ],
        "made_by": {"left_out": left_out} if left_out else {},
    }


def refuse_undefined(instance: Instance) -> None:
    """Raise an ``InputError`` if an instance has a feature for which throughput is not defined."""
    collective, model = instance.collective, instance.model
    nodes = range(instance.network.nodes)
    limits = {model.inject_limit(n) for n in nodes} | {model.accept_limit(n) for n in nodes}
    for present, feature, hint in (
        (
            collective.with_sums,
            f"{collective.kind} is",
            "of an allreduce, ask for its halves, reduce-scatter and allgather",
        ),
        (collective.chunks > 1, "a number of chunks is", "leave it out: it grows without end"),
        (model.rounds, "rounds of steps are", "leave them out"),
        (model.table, "a routing table is", "use another routing"),
        (instance.network.half_duplex, "half-duplex links are", "leave them out"),
        (instance.network.groups, "groups of channels are", "leave them out"),
        (instance.network.times, "times of channels are", "leave them out"),
        (limits != {None}, "limited ports are", "leave them out"),
    ):
        if present:
            raise InputError(f"{feature} not part of throughput", where=instance.name, hint=hint)


class Found(NamedTuple):
    """Trees, their chunks and rounds, evidence for a bound, and what a limit left out."""

    trees: list[PathTree]
    chunks: int
    rounds: int
    candidates: list[dict[str, Any]]
    left_out: str = ""


def _scatters(network: Network, deadline: float) -> Found:
    demand = Counter((source, goals[0]) for source, goals in network.messages)
    left_out = ""
    try:
        flow = concurrent_flow(network.channels, network.endpoints, demand, deadline)
    except TimeoutError as error:
        flow, left_out = _shortest_flow(network, demand), f"flows over all paths: {error}"
    attained = largest_load(flow.paths, network.channels)
    chunks = math.lcm(attained.denominator, *(amount.denominator for amount in flow.paths.values()))
    trees = [
        PathTree(path[0], int(amount * chunks), (path,)) for path, amount in flow.paths.items()
    ]
    candidates = [
        linear(None, channels=[[a, b, price] for (a, b), price in prices.items()])
        for prices in flow.prices
    ]
    return Found(trees, chunks, int(attained * chunks), candidates, left_out)


def _broadcasts(instance: Instance, network: Network, deadline: float) -> Found:
    problem = _read_broadcasts(instance, network)
    optimum, inside, missing = densest_cut(problem, deadline)
    left_out = f"cuts around {missing} of {len(problem.targets)} nodes: {OVER}" if missing else ""
    try:
        if missing:
            raise TimeoutError
        trees, chunks, rounds = _trees(problem, optimum, deadline)
    except TimeoutError:
        left_out = left_out or f"trees beside those of shortest paths: {OVER}"
        trees, chunks, rounds = _shortest_trees(problem)
    # A message pays for one entry; channels that cannot carry it into the set are free.
    into = [[a, b, 1] for a, b in problem.channels if a not in inside and b in inside]
    return Found(trees, chunks, rounds, [linear(None, channels=into)], left_out)


def _read_broadcasts(instance: Instance, network: Network) -> Broadcasts:
    weights = Counter(source for source, _ in network.messages)
    targets = {node for _, goals in network.messages for node in goals}
    if len(weights) == 1:
        targets |= weights.keys()
    if any({*goals} != targets - {source} for source, goals in network.messages):
        raise InputError(
            "neither do all messages go to the same nodes, nor has each one destination",
            where=instance.name,
            hint="use a collective such as allgather, broadcast or alltoall",
        )
    holders = targets | weights.keys()
    channels = {
        (a, b): size
        for (a, b), size in network.channels.items()
        if (a not in network.endpoints or a in holders)
        and (b not in network.endpoints or b in targets)
    }
    return Broadcasts(channels, dict(weights), frozenset(targets))


def densest_cut(
    problem: Broadcasts, deadline: float = math.inf
) -> tuple[Fraction, frozenset[int], int]:
    """Return the largest quotient of messages and capacity into a set of nodes, and the set.

    The number of targets that were not looked at before the deadline is returned last.

    A target at a time: while the capacity into some set around it, times the quotient so far, is
    too small for the messages from outside, the minimum cut is such a set, and its quotient is
    the next one.

    Raises
    ------
    ValueError
        No capacity leads into a set that messages have to enter.
    """
    root = _new_node(problem)
    total = sum(problem.weights.values())
    best, best_set = Fraction(0), frozenset[int]()
    for place, target in enumerate(sorted(problem.targets)):
        if best and time.monotonic() > deadline:
            return best, best_set, len(problem.targets) - place
        inside = frozenset({target})
        while True:
            quotient = _quotient(problem, inside)
            if quotient > best:
                best, best_set = quotient, inside
            found = FlowNetwork(rooted(problem, root, best)).flow(root, target)
            if found.value >= total * best.denominator:
                break
            inside = found.sink_side
    return best, best_set, 0


def _new_node(problem: Broadcasts) -> int:
    return 1 + max((*problem.targets, *problem.weights, *(max(arc) for arc in problem.channels)))


def rooted(problem: Broadcasts, root: int, rate: Fraction) -> dict[Arc, int]:
    """Return the arcs that send, from a root, every message in chunks at a rate in rounds.

    A chunk of every message is the denominator, a round the numerator; the root sends each source
    its messages.
    """
    capacity = {arc: size * rate.numerator for arc, size in problem.channels.items()}
    for source, count in problem.weights.items():
        capacity[root, source] = count * rate.denominator
    return capacity


def _quotient(problem: Broadcasts, inside: Collection[int]) -> Fraction:
    messages = sum(count for source, count in problem.weights.items() if source not in inside)
    capacity = sum(
        size for (a, b), size in problem.channels.items() if a not in inside and b in inside
    )
    if messages and not capacity:
        raise ValueError("no capacity into the set")
    return Fraction(messages, capacity or 1)


def _trees(
    problem: Broadcasts, optimum: Fraction, deadline: float
) -> tuple[list[PathTree], int, int]:
    """Return trees, and the chunks and rounds that they need; a ``TimeoutError`` if it is over."""
    root = _new_node(problem)
    demand = sum(problem.weights.values()) * optimum.denominator
    splitting = Splitting(rooted(problem, root, optimum), root, problem.targets, demand, deadline)
    forwarding = {node for arc in splitting.capacity for node in arc} - {root, *problem.targets}
    for node in sorted(forwarding, key=lambda each: (splitting.degree(each), each)):
        splitting.remove(node)
    inner = {arc: size for arc, size in splitting.capacity.items() if arc[0] != root}
    supply = {b: size for (a, b), size in splitting.capacity.items() if a == root}
    chunks, batches = optimum.denominator, 1
    if not splitting.complete:
        # Of what is left between the targets, the best is used.
        if not problem.weights.keys() <= problem.targets:
            return _shortest_trees(problem)
        try:
            targets = problem.targets
            slower, _, missing = densest_cut(Broadcasts(inner, problem.weights, targets), deadline)
        except ValueError:
            return _shortest_trees(problem)
        if missing:
            raise TimeoutError
        chunks, batches = slower.denominator, slower.numerator
        inner = {arc: size * batches for arc, size in inner.items()}
        supply = {source: count * chunks for source, count in problem.weights.items()}
    parts = {
        arc: deque((size * batches, path) for size, path in splitting.parts[arc]) for arc in inner
    }
    for node, size in supply.items():
        whole = splitting.complete
        parts[root, node] = splitting.parts[root, node] if whole else deque([(size, (root, node))])
    packed = pack_trees(inner, supply, problem.targets, deadline)
    return with_paths(packed, parts, root), chunks, optimum.numerator * batches


def _shortest_trees(problem: Broadcasts) -> tuple[list[PathTree], int, int]:
    """Return a tree of shortest paths for every source, where no better ones are found."""
    trees = []
    load = dict.fromkeys(problem.channels, Fraction(0))
    beside = _beside(problem.channels)
    for source, count in problem.weights.items():
        parents = _shortest_tree(beside, source, load)
        paths = []
        for node in parents:
            if node in problem.targets:
                path = [node, parents[node]]
                while path[-1] != source and path[-1] not in problem.targets:
                    path.append(parents[path[-1]])
                paths.append(tuple(path[::-1]))
        for hop in chain.from_iterable(map(pairwise, paths)):
            load[hop] += Fraction(count, problem.channels[hop])
        trees.append(PathTree(source, count, tuple(paths)))
    rate = max(load.values())
    chunks = rate.denominator
    return [tree._replace(weight=tree.weight * chunks) for tree in trees], chunks, rate.numerator


def _shortest_flow(network: Network, demand: Mapping[Arc, int]) -> PathFlow:
    """Return a shortest path for every message, and a price of 1 for all channels."""
    channels = network.channels
    load = dict.fromkeys(channels, Fraction(0))
    paths: dict[tuple[int, ...], Fraction] = {}
    for source, targets in groupby(sorted(demand.items()), lambda each: each[0][0]):
        closed = network.endpoints - {source}
        beside = _beside(arc for arc in channels if arc[0] not in closed)
        parents = _shortest_tree(beside, source, load)
        for (_, goal), count in targets:
            path = [goal]
            while path[-1] != source:
                path.append(parents[path[-1]])
            for hop in pairwise(path[::-1]):
                load[hop] += Fraction(count, channels[hop])
            paths[tuple(path[::-1])] = Fraction(count)
    return PathFlow(paths, [dict.fromkeys(channels, 1)])


def _beside(arcs: Iterable[Arc]) -> dict[int, list[int]]:
    beside: dict[int, list[int]] = {}
    for a, b in arcs:
        beside.setdefault(a, []).append(b)
    return beside


def _shortest_tree(
    beside: Mapping[int, list[int]], source: int, load: Mapping[Arc, Fraction]
) -> dict[int, int]:
    """Return the parent of every node, those near the source first, over arcs of little load."""
    parents = {source: source}
    layer = [source]
    while layer:
        choices: dict[int, int] = {}
        for a in layer:
            for b in beside.get(a, ()):
                if b not in parents and (b not in choices or load[a, b] < load[choices[b], b]):
                    choices[b] = a
        parents |= choices
        layer = [*choices]
    del parents[source]
    return parents
