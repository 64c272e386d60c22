"""HyperX networks: grids with every two nodes of a row linked."""

import math
from collections.abc import Iterator, Sequence

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.grids import check_extents
from cchybrid.library.topologies.sizes import check_size, numbered
from cchybrid.model import Network


def hyperx(extents: Sequence[int]) -> Network:
    """Return the HyperX: two nodes are linked if they differ in exactly one coordinate.

    Along every dimension the nodes form a complete graph; nodes are numbered as in ``mesh``.
    Degree the sum of the extents less one each, diameter the number of extents above 1. With
    extents of 2 it is the hypercube, with one extent the complete graph, with two the flattened
    butterfly. Sources: Bhuyan and Agrawal, "Generalized hypercube and hyperbus structures for a
    computer network", IEEE Trans. Computers 33 (1984); Ahn et al., "HyperX: topology, routing,
    and packaging of efficient large-scale networks", SC 2009, whose routers are the nodes here.

    Parameters
    ----------
    extents
        The number of nodes along each dimension, each at least 1.

    Raises
    ------
    InputError
        An extent of 0, a single node, or too many nodes or channels.
    """
    check_extents("hyperx", extents)
    nodes = math.prod(extents)
    check_size(nodes, nodes * sum(extent - 1 for extent in extents))
    return Network.from_links(
        f"hyperx-{'x'.join(map(str, extents))}",
        nodes,
        _links(extents),
        positions=_positions(extents),
    )


def _links(extents: Sequence[int]) -> Iterator[tuple[int, int]]:
    nodes = math.prod(extents)
    stride = nodes
    for extent in extents:
        stride //= extent
        for node in range(nodes):
            for step in range(1, extent - node // stride % extent):
                yield node, node + step * stride


def _positions(extents: Sequence[int]) -> layouts.Positions:
    """Return a circle if there is one dimension, so that links do not overlap; else a grid."""
    if max(extents) == math.prod(extents):
        return layouts.circle(math.prod(extents))
    return layouts.grid(extents)


FAMILIES = (
    numbered("hyperx-AxB[xC...]", hyperx,
        "HyperX (generalised hypercube): a complete graph along every dimension", "hyperx-4x4"),
)  # fmt: skip
