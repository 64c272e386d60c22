"""Where nodes are drawn: coordinates in the plane, about one unit between neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

Positions = tuple[tuple[float, ...], ...]

# The third dimension runs back to the right. No two nodes of a grid within the size limit fall
# together: that takes extents of at least 38, 30 and 101 at once.
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
