"""The paths that an instance allows: their list, the test of one, and the cheapest ones.

In wormhole switching a path is simple and passes no endpoint; it may exceed the shortest such path
by ``extra_hops`` hops, or by any number if that is ``None``. In store-and-forward switching it is a
channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from cchybrid.checker.instance import Network, TooLargeError

MAX_PATHS = 300_000
"""Paths that are listed at most; a formula over more would be too large."""
MAX_MOVES = 3_000_000
"""Moves of the search for them, which with any routing also enters dead ends."""

Path = tuple[int, ...]
Prices = Mapping[tuple[int, int], int]


def allowed_paths(network: Network) -> dict[tuple[int, int], list[Path]]:
    """Return, per sender and receiver that a message may have, the allowed paths in order.

    Raises
    ------
    TooLargeError
        There are more than ``MAX_PATHS``, or finding them takes more than ``MAX_MOVES``.
    """
    found: dict[tuple[int, int], list[Path]] = {}
    if network.hop_by_hop:
        return {hop: [hop] for hop in network.channels}
    pairs = set()
    for source, goals in network.messages:
        pairs |= {(a, b) for a in (source, *goals) for b in goals if a != b}
    left = [MAX_PATHS, MAX_MOVES]
    for source, goal in sorted(pairs):
        found[source, goal] = list(_paths(network, source, goal, left))
    return found


def _paths(network: Network, source: int, goal: int, left: list[int]) -> Iterator[Path]:
    """Yield the paths from source to goal, in the order of their nodes."""
    hops_left = network.hops_to(goal)
    if source not in hops_left:
        return
    longest = network.nodes - 1
    if network.extra_hops is not None:
        longest = hops_left[source] + network.extra_hops
    path = [source]
    choices = [iter(sorted(network.successors[source]))]
    while choices:
        if min(left) < 0:
            raise TooLargeError("more paths than a propositional proof can name")
        node = next(choices[-1], None)
        if node is None:
            choices.pop()
            path.pop()
        elif node == goal:
            left[0] -= 1
            yield (*path, goal)
        elif (
            node in hops_left
            and len(path) + hops_left[node] <= longest
            and node not in path
            and node not in network.endpoints
        ):
            left[1] -= 1
            path.append(node)
            choices.append(iter(sorted(network.successors[node])))


def is_allowed(network: Network, path: Path) -> bool:
    """Return whether the instance allows a path."""
    if not is_simple(network, path) or (network.hop_by_hop and len(path) > 2):
        return False
    return (
        network.extra_hops is None
        or len(path) - 1 <= network.hops(path[0])[path[-1]] + network.extra_hops
    )


def is_simple(network: Network, path: Path) -> bool:
    """Return whether a path takes channels, visits no node twice, and passes no endpoint."""
    hops = list(pairwise(path))
    return (
        bool(hops)
        and len(set(path)) == len(path)
        and all(hop in network.channels for hop in hops)
        and network.endpoints.isdisjoint(path[1:-1])
    )


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
