"""Rotations: the cyclic groups of automorphisms that a network can be given.

The generator of a group of order g is a permutation of the nodes whose cycles all have length g.
Internally, node ``r + k * (nodes // g)`` is the image of node r after k applications, for r below
``nodes // g``.
"""

import numpy as np
from numpy.typing import NDArray

from ..network.task import DesignTask

Nodes = NDArray[np.int32]


def rotated_order(task: DesignTask, rotations: int) -> Nodes | None:
    """Return the node of the task behind every internal node, shape (nodes,).

    Without a limit of wires any permutation serves. Otherwise the positions in the plane are
    turned about their centre by 360 / ``rotations`` degrees.

    Returns
    -------
    NDArray or None
        ``None`` if the positions have no such rotation, or it keeps a node in its place.
    """
    if task.nodes % rotations:
        return None
    if rotations == 1 or task.max_wire is None:
        return np.arange(task.nodes, dtype=np.int32)
    image = _turned(task, rotations)
    if image is None:
        return None
    rows = []
    seen: set[int] = set()
    for node in range(task.nodes):
        if node not in seen:
            orbit = [node]
            while (after := image[orbit[-1]]) != node:
                orbit.append(after)
            if len(orbit) != rotations:
                return None
            seen.update(orbit)
            rows.append(orbit)
    return np.array(rows, dtype=np.int32).T.reshape(-1).copy()


def _turned(task: DesignTask, rotations: int) -> list[int] | None:
    """Return the node at the rotated position of every node."""
    assert task.positions is not None
    points = [(*position, 0.0)[:2] for position in task.positions]
    if rotations not in (2, 4) or len(task.positions[0]) > 2:
        return None
    low = [min(values) for values in zip(*points, strict=True)]
    high = [max(values) for values in zip(*points, strict=True)]
    node_at = {point: node for node, point in enumerate(points)}
    if len(node_at) < len(points):
        return None
    span_x, span_y = low[0] + high[0], low[1] + high[1]
    found: list[int] = []
    for x, y in points:
        if rotations == 2:
            image = (span_x - x, span_y - y)
        else:
            image = ((span_x - span_y) / 2 + y, (span_x + span_y) / 2 - x)
        if image not in node_at:
            return None
        found.append(node_at[image])
    return found
