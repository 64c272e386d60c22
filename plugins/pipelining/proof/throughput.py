"""Throughput optima: the fewest rounds per chunk of endless schedules, with trees and evidence.

Messages that all go to the same nodes are broadcast over a packing of spanning trees, and a cut
bounds them; messages with one destination each are a concurrent flow, bounded by prices. The cut
that demands most is found by Newton's method for fractions (Dinkelbach, Management Science 13,
1967, doi:10.1287/mnsc.13.7.492): minimum cuts in integers, from one quotient to the next.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Collection
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from cchybrid.checker import Network
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.throughput import FORMAT
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.proof.linear_evidence import linear
from cchybrid.proof.reach import explain, unreachable

from .concurrent_flow import concurrent_flow, largest_load
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


def throughput_record(instance: Instance) -> dict[str, Any]:
    """Return the throughput optimum of an instance as a ``cchybrid-throughput/1`` object.

    Where the trees that were found take more rounds per chunk than the bound, ``rounds_per_chunk``
    and ``bound`` differ.

    Raises
    ------
    InputError
        Throughput is not defined for the instance, or a destination cannot be reached.
    """
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
        trees, chunks, rounds, candidates = _scatters(network)
    else:
        trees, chunks, rounds, candidates = _broadcasts(instance, network)
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
        (limits != {None}, "limited ports are", "leave them out"),
    ):
        if present:
            raise InputError(f"{feature} not part of throughput", where=instance.name, hint=hint)


Found = tuple[list[PathTree], int, int, list[dict[str, Any]]]
"""Trees, their chunks and rounds, and evidence for a bound."""


def _scatters(network: Network) -> Found:
    demand = Counter((source, goals[0]) for source, goals in network.messages)
    flow = concurrent_flow(network.channels, network.endpoints, demand)
    attained = largest_load(flow.paths, network.channels)
    chunks = math.lcm(attained.denominator, *(amount.denominator for amount in flow.paths.values()))
    trees = [
        PathTree(path[0], int(amount * chunks), (path,)) for path, amount in flow.paths.items()
    ]
    candidates = [
        linear(None, channels=[[a, b, price] for (a, b), price in prices.items()])
        for prices in flow.prices
    ]
    return trees, chunks, int(attained * chunks), candidates


def _broadcasts(instance: Instance, network: Network) -> Found:
    problem = _read_broadcasts(instance, network)
    optimum, inside = densest_cut(problem)
    trees, chunks, rounds = _trees(problem, optimum)
    # A message pays for one entry; channels that cannot carry it into the set are free.
    into = [[a, b, 1] for a, b in problem.channels if a not in inside and b in inside]
    return trees, chunks, rounds, [linear(None, channels=into)]


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


def densest_cut(problem: Broadcasts) -> tuple[Fraction, frozenset[int]]:
    """Return the largest quotient of messages and capacity into a set of nodes, and the set.

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
    for target in sorted(problem.targets):
        inside = frozenset({target})
        while True:
            quotient = _quotient(problem, inside)
            if quotient > best:
                best, best_set = quotient, inside
            found = FlowNetwork(rooted(problem, root, best)).flow(root, target)
            if found.value >= total * best.denominator:
                break
            inside = found.sink_side
    return best, best_set


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


def _trees(problem: Broadcasts, optimum: Fraction) -> tuple[list[PathTree], int, int]:
    """Return trees, and the chunks and rounds that they need."""
    root = _new_node(problem)
    demand = sum(problem.weights.values()) * optimum.denominator
    splitting = Splitting(rooted(problem, root, optimum), root, problem.targets, demand)
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
            slower, _ = densest_cut(Broadcasts(inner, problem.weights, problem.targets))
        except ValueError:
            return _shortest_trees(problem)
        chunks, batches = slower.denominator, slower.numerator
        inner = {arc: size * batches for arc, size in inner.items()}
        supply = {source: count * chunks for source, count in problem.weights.items()}
    parts = {
        arc: deque((size * batches, path) for size, path in splitting.parts[arc]) for arc in inner
    }
    for node, size in supply.items():
        whole = splitting.complete
        parts[root, node] = splitting.parts[root, node] if whole else deque([(size, (root, node))])
    packed = pack_trees(inner, supply, problem.targets)
    return with_paths(packed, parts, root), chunks, optimum.numerator * batches


def _shortest_trees(problem: Broadcasts) -> tuple[list[PathTree], int, int]:
    """Return a tree of shortest paths for every source, where no better ones are found."""
    trees = []
    load: Counter[Arc] = Counter()
    for source, count in problem.weights.items():
        paths = []
        reached: dict[int, tuple[int, ...]] = {source: (source,)}
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for a, b in problem.channels:
                if a != node or b in reached:
                    continue
                path = (*reached[a], b)
                if b in problem.targets:
                    paths.append(path)
                    for hop in pairwise(path):
                        load[hop] += count
                    path = (b,)
                reached[b] = path
                queue.append(b)
        trees.append(PathTree(source, count, tuple(paths)))
    rate = max(Fraction(size, problem.channels[hop]) for hop, size in load.items())
    chunks = rate.denominator
    return [tree._replace(weight=tree.weight * chunks) for tree in trees], chunks, rate.numerator
