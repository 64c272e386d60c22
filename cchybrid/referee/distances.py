"""Hop distances between nodes, along channels and never through an endpoint."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network

# Cells (source, node) or (source, channel) of a block of sources, which is searched at a time;
# the working arrays then need a few dozen megabytes.
_BLOCK_CELLS = 1 << 21


def hop_distances(network: Network, sources: Sequence[int]) -> NDArray[np.int32]:
    """Return the hops of the shortest path from each source to every node.

    A path may begin or end at an endpoint of the network, but never pass through one.

    Parameters
    ----------
    network
        The network; capacities do not matter.
    sources
        Start nodes, in any order, repetitions allowed.

    Returns
    -------
    NDArray[np.int32]
        Shape ``(len(sources), network.nodes)``, in hops; 0 at the source itself, -1 where no
        path leads.

    Raises
    ------
    IndexError
        A source is not a node of the network.
    """
    for source in sources:
        if not 0 <= source < network.nodes:
            raise IndexError(f"no node {source} in {network.name}")
    hops = np.empty((len(sources), network.nodes), dtype=np.int32)
    for rows, block in distance_blocks(network, sources):
        hops[rows] = block
    return hops


def distance_blocks(
    network: Network, sources: Sequence[int], radius: Sequence[int] | None = None
) -> Iterator[tuple[slice, NDArray[np.int32]]]:
    """Yield the distances of ``hop_distances`` a block of sources at a time, in order.

    Parameters
    ----------
    network, sources
        As for ``hop_distances``, but the sources are not checked.
    radius
        Per source the hops to search; nodes further away count as unreachable. ``None`` searches
        everything.

    Yields
    ------
    tuple[slice, NDArray[np.int32]]
        The slice of the sources, and their distances, shape ``(sources in the block, nodes)``.
    """
    nodes = network.nodes
    offsets, targets = _outgoing(network)
    passable = np.ones(nodes, dtype=bool)
    passable[list(network.endpoints)] = False
    start = np.asarray(sources, dtype=np.int64)
    reach = None if radius is None else np.asarray(radius, dtype=np.int64)
    block = max(1, _BLOCK_CELLS // max(nodes, len(targets)))
    for low in range(0, len(start), block):
        rows = slice(low, min(low + block, len(start)))
        near = None if reach is None else reach[rows]
        yield rows, _search(offsets, targets, passable, start[rows], near)


def _outgoing(network: Network) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the channels in compressed rows: targets of node v at ``offsets[v:v + 2]``."""
    count = len(network.channels)
    ends = np.fromiter(
        chain.from_iterable((channel[0], channel[1]) for channel in network.channels),
        dtype=np.int64,
        count=2 * count,
    ).reshape(count, 2)
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    offsets = np.zeros(network.nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends[:, 0], minlength=network.nodes), out=offsets[1:])
    return offsets, np.ascontiguousarray(ends[:, 1])


def _search(
    offsets: NDArray[np.int64],
    targets: NDArray[np.int64],
    passable: NDArray[np.bool_],
    start: NDArray[np.int64],
    reach: NDArray[np.int64] | None,
) -> NDArray[np.int32]:
    """Return the distances from every node of ``start``: one level of all searches per round."""
    nodes = len(passable)
    cells = np.full(len(start) * nodes, -1, dtype=np.int32)
    writer = np.empty(len(cells), dtype=np.int32)
    degree = np.diff(offsets)
    row, node = np.arange(len(start)), start
    cells[row * nodes + node] = 0
    if reach is not None:
        row, node = row[reach > 0], node[reach > 0]
    level = 0
    while len(node):
        level += 1
        fan = degree[node]
        ends = np.cumsum(fan)
        # Indices in ``targets`` of the outgoing channels of the frontier.
        channel = np.arange(ends[-1]) + np.repeat(offsets[node] - ends + fan, fan)
        node, row = targets[channel], np.repeat(row, fan)
        cell = row * nodes + node
        fresh = np.flatnonzero(cells[cell] < 0)
        cell = cell[fresh]
        cells[cell] = level
        # Several channels may reach a cell in the same round; the last one is kept.
        order = np.arange(len(cell), dtype=np.int32)
        writer[cell] = order
        fresh = fresh[writer[cell] == order]
        node, row = node[fresh], row[fresh]
        # An endpoint is reached, but the search ends there (a source is expanded before this).
        onward = passable[node] if reach is None else passable[node] & (reach[row] > level)
        node, row = node[onward], row[onward]
    return cells.reshape(len(start), nodes)
