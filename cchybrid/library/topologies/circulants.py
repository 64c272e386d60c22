"""Circulant graphs: general ones, Harary graphs, Midimew networks and K-rings of two rings."""

import math
from collections.abc import Iterable, Sequence

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_min_nodes, check_size, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError

MAX_K_RING = 4096


def circulant(nodes: int, strides: Sequence[int]) -> Network:
    """Return the circulant graph: node i is linked to i + s and i - s for every stride s.

    Source: Boesch and Tindell, "Circulants and their connectivities", J. of Graph Theory 8
    (1984). Degree twice the number of strides (one less if one of them is ``nodes / 2``); the
    diameter depends on the strides. Every circulant is vertex-transitive.

    Parameters
    ----------
    nodes
        At least 3.
    strides
        Distinct numbers from 1 to ``nodes // 2``, in any order.

    Raises
    ------
    InputError
        A stride that is out of this range or is listed twice, strides that leave the network
        unconnected, too few nodes, or too many nodes or channels.
    """
    if nodes < 3:
        raise InputError("a circulant has at least 3 nodes", hint="use circulant-3-1")
    check_size(nodes, 2 * nodes * len(strides))
    for stride in strides:
        if not 1 <= stride <= nodes // 2:
            raise InputError(
                f"stride {stride} is not between 1 and {nodes // 2}",
                # A stride and its complement give the same links.
                hint=f"use {min(stride % nodes, -stride % nodes) or 1} in its place",
            )
    parts = math.gcd(nodes, *strides)
    corrected = dict.fromkeys(strides if parts == 1 else (1, *strides))
    hint = f"use circulant-{nodes}-{'x'.join(map(str, corrected))}"
    if len(set(strides)) < len(strides):
        raise InputError("a stride is listed twice", hint=hint)
    if parts > 1:
        raise InputError(
            f"all strides and the number of nodes are multiples of {parts}, so the network has "
            f"{parts} components",
            hint=hint,
        )
    return _network(f"circulant-{nodes}-{'x'.join(map(str, strides))}", nodes, strides)


def harary(nodes: int, degree: int) -> Network:
    """Return the Harary graph H(K, N): no K-connected graph of N nodes has fewer links.

    Every node is linked to the K // 2 nearest ones on either side; if K is odd, node i is linked to
    node i + N // 2, too, for i up to (N - 1) // 2. So all nodes have degree K, except that for odd
    K and N node (N - 1) / 2 has one link more. Source: Harary, "The maximum connectivity of a
    graph", Proceedings of the National Academy of Sciences 48 (1962), doi:10.1073/pnas.48.7.1142.

    Parameters
    ----------
    nodes
        N, more than ``degree``.
    degree
        K, at least 2.

    Raises
    ------
    InputError
        A degree out of this range, or too many nodes or channels.
    """
    if degree < 2:
        raise InputError(
            f"degree {degree} is too low for a Harary graph here",
            hint=f"use harary-{max(3, nodes)}-2",
        )
    if degree >= nodes:
        raise InputError(
            f"degree {degree} is too high for {nodes} nodes",
            hint=f"use harary-{degree + 1}-{degree}",
        )
    check_size(nodes, nodes * degree)
    across = [(node, node + nodes // 2) for node in range((nodes + 1) // 2 * (degree % 2))]
    return _network(f"harary-{nodes}-{degree}", nodes, range(1, degree // 2 + 1), across)


def midimew(nodes: int) -> Network:
    """Return the Midimew network, the minimal-distance mesh with wrap-around links.

    It is the circulant graph of the strides b - 1 and b, where b is the square root of
    ``nodes / 2``, rounded up. Source: Beivide, Herrada, Balcázar and Arruabarrena, "Optimal
    distance networks of low degree for parallel computers", IEEE Trans. Computers 40 (1991).
    Degree 4; no circulant graph of degree 4 has a smaller diameter (b, or b - 1 for at most
    2b(b - 1) + 1 nodes) or mean distance.

    Raises
    ------
    InputError
        Fewer than 5 nodes, or too many.
    """
    check_min_nodes(nodes, 5, "midimew")
    check_size(nodes)
    # the square root of half the nodes, rounded up
    base = math.isqrt((nodes + 1) // 2 - 1) + 1
    return _network(f"midimew-{nodes}", nodes, (base - 1, base))


def k_ring(nodes: int) -> Network:
    """Return the K-ring of two rings: 0, 1, 2, ... and 0, s, 2s, ..., each through all nodes.

    Source: Kuonen, "The K-Ring: a versatile model for the design of MIMD computer topology",
    High-Performance Computing Conference (1999). He leaves it open in which order the second
    ring runs; here its stride s, which has no factor in common with ``nodes``, is the one that
    minimizes the diameter, then the mean distance, then s. Degree 4;
    ``k-ring-8`` has the strides 1 and 3. Other strides: ``circulant-N-1xS``.

    Raises
    ------
    InputError
        Fewer than 5 nodes, 6 nodes (there is no second ring), or more than 4096, for which the
        search for the stride takes too long.
    """
    check_min_nodes(nodes, 5, "k-ring")
    if nodes == 6:
        raise InputError("6 nodes have no second ring", hint="use k-ring-5 or k-ring-7")
    if nodes > MAX_K_RING:
        root = math.isqrt(nodes)
        raise InputError(
            f"{nodes} nodes are too many to look for the best second ring",
            hint=f"use at most {MAX_K_RING}, or give its stride: circulant-{nodes}-1x{root}",
        )
    best = (nodes, 0, 0)
    for stride in range(2, nodes // 2 + 1):
        if math.gcd(stride, nodes) == 1:
            best = min(best, (*_distances(nodes, stride, best[0]), stride))
    return _network(f"k-ring-{nodes}", nodes, (1, best[2]))


def _distances(nodes: int, stride: int, limit: int) -> tuple[int, int]:
    """Return the diameter of the circulant graph of 1 and ``stride``, and the sum of distances.

    The search ends at the limit: larger diameters are returned as limit + 1.
    """
    everywhere = (1 << nodes) - 1
    reached, radius, total = 1, 0, 0
    while reached != everywhere and radius <= limit:
        radius += 1
        total += nodes - reached.bit_count()
        # Bit i of a number is node i; rotating the bits follows the links.
        around = reached
        for shift in (1, stride, nodes - 1, nodes - stride):
            around |= reached << shift | reached >> (nodes - shift)
        reached = around & everywhere
    return radius, total


def _network(
    name: str, nodes: int, strides: Sequence[int], others: Iterable[tuple[int, int]] = ()
) -> Network:
    # A stride of half the nodes gives the opposite node, which gives the same link.
    links = {*others} | {
        (min(node, other), max(node, other))
        for stride in strides
        for node in range(nodes)
        for other in [(node + stride) % nodes]
    }
    return Network.from_links(name, nodes, links, positions=layouts.circle(nodes))


FAMILIES = (
    numbered("circulant-N-A[xB...]", circulant,
        "circulant graph: node i is linked to i + A, i - A, i + B, i - B, ...", "circulant-16-1x4"),
    numbered("harary-N-K", harary,
        "Harary graph: K-connected graph of N nodes with the fewest links", "harary-17-3"),
    numbered("midimew-N", midimew,
        "Midimew network: the circulant graph of degree 4 with minimal distances", "midimew-8"),
    numbered("k-ring-N", k_ring, "K-ring of two rings through all N nodes, of degree 4",
        "k-ring-8"),
)  # fmt: skip
