"""All networks of a few nodes, by plain enumeration."""

from collections.abc import Iterator
from itertools import combinations

from cchybrid_plugins.design.network.ports import Links


def labelled_networks(nodes: int, degree: int) -> Iterator[Links]:
    """Yield every network without redundant links whose nodes have at most ``degree`` links."""
    pairs = list(combinations(range(nodes), 2))
    for chosen in range(1 << len(pairs)):
        links = tuple(pair for bit, pair in enumerate(pairs) if chosen >> bit & 1)
        ends = [node for link in links for node in link]
        if all(ends.count(node) <= degree for node in range(nodes)):
            yield links
