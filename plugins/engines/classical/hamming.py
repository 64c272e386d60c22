"""Hamming graphs in any numbering: hypercubes, complete graphs and HyperX, which is their product.

Nodes have labels of a few digits; two are linked if their labels differ in one digit.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network
from cchybrid.problem.ragged import within

Labels = NDArray[np.int64]


def hamming_labels(network: Network) -> tuple[tuple[int, ...], Labels] | None:
    """Return the sides, ascending, and labels, shape (nodes, digits), 0 of node 0.

    Neighbours of node 0 that are linked to each other differ in the same digit. The digits of every
    other node are the largest ones of its neighbours nearer to node 0. ``None`` if the network is
    no Hamming graph.
    """
    first, last = np.array(network.channels, dtype=np.int64).reshape(-1, 3)[:, :2].T
    near = np.sort(last[first == 0])
    if not len(near) or len(first) != len(near) * network.nodes:
        return None
    place = np.full(network.nodes, len(near))
    place[near] = np.arange(len(near))
    linked = np.eye(len(near) + 1, dtype=np.bool_)
    linked[place[first], place[last]] = True
    # The first neighbour in each digit, and the digit of each neighbour, short sides first.
    _, digit, count = np.unique(
        linked[:-1, :-1].argmax(axis=1), return_inverse=True, return_counts=True
    )
    digit = np.argsort(np.argsort(count, kind="stable"))[digit]
    count = np.sort(count)
    sides = tuple((count + 1).tolist())
    if math.prod(sides) != network.nodes:
        return None
    label = np.zeros((network.nodes, len(sides)), dtype=np.int64)
    label[near[np.argsort(digit, kind="stable")], np.sort(digit)] = 1 + within(count)
    known = np.isin(np.arange(network.nodes), [0, *near])
    while (fresh := known[first] & ~known[last]).any():
        np.maximum.at(label, last[fresh], label[first[fresh]])
        known[last[fresh]] = True
    if ((label[first] != label[last]).sum(axis=1) != 1).any():
        return None
    if len(np.unique(np.ravel_multi_index(tuple(label.T), sides))) < network.nodes:
        return None
    return sides, label


def hypercube_labels(network: Network) -> Labels | None:
    """Return labels, shape (nodes,), under which linked nodes differ in one bit, 0 of node 0.

    ``None`` if the network is no hypercube.
    """
    found = hamming_labels(network)
    if found is None or set(found[0]) != {2}:
        return None
    return found[1] @ (1 << np.arange(len(found[0])))
