"""Coordinates of nodes for drawing, about one unit between neighbours."""

import itertools
import math
from collections.abc import Sequence

Positions = tuple[tuple[float, ...], ...]

# The third dimension runs back to the right. No two nodes of a grid within the size limit coincide:
# that takes extents of at least 38, 30 and 101 at once.
_DEPTH = (0.37, 0.29)


def circle(count: int, radius: float = 0.0, centre: tuple[float, float] = (0.0, 0.0)) -> Positions:
    """Return ``count`` points on a circle, clockwise from the top.

    Without a radius neighbours on the circle are one unit apart.
    """
    radius = radius or max(1.0, count / (2 * math.pi))
    angles = (math.pi / 2 - 2 * math.pi * index / count for index in range(count))
    return tuple(
        (
            round(centre[0] + radius * math.cos(angle), 4),
            round(centre[1] + radius * math.sin(angle), 4),
        )
        for angle in angles
    )


def circles(groups: int, size: int) -> Positions:
    """Return ``groups`` circles of ``size`` points each, group by group, around a circle."""
    own = circle(size)
    apart = 2 * own[0][1] + 1
    return tuple(
        point
        for x, y in circle(groups, max(apart, apart * groups / (2 * math.pi)))
        for point in circle(size, centre=(x, y))
    )


def grid(extents: Sequence[int]) -> Positions:
    """Return the points of a grid in row-major order, the last coordinate running fastest.

    The last dimension runs to the right, the one before it down, the third from the end is
    projected; further ones repeat the whole drawing to the right and below.
    """
    axes: list[tuple[float, float]] = []
    width = height = 1.0
    for number, extent in enumerate(reversed([extent for extent in extents if extent > 1])):
        if number == 2:
            axis = _DEPTH
            width += _DEPTH[0] * (extent - 1)
            height += _DEPTH[1] * (extent - 1)
        elif number == 0 or (number % 2 and number > 1):
            axis = (width, 0.0)
            width *= extent
        else:
            axis = (0.0, -height)
            height *= extent
        axes.append(axis)
    axes.reverse()
    spans = (range(extent) for extent in extents if extent > 1)
    return tuple(
        (
            round(sum(k * axis[0] for k, axis in zip(point, axes, strict=True)), 4),
            round(sum(k * axis[1] for k, axis in zip(point, axes, strict=True)), 4),
        )
        for point in itertools.product(*spans)
    )


def rows(sizes: Sequence[int]) -> Positions:
    """Return rows of points from the bottom up, all as wide as the first, a unit apart."""
    return tuple(
        (round((index + 0.5) * sizes[0] / size - 0.5, 4), float(row))
        for row, size in enumerate(sizes)
        for index in range(size)
    )


def columns(sizes: Sequence[int]) -> Positions:
    """Return columns of points from left to right, each from the top, all as high as the first."""
    return tuple((y, -x) for x, y in rows(sizes))


def binary_tree(levels: int) -> Positions:
    """Return the points of a complete binary tree, row by row from the root at the top."""
    width = 1 << (levels - 1)
    return tuple(
        ((index + 0.5) * width / (1 << level) - 0.5, float(-level))
        for level in range(levels)
        for index in range(1 << level)
    )
