"""Lines between nodes: straight, or bent where they would cross a node; lanes beside each other."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Pair = tuple[int, int]

BENDS = (0.15, 0.25, 0.35, 0.45, 0.55, 0.7, 0.9, 1.2)
"""Heights of bent lines that are tried, in distances of neighbouring nodes."""
CORNERS = 24
"""Straight pieces of a bent line."""
MAX_TESTED = 200_000
"""Links times nodes up to which lines are bent."""
MAX_BENT = 150
"""Lines that are bent; where more cross a node, bent ones would only cover each other."""


def link_curves(pairs: Sequence[Pair], points: Points, clearance: float) -> dict[Pair, Points]:
    """Return a line from the first to the second node of every pair.

    Parameters
    ----------
    pairs
        The linked nodes.
    points
        Coordinates of all nodes, of shape (nodes, 2).
    clearance
        The distance that a line keeps from the nodes that are not its ends, if possible.

    Returns
    -------
    dict
        The points of the line of every pair, of shape (2, 2) if it is straight.
    """
    straight = {pair: points[list(pair)] for pair in pairs}
    if len(pairs) * len(points) > MAX_TESTED:
        return straight
    near = {pair: _gap(straight[pair], points, pair) for pair in pairs}
    blocked = sorted(
        (pair for pair in pairs if near[pair] < clearance),
        key=lambda pair: (round(float(np.hypot(*np.diff(straight[pair], axis=0)[0])), 6), pair),
    )
    if len(blocked) > MAX_BENT:
        return straight
    curves = dict(straight)
    unit = clearance * 2.4
    bent: list[Points] = []
    for pair in blocked:
        best, best_score = straight[pair], min(near[pair], clearance) / clearance
        outside = _outside(straight[pair], points)
        for height in BENDS:
            for side in (outside, -outside):
                curve = _bent(straight[pair], side * height * unit)
                score = min(_gap(curve, points, pair), clearance) / clearance - height / 20
                if score > best_score + 1e-6:
                    score -= _overlap(curve, bent, clearance / 4)
                if score > best_score + 1e-6:
                    best, best_score = curve, score
            if best_score > 1 - (height + 0.15) / 20:  # higher ones cannot be better
                break
        curves[pair] = best
        if len(best) > 2:
            bent.append(best)
    return curves


def _outside(line: Points, points: Points) -> float:
    """Return 1 if the middle of all nodes is on the right of a line, otherwise -1."""
    across, upwards = line[1] - line[0]
    middle = points.mean(axis=0) - line[0]
    return 1.0 if across * middle[1] - upwards * middle[0] <= 1e-9 else -1.0


def _bent(line: Points, height: float) -> Points:
    """Return a curve that leaves its chord steeply and then runs beside it, on its left if > 0."""
    chord = line[1] - line[0]
    length = math.hypot(*chord)
    along = chord / length
    left = np.array((-along[1], along[0]))
    lead = min(0.25 * length, abs(height)) * along
    control = height * 4 / 3 * left
    t = np.linspace(0, 1, CORNERS + 1)[:, None]
    return np.asarray(
        (1 - t) ** 3 * line[0]
        + 3 * (1 - t) ** 2 * t * (line[0] + lead + control)
        + 3 * (1 - t) * t**2 * (line[1] - lead + control)
        + t**3 * line[1]
    )


def _gap(curve: Points, points: Points, ends: Pair) -> float:
    """Return the distance of a line from the nearest node that is not one of its ends."""
    others = np.delete(points, list(ends), axis=0)
    if not len(others):
        return math.inf
    start, piece = curve[:-1], np.diff(curve, axis=0)
    square = (piece**2).sum(axis=1)
    square[square == 0] = 1.0
    away = others[:, None, :] - start[None, :, :]
    share = ((away * piece).sum(axis=2) / square).clip(0, 1)
    rest = away - share[..., None] * piece
    return float(np.sqrt((rest**2).sum(axis=2).min()))


def _overlap(curve: Points, others: Sequence[Points], distance: float) -> float:
    """Return the share of a bent line that runs on other bent lines."""
    if not others:
        return 0.0
    points = np.concatenate(others)
    apart = np.hypot(*(curve[2:-2, None, :] - points[None, :, :]).transpose(2, 0, 1))
    return float((apart.min(axis=1) < distance).mean())


def lane(curve: Points, offset: float) -> Points:
    """Return a line moved to its right by an offset."""
    if offset == 0:
        return curve
    direction = np.gradient(curve, axis=0)
    direction /= np.hypot(*direction.T)[:, None]
    return np.asarray(curve + offset * np.column_stack((direction[:, 1], -direction[:, 0])))


def cut(curve: Points, first: float, last: float) -> Points:
    """Return a line without its parts within a distance of its first and of its last node.

    Parameters
    ----------
    curve
        The line; the distances are from its own first and last point.
    first, last
        The two distances; of a line that is shorter than both, the middle is left.
    """
    length = np.hypot(*np.diff(curve, axis=0).T)
    total = float(length.sum())
    if first + last > 0.8 * total:
        first, last = (0.8 * total * part / (first + last) for part in (first, last))
    return _without_start(_without_start(curve, first)[::-1], last)[::-1]


def _without_start(curve: Points, length: float) -> Points:
    """Return a line from the point at an arc length on."""
    pieces = np.hypot(*np.diff(curve, axis=0).T)
    ends = pieces.cumsum()
    index = min(int(np.searchsorted(ends, length)), len(pieces) - 1)
    share = 1 - (ends[index] - length) / (pieces[index] or 1.0)
    start = curve[index] + share * (curve[index + 1] - curve[index])
    return np.concatenate((start[None, :], curve[index + 1 :]))


def at(curve: Points, share: float) -> Points:
    """Return the point at a share of the length of a line."""
    total = float(np.hypot(*np.diff(curve, axis=0).T).sum())
    return np.asarray(_without_start(curve, share * total)[0])
