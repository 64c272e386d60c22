"""The paths that an instance allows: their list, the test of one, and the cheapest ones.

In wormhole switching a path is simple and passes no endpoint; it may exceed the shortest such path
by ``extra_hops`` hops, or by any number if that is ``None``; with a routing table there is one path
at most for two nodes. In store-and-forward switching a path is a channel.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from heapq import heappop, heappush
from itertools import pairwise

from cchybrid.checker.instance import Network, TooLargeError

MAX_MOVES = 3_000_000
"""Moves of the search for paths, which with any routing also enters dead ends; a path found counts
as ten, since a formula over many paths would be too large."""

Path = tuple[int, ...]
Prices = Mapping[tuple[int, int], int]


def allowed_paths(network: Network) -> dict[tuple[int, int], list[Path]]:
    """Return, per sender and receiver that a message may have, the allowed paths in order.

    Raises
    ------
    TooLargeError
        Finding them takes more than ``MAX_MOVES``.
    """
    if network.hop_by_hop:
        return {hop: [hop] for hop in network.channels}
    pairs = set()
    for source, goals in network.messages:
        pairs |= {(a, b) for a in (source, *goals) for b in goals if a != b}
    left = [MAX_MOVES]
    return {(a, b): list(_paths(network, a, b, left)) for a, b in sorted(pairs)}


def _paths(network: Network, source: int, goal: int, left: list[int]) -> Iterator[Path]:
    """Yield the paths from source to goal, in the order of their nodes."""
    if network.table:
        yield from filter(None, [table_path(network, source, goal)])
        return
    hops_left = network.hops(goal, back=True)
    if source not in hops_left:
        return
    longest = network.nodes - 1
    if network.extra_hops is not None:
        longest = hops_left[source] + network.extra_hops
    waiting: list[Path] = [(source,)]
    while waiting:
        path = waiting.pop()
        left[0] -= 10 if path[-1] == goal else 1
        if left[0] < 0:
            raise TooLargeError("more paths than a propositional proof can name")
        if path[-1] == goal:
            yield path
            continue
        for node in sorted(network.successors[path[-1]], reverse=True):
            free = node not in path and (node == goal or node not in network.endpoints)
            if free and node in hops_left and len(path) + hops_left[node] <= longest:
                waiting.append((*path, node))


def is_allowed(network: Network, path: Path, hops: Callable[[int], Mapping[int, int]]) -> bool:
    """Return whether the instance allows a path.

    Parameters
    ----------
    hops
        The function ``network.hops``, which may remember its results.
    """
    if not is_simple(network, path) or (network.hop_by_hop and len(path) > 2):
        return False
    if network.table:
        return path == table_path(network, path[0], path[-1])
    extra = network.extra_hops
    return extra is None or len(path) - 1 <= hops(path[0])[path[-1]] + extra


def table_path(network: Network, source: int, goal: int) -> Path:
    """Return the path that the routing table gives; nothing if it is none of the network."""
    start, end = (goal, source) if network.by_source else (source, goal)
    path = [start]
    while path[-1] != end and len(path) < network.nodes:
        path.append(network.table[path[-1]][end])
    found = tuple(path[::-1] if network.by_source else path)
    return found if path[-1] == end and is_simple(network, found) else ()


def is_simple(network: Network, path: Path) -> bool:
    """Return whether a path takes channels, visits no node twice, and passes no endpoint."""
    hops = list(pairwise(path))
    simple = len(set(path)) == len(path) and network.endpoints.isdisjoint(path[1:-1])
    return bool(hops) and simple and all(hop in network.channels for hop in hops)


def cheapest_walks(
    network: Network, intervals: Iterable[tuple[int, int | None, Prices]], source: int
) -> dict[int, int]:
    """Return the price of the cheapest walk, a hop per step, to every node that is in reach.

    Where routes are limited in hops, it is no more expensive than the cheapest allowed path: prices
    are nonnegative, so a walk can be shortened to a path that costs no more and has no more hops.

    Parameters
    ----------
    intervals
        The first step, the last one (``None`` for no end), and the prices of channels in these.
    """
    extra, distance = network.extra_hops, network.hops(source)
    cost = {source: 0}
    for first, last, price in intervals:
        changed, step = [*cost], first
        while changed and (last is None or step <= last):
            better: dict[int, int] = {}
            for a in changed:
                if a == source or a not in network.endpoints:
                    for b in network.successors[a]:
                        reached = cost[a] + price[a, b]
                        known = better.get(b, cost.get(b))
                        cheaper = known is None or reached < known
                        if cheaper and (extra is None or step <= distance[b] + extra):
                            better[b] = reached
            cost.update(better)
            changed, step = [*better], step + 1
    return cost


def cheapest_walks_in_ticks(
    network: Network,
    stops: Set[int],
    intervals: Sequence[tuple[int, int | None, Prices]],
    source: int,
    count: Callable[[int], None],
) -> dict[int, int]:
    """Return the price of the cheapest walk to every node that is reached within the ticks.

    A hop begins when the message has arrived, in wormhole switching when its head has; the price is
    that of the tick in which it begins. It ends within the last tick of the intervals. The
    transfers of a schedule to a node are such a walk.

    Parameters
    ----------
    stops
        Nodes that no path passes, so that a message has arrived before it is sent on.
    intervals
        The first tick, the last one, and the prices of channels in these.
    count
        A function that is called with numbers of operations.
    """
    end = (intervals[-1][1] or 0) + 1
    cost: dict[int, int] = {}
    waiting = [(1, 0, source)]
    while waiting:
        tick, paid, a = heappop(waiting)
        if a in cost and cost[a] <= paid:
            continue  # it has been here before, and paid no more
        cost[a] = paid
        if a != source and a in network.endpoints:
            continue
        count(len(network.successors[a]) * len(intervals))
        for b in network.successors[a]:
            latency, length = network.time((a, b))
            for first, last, price in intervals:
                start = max(tick, first)
                if start <= (last or 0) and start + latency + length <= end:
                    there = start + latency + length * (network.hop_by_hop or b in stops)
                    heappush(waiting, (there, paid + price[a, b], b))
    return cost
