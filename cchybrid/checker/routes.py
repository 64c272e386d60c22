"""Enumeration of the paths that an instance allows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cchybrid.checker.instance import Network, TooLargeError

MAX_PATHS = 300_000
"""Paths that are listed at most; a formula over more would be too large."""

MAX_MOVES = 3_000_000
"""Moves of the search for them, which with any routing also enters dead ends."""

Path = tuple[int, ...]


def allowed_paths(network: Network) -> dict[tuple[int, int], list[Path]]:
    """Return, per sender and receiver that a message may have, the allowed paths in order.

    In store-and-forward switching these are the channels. If the network has a list of paths, only
    those are returned.

    Raises
    ------
    EvidenceError
        If there are more than ``MOST_PATHS``, or finding them takes more than ``MOST_MOVES``.
    """
    found: dict[tuple[int, int], list[Path]] = {}
    if network.listed is not None:
        for path in network.listed:
            found.setdefault((path[0], path[-1]), []).append(path)
        return found
    if network.hop_by_hop:
        return {hop: [hop] for hop in network.channels}
    pairs = set()
    for source, destinations in network.messages:
        goals = set(destinations)
        pairs |= {(source, goal) for goal in goals}
        pairs |= {(a, b) for a in goals for b in goals if a != b}
    limits = _Limits()
    for source, goal in sorted(pairs):
        found[source, goal] = list(_paths(network, source, goal, limits))
    return found


class _Limits:
    """The remaining paths and moves."""

    def __init__(self) -> None:
        self._paths, self._moves = MAX_PATHS, MAX_MOVES

    def take(self, paths: int, moves: int) -> None:
        self._paths -= paths
        self._moves -= moves
        if self._paths < 0 or self._moves < 0:
            raise TooLargeError("more paths than a propositional proof can name")


def _paths(network: Network, source: int, goal: int, limits: _Limits) -> Iterator[Path]:
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
        node = next(choices[-1], None)
        if node is None:
            choices.pop()
            path.pop()
        elif node == goal:
            limits.take(1, 0)
            yield (*path, goal)
        elif (
            node in hops_left
            and len(path) + hops_left[node] <= longest
            and node not in path
            and node not in network.endpoints
        ):
            limits.take(0, 1)
            path.append(node)
            choices.append(iter(sorted(network.successors[node])))


def is_allowed(network: Network, path: Path) -> bool:
    """Return whether the instance allows a path."""
    hops = list(pairwise(path))
    if not hops or len(set(path)) < len(path) or any(hop not in network.channels for hop in hops):
        return False
    if network.hop_by_hop:
        return len(hops) == 1
    if not network.endpoints.isdisjoint(path[1:-1]):
        return False
    return (
        network.extra_hops is None
        or len(hops) <= network.hops(path[0])[path[-1]] + network.extra_hops
    )
