"""AMP networks: small networks of degree 4 with short paths, found by search.

AMP is short for "a minimum path" network; such networks were designed for machines whose
processors have four links. Only the one of eight nodes has been published link by link; the
larger ones are designed here.
"""

import json
from functools import cache
from importlib import resources

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError


@cache
def links_by_size() -> dict[int, list[tuple[int, int]]]:
    """Return the links by number of nodes; with more than 8 nodes those beside the ring."""
    text = (resources.files(__package__) / "amp.json").read_text(encoding="utf-8")
    return {int(nodes): [(a, b) for a, b in links] for nodes, links in json.loads(text).items()}


def amp(nodes: int) -> Network:
    """Return the AMP network of 8, 23, 32, 42 or 53 nodes.

    Source of the idea: Chalmers and Tidmus, "Practical Parallel Processing" (1996), and Burgess
    and Chalmers, "Genetic algorithms for generating minimum path configurations",
    Microprocessors and Microsystems 19 (1995). Degree 4.

    ``amp-8`` (diameter 2) has the links that the routing table of eight processors names in
    Ohlídal and Schwarz, "Design of group communication for regular and irregular networks",
    without the system controller, whose two neighbours, 4 and 7, are linked to each other.

    The authors' networks of more nodes are not published, so **the others are this project's
    own**: a ring 0, 1, 2, ... with two more links at every node, found by simulated annealing
    that minimizes the diameter and then the mean distance. They are not the authors' networks, so
    results on them must not be compared with published ones. Diameters are 3, 3, 4 and 4; mean
    distances 2.091, 2.355, 2.531 and 2.724. With 23 and 32 nodes no network of degree 4 has a
    smaller mean distance: 4 nodes are at distance 1, 12 at distance 2 and the rest at 3.

    Raises
    ------
    InputError
        Another number of nodes.
    """
    known = links_by_size()
    if nodes not in known:
        names = [f"amp-{size}" for size in known]
        raise InputError(
            f"no AMP network of {nodes} nodes is known here",
            hint=f"use {', '.join(names[:-1])} or {names[-1]}",
        )
    ring = [(node, (node + 1) % nodes) for node in range(nodes)] if nodes > 8 else []
    links = [*known[nodes], *ring]
    return Network.from_links(f"amp-{nodes}", nodes, links, positions=layouts.circle(nodes))


FAMILIES = (
    numbered("amp-N", amp,
        "AMP network of N = 8 nodes as published; N = 23, 32, 42, 53 are our own designs, "
        "the authors' being unpublished",
        "amp-8"),
)  # fmt: skip
