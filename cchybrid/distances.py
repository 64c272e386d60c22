"""Hop distances between nodes, along channels and never through an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network

# One block of sources is searched at a time; this many (source, node) cells keep the working
# arrays at a few dozen megabytes, whatever the network.
_CELLS = 1 << 21


def hop_distances(network: Network, sources: Sequence[int]) -> NDArray[np.int32]:
    """Return the hops of the shortest path from each source to every node.

    A path may begin or end at an endpoint of the network, but never pass through one.

    Parameters
    ----------
    network
        The network; capacities do not matter.
    sources
        Nodes to measure from, in any order, repetitions allowed.

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
    nodes = network.nodes
    offsets, targets = _outgoing(network)
    passable = np.ones(nodes, dtype=bool)
    passable[list(network.endpoints)] = False
    hops = np.full((len(sources), nodes), -1, dtype=np.int32)
    begin = np.asarray(sources, dtype=np.int64)
    block = max(1, _CELLS // max(nodes, len(targets)))
    for low in range(0, len(begin), block):
        _search(offsets, targets, passable, begin[low : low + block], hops[low : low + block])
    return hops


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
    begin: NDArray[np.int64],
    hops: NDArray[np.int32],
) -> None:
    """Fill ``hops`` (all -1 on entry), one level of all the sources' searches per round."""
    nodes = hops.shape[1]
    cells = hops.reshape(-1)  # a view: blocks of whole rows are contiguous
    rank = np.empty(len(cells), dtype=np.int32)
    degree = np.diff(offsets)
    base = np.arange(len(begin), dtype=np.int64) * nodes
    node = begin
    cells[base + node] = 0
    level = 0
    while len(node):
        level += 1
        fan = degree[node]
        ends = np.cumsum(fan)
        # Position of every outgoing channel of the frontier within ``targets``.
        position = np.arange(ends[-1], dtype=np.int64) + np.repeat(offsets[node] - ends + fan, fan)
        node = targets[position]
        base = np.repeat(base, fan)
        cell = base + node
        fresh = np.flatnonzero(cells[cell] < 0)
        cell = cell[fresh]
        cells[cell] = level
        # Several channels may reach a cell in the same round: the last writer keeps it.
        order = np.arange(len(cell), dtype=np.int32)
        rank[cell] = order
        fresh = fresh[rank[cell] == order]
        node, base = node[fresh], base[fresh]
        # An endpoint is reached, but the search ends there (a source is expanded before this).
        onward = passable[node]
        node, base = node[onward], base[onward]
