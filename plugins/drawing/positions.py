"""Coordinates of the nodes of any network, for drawing."""

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network

from .computed_positions import computed_positions

Points = NDArray[np.float64]

DEPTH = (0.37, 0.29)
"""Right and upward shift per unit of the third coordinate, as in the library."""
MIN_DISTANCE = 0.35
"""Nodes that are closer (in units) are moved apart."""
MAX_MOVED = 2048
"""Nodes up to which all pairs are compared; in larger networks only equal points are moved."""
MAX_PAIRS = 4_000_000
"""Pairs of nodes up to which all distances are measured; of larger networks a sample."""
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


def positions(network: Network) -> tuple[tuple[float, float], ...]:
    """Return coordinates of every node for drawing, y upwards, no two nodes on one point.

    The network's own positions are kept but for their scale; three coordinates are projected
    obliquely, and nodes that would cover each other are moved apart. Without positions, or if all
    are the same, they are computed; equal networks get equal coordinates.

    Returns
    -------
    tuple[tuple[float, float], ...]
        x and y of every node; one unit is the median distance of a node from the nearest other.
    """
    points = _given(network)
    if points is None:
        points = computed_positions(network)
    points = _apart(points / spacing(points))
    points /= spacing(points)
    points -= (points.min(axis=0) + points.max(axis=0)) / 2
    points = points.round(4) + 0.0  # no negative zero
    return tuple((float(x), float(y)) for x, y in points)


def spacing(points: Points) -> float:
    """Return the median distance of a point from the nearest different one; 1 without any."""
    sample = points[:: max(1, len(points) ** 2 // MAX_PAIRS)]
    nearest = nearest_distances(sample, points)
    nearest = nearest[np.isfinite(nearest)]
    return float(np.median(nearest)) if len(nearest) else 1.0


def nearest_distances(some: Points, points: Points) -> NDArray[np.float64]:
    """Return the distance of each of some points from the nearest different point.

    Parameters
    ----------
    some, points
        Arrays of shape (K, 2) and (N, 2).

    Returns
    -------
    NDArray
        Shape (K,); infinite where all points are the same.
    """
    apart = np.hypot(*(some[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
    apart[apart == 0] = np.inf
    return np.asarray(apart.min(axis=1))


def _given(network: Network) -> Points | None:
    """Return the network's positions in the plane, at any scale; ``None`` if they show nothing."""
    if network.positions is None:
        return None
    points = np.array(network.positions, dtype=np.float64)
    points /= np.abs(points).max() or 1.0  # so that no difference overflows
    points -= points.mean(axis=0)
    if points.shape[1] == 3:
        points = (points[:, :2] + np.outer(points[:, 2], DEPTH)).round(9)
    if np.abs(points).max() < 1e-12 and network.nodes > 1:
        return None
    return points


def _apart(points: Points) -> Points:
    """Return the points with those moved that are equal to or too close to another."""
    points = _distinct(points)
    if len(points) > MAX_MOVED:
        return points
    for _ in range(50):
        lines = points[:, None, :] - points[None, :, :]
        length = np.hypot(lines[..., 0], lines[..., 1])
        np.fill_diagonal(length, np.inf)
        if length.min(initial=np.inf) >= MIN_DISTANCE * 0.99:
            break
        push = np.maximum(MIN_DISTANCE / length - 1, 0) / 2
        points = points + (lines * push[..., None]).sum(axis=1)
    return _distinct(points)


def _distinct(points: Points) -> Points:
    """Return the points with equal ones on a spiral around the first of them."""
    points = points.copy()
    for attempt in range(1, 100):
        places = [tuple(place) for place in points.round(3)]
        seen: Counter[tuple[float, ...]] = Counter()
        for index, place in enumerate(places):
            angle = GOLDEN_ANGLE * (seen[place] + attempt)
            if seen[place]:
                radius = MIN_DISTANCE * attempt * math.sqrt(seen[place])
                points[index] += radius * math.cos(angle), radius * math.sin(angle)
            seen[place] += 1
        if len(seen) == len(points):
            break
    return points
