"""Translations: regular groups of automorphisms, which map any node to any other exactly once.

A network with such a group is a Cayley graph. A construction for one node is translated to all
nodes, and a channel of one node represents an orbit of channels.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network, Transfer

from .context import Context, DoesNotApplyError, Draft, Path
from .factorisations import factorisations
from .hamming import hypercube_labels

Table = NDArray[np.int64]
Pair = tuple[int, int]
"""A message: its source and its destination."""
Waves = list[dict[Pair, Path]]
"""Per step, the paths of messages."""

MAX_NODES = 1024
"""Nodes of the network; the table of the group has an entry per pair of nodes."""


class Translations:
    """A regular group of automorphisms.

    Parameters
    ----------
    table
        Shape (nodes, nodes): ``table[g, v]`` is the image of v under the translation that maps 0
        to g. As ``table[g, 0] == g``, nodes are the elements of the group, and this its product.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.rows: list[list[int]] = table.tolist()

    @cached_property
    def inverse(self) -> list[int]:
        """Shape (nodes,): the inverse of each element."""
        found: list[int] = np.argmax(self.table == 0, axis=1).tolist()
        return found

    def step(self, a: int, b: int) -> int:
        """Return the element s with b = a s; channels (a, b) with the same s form an orbit."""
        return self.rows[self.inverse[a]][b]

    def orbit_pairs(self, subgroup: list[int]) -> list[Pair]:
        """Return all pairs of nodes whose first node is the smallest of its orbit."""
        nodes = np.arange(len(self.table))
        first = np.flatnonzero(self.table[subgroup].min(axis=0) == nodes).tolist()
        return [(a, b) for a in first for b in nodes.tolist() if a != b]

    def draft(self, subgroup: list[int], waves: Waves, message: Mapping[Pair, int]) -> Draft:
        """Return the images of transfers under all translations of a subgroup."""
        images = [self.rows[element] for element in subgroup]
        return [
            [
                Transfer(message[image[a], image[b]], carried(image, path))
                for image in images
                for (a, b), path in wave.items()
            ]
            for wave in waves
        ]

    def closure(self, elements: list[int]) -> list[int]:
        """Return the subgroup that these elements generate."""
        found = {0}
        fresh = [0]
        for element in fresh:
            for generator in elements:
                product = self.rows[element][generator]
                if product not in found:
                    found.add(product)
                    fresh.append(product)
        return sorted(found)


def translations(context: Context) -> Translations:
    """Return a group of translations of the network.

    Candidates are the hypercube (in any numbering), sums in mixed radix (rings, circulants, tori
    and hypercubes in their usual numbering) and dihedral groups (alternating chords, such as the
    Heawood graph).

    Raises
    ------
    DoesNotApplyError
        If none is found.
    """
    network = context.network
    if network.endpoints or network.half_duplex:
        raise DoesNotApplyError("terminals or half-duplex links")
    if network.nodes > MAX_NODES:
        raise DoesNotApplyError(f"more than {MAX_NODES} nodes")
    if len({len(after) for after in network.successors}) > 1:
        raise DoesNotApplyError("nodes of different degrees")
    size = np.zeros((network.nodes, network.nodes), dtype=np.int64)
    for a, b, capacity in network.channels:
        size[a, b] = capacity
    for table in _tables(network):
        context.check()
        if _keeps(table, size):
            return Translations(table)
    raise DoesNotApplyError("no group of translations found")


def carried(image: list[int], path: Path) -> Path:
    """Return the image of a path under a translation."""
    return tuple(image[node] for node in path)


def representatives(context: Context, group: Translations, subgroup: list[int]) -> list[int]:
    """Return, shape (resources,), the representative of each resource's orbit."""
    representative = list(range(len(context.capacity)))
    for node in range(context.nodes):
        carrier = min(subgroup, key=lambda element: group.rows[element][node])
        image = group.rows[carrier]
        representative[context.inject[node]] = context.inject[image[node]]
        representative[context.accept[node]] = context.accept[image[node]]
        for other in context.network.successors[node]:
            representative[context.channel[node, other]] = context.channel[
                image[node], image[other]
            ]
    return representative


def _keeps(table: Table, size: Table) -> bool:
    """Return whether all translations are automorphisms.

    Only those to the neighbours of 0 are checked; they generate all others in a connected network.
    """
    images = table[np.flatnonzero(size[0])]
    return all((size[np.ix_(image, image)] == size).all() for image in images)


def _tables(network: Network) -> Iterator[Table]:
    node = np.arange(network.nodes)
    label = hypercube_labels(network)
    if label is not None:
        # The node of each label; translations are XORs of labels.
        place = np.argsort(label)
        yield place[label[:, None] ^ label[None, :]]
    for sides in factorisations(network.nodes):
        yield _mixed_radix(network.nodes, sides)
    if network.nodes % 2 == 0:
        # i -> i + g for even g, i -> g - i for odd g.
        signed = np.where(node[:, None] % 2 == 0, node[None, :], -node[None, :])
        yield (node[:, None] + signed) % network.nodes


def _mixed_radix(nodes: int, sides: tuple[int, ...]) -> Table:
    digits = np.array(np.unravel_index(np.arange(nodes), sides))
    total = (digits[:, :, None] + digits[:, None, :]) % np.array(sides)[:, None, None]
    return np.asarray(np.ravel_multi_index(tuple(total), sides))
