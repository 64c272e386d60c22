"""Meshes, and networks that contain one: tori, hypercubes, rings."""

import math
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network

from .context import DoesNotApplyError, Path
from .factorisations import factorisations
from .hamming import hypercube_labels

Places = NDArray[np.int64]


class Grid:
    """Nodes in rows of every dimension, each linked to the next one in the row.

    Parameters
    ----------
    network
        The network.
    sides
        The number of nodes along each dimension.
    node
        Shape (nodes,): the node at each place, places in lexicographic order.

    Attributes
    ----------
    nodes
        The node at each place, places in lexicographic order.
    closed
        Per dimension, whether the last node of every row is linked to the first one.
    """

    def __init__(self, network: Network, sides: tuple[int, ...], node: list[int]) -> None:
        self.sides = sides
        self.nodes = node
        self.place = dict(zip(node, product(*map(range, sides)), strict=True))
        self._channels = network.channel_index
        grid = np.array(node).reshape(sides)
        self._slices = [np.moveaxis(grid, axis, 0) for axis in range(len(sides))]
        self.closed = [len(s) > 2 and self._linked(s[-1], s[0]) for s in self._slices]

    def linked(self) -> bool:
        """Return whether all neighbours in rows are linked in both directions."""
        return all(self._linked(a, b) for slices in self._slices for a, b in pairwise(slices))

    def moved(self, node: int, axis: int, to: int) -> int:
        """Return the node at another place of the same row."""
        place = list(self.place[node])
        place[axis] = to
        return self.at(*place)

    def at(self, *place: int) -> int:
        """Return the node at a place; coordinates are taken modulo the sides."""
        index = 0
        for x, side in zip(place, self.sides, strict=True):
            index = index * side + x % side
        return self.nodes[index]

    def along(self, node: int, axis: int, first: int, last: int) -> Path:
        """Return the shorter path between two places of a node's row, which may be a ring."""
        side = self.sides[axis]
        ahead = (last - first) % side if self.closed[axis] else abs(last - first)
        step = 1 if last > first else -1
        if self.closed[axis]:
            step = 1 if 2 * ahead < side or (2 * ahead == side and last > first) else -1
            ahead = min(ahead, side - ahead)
        return tuple(
            self.moved(node, axis, (first + step * hop) % side) for hop in range(ahead + 1)
        )

    def _linked(self, before: Places, after: Places) -> bool:
        """Return whether all nodes are linked in both directions to their successors."""
        pairs = zip(before.ravel().tolist(), after.ravel().tolist(), strict=True)
        return all((a, b) in self._channels and (b, a) in self._channels for a, b in pairs)


def grid_of(network: Network) -> Grid:
    """Return the grid with the fewest steps for recursive doubling that a network contains.

    Raises
    ------
    DoesNotApplyError
        If none is found. Hypercubes are recognised in any numbering, all others only if nodes are
        numbered row by row.
    """
    label = hypercube_labels(network)
    if label is not None:
        return Grid(network, (2,) * (len(label).bit_length() - 1), np.argsort(label).tolist())
    if network.nodes > 1 and not network.endpoints:
        for sides in sorted(factorisations(network.nodes), key=_steps):
            grid = Grid(network, sides, list(range(network.nodes)))
            if grid.linked():
                return grid
    raise DoesNotApplyError("no mesh, torus or hypercube")


def _steps(sides: tuple[int, ...]) -> int:
    return sum(math.ceil(math.log2(side)) for side in sides)
