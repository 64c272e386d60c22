"""AMP networks: small networks of degree 4 with short paths, found by search.

AMP is short for "a minimum path" network; such networks were designed for machines whose
processors have four links. Only the one of eight nodes has been published link by link; the
larger ones are designed here.
"""

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError

_PUBLISHED_8 = "0-1 0-2 0-3 0-4 1-4 1-5 1-6 2-3 2-5 2-6 3-5 3-7 4-6 4-7 5-7 6-7"  # all links
_CHORDS = {  # by number of nodes, the links beside the ring; found by simulated annealing
    23: (
        "0-4 0-15 1-6 1-9 2-14 2-17 3-7 3-20 4-11 5-16 5-19 6-12 7-18 8-16 8-21 9-13 10-15 "
        "10-20 11-18 12-22 13-19 14-21 17-22"
    ),
    32: (
        "0-7 0-25 1-12 1-28 2-15 2-22 3-10 3-20 4-17 4-25 5-23 5-27 6-13 6-29 7-15 8-18 8-21 "
        "9-23 9-28 10-14 11-26 11-31 12-18 13-24 14-30 16-21 16-26 17-29 19-27 19-30 20-24 "
        "22-31"
    ),
    42: (
        "0-12 0-30 1-8 1-25 2-19 2-33 3-15 3-22 4-13 4-27 5-31 5-40 6-17 6-34 7-21 7-41 8-28 "
        "9-14 9-24 10-20 10-31 11-22 11-26 12-39 13-34 14-18 15-37 16-32 16-41 17-26 18-29 "
        "19-39 20-35 21-37 23-29 23-33 24-40 25-36 27-35 28-38 30-36 32-38"
    ),
    53: (
        "0-6 0-12 1-28 1-40 2-9 2-51 3-19 3-33 4-23 4-42 5-15 5-38 6-30 7-35 7-49 8-24 8-45 "
        "9-16 10-31 10-43 11-34 11-48 12-24 13-18 13-37 14-32 14-50 15-27 16-21 17-41 17-47 "
        "18-30 19-26 20-39 20-49 21-45 22-31 22-36 23-29 25-39 25-52 26-43 27-34 28-44 29-47 "
        "32-40 33-46 35-41 36-51 37-44 38-48 42-50 46-52"
    ),
}
SIZES = (8, *_CHORDS)


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
    if nodes not in SIZES:
        names = [f"amp-{size}" for size in SIZES]
        raise InputError(
            f"no AMP network of {nodes} nodes is known here",
            hint=f"use {', '.join(names[:-1])} or {names[-1]}",
        )
    links = _links(_CHORDS.get(nodes, _PUBLISHED_8))
    if nodes in _CHORDS:
        links += [(node, (node + 1) % nodes) for node in range(nodes)]
    return Network.from_links(f"amp-{nodes}", nodes, links, positions=layouts.circle(nodes))


def _links(text: str) -> list[tuple[int, int]]:
    pairs = (link.split("-") for link in text.split())
    return [(int(a), int(b)) for a, b in pairs]


FAMILIES = (
    numbered("amp-N", amp,
        "AMP network of N = 8 nodes as published; N = 23, 32, 42, 53 are our own designs, "
        "the authors' being unpublished",
        "amp-8"),
)  # fmt: skip
