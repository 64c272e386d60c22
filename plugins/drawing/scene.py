"""Networks laid out for a panel of a figure: points, sizes, lines and labels."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network
from cchybrid.model.errors import InputError

from .figure_styles import FONT, SMALL, shown, text_width
from .link_curves import lane, link_curves
from .positions import nearest_distances, positions

Points = NDArray[np.float64]
Box = tuple[float, float, float, float]

MAX_NODES = 4096
"""Nodes of the largest network that is drawn."""
MAX_UNIT = 58.0
"""Points between neighbours of small networks."""
MIN_FONT = 5.0
MARGIN = 3.0
LANES = 6.0
"""Points beside a bent line for the messages on it."""
DIGIT_HEIGHT = 0.73
NEAR = 2.0
"""Points that a label keeps from lines."""


@dataclass(frozen=True)
class Label:
    """A text and the left end of its base line."""

    text: str
    x: float
    y: float


@dataclass
class LabelPlaces:
    """Free places for labels: boxes that may not be covered, and points that better stay free."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    points: Points = field(default_factory=lambda: np.zeros((0, 2)))

    def place(self, text: str, size: float, centres: Iterable[tuple[float, float]]) -> Label:
        """Return the label at the first free one of the centres, or at that with the fewest hits.

        Earlier centres are better where hits are equal.
        """
        half, high = text_width(text, size) / 2 + 0.8, size * DIGIT_HEIGHT / 2 + 0.8
        best: Box = (0.0, 0.0, 0.0, 0.0)
        fewest = math.inf
        for x, y in centres:
            box = x - half, y - high, x + half, y + high
            hits = self._hits(box)
            if hits < fewest:
                best, fewest = box, hits
            if not hits:
                break
        self.boxes.append(best)
        return Label(text, best[0] + 0.8, best[1] + 0.8)

    def _hits(self, box: Box) -> float:
        left, bottom, right, top = box
        hits = 0.0
        for other in self.boxes:
            across = min(right, other[2]) - max(left, other[0])
            upwards = min(top, other[3]) - max(bottom, other[1])
            if across > 0 and upwards > 0:
                hits += 20 + across * upwards
        x, y = self.points.T
        near = (x > left - NEAR) & (x < right + NEAR) & (y > bottom - NEAR) & (y < top + NEAR)
        hits += float(near.sum())
        out = left < 0 or bottom < 0 or right > self.width or top > self.height
        return hits + 1000 * out


@dataclass(frozen=True)
class Scene:
    """A network laid out for one panel; all lengths are in points (1/72 inch).

    Parameters
    ----------
    points
        Places of the nodes, of shape (nodes, 2).
    gap
        The distance of the two nearest nodes.
    radius
        Radius of the nodes.
    font
        Size of the labels of nodes.
    inside
        Whether the labels are inside the nodes.
    labels
        A label per node, or none where they would not fit.
    curves
        The line of every linked pair ``(a, b)`` with ``a < b``, from a to b.
    """

    network: Network
    width: float
    height: float
    points: Points
    gap: float
    radius: float
    font: float
    inside: bool
    labels: tuple[Label, ...]
    curves: dict[tuple[int, int], Points]

    @property
    def stroke(self) -> float:
        """The width of a line that stands for a message."""
        return min(1.5, max(0.5, self.gap / 22))

    @property
    def head(self) -> float:
        """The length of an arrowhead."""
        return min(5.0, max(1.8, self.gap / 6))

    def curve(self, source: int, target: int, offset: float = 0.0) -> Points:
        """Return the line from the centre of one node to that of another, moved to its right."""
        line = self.curves[min(source, target), max(source, target)]
        return lane(line if source < target else line[::-1], offset)


def make_scene(network: Network, width: float, max_height: float) -> Scene:
    """Return the layout of a network in a panel of a width; its height follows.

    Raises
    ------
    InputError
        The network is too large for a drawing.
    """
    if network.nodes > MAX_NODES:
        raise InputError(
            f"{network.nodes} nodes are too many for a drawing",
            where=network.name,
            hint=f"draw networks of at most {MAX_NODES} nodes",
        )
    places = np.array(positions(network))
    names = [shown(network.node_name(node)) for node in range(network.nodes)]
    widest = max(map(text_width, names))
    points, gap, height = _placed(places, width, max_height, (12.0, 12.0))
    radius = min(9.0, max(1.0, 0.27 * gap))
    font = min(FONT, 1.7 * radius / widest)
    inside = font >= MIN_FONT
    if not inside:
        font = SMALL if gap >= 3 * SMALL else MIN_FONT + 0.5
        labelled = gap >= 2.2 * font
        across = widest * font / 2 + MARGIN if labelled else 2 * MARGIN
        margins = (across, font + 9.0) if labelled else (2 * MARGIN, 2 * MARGIN)
        points, gap, height = _placed(places, width, max_height, margins)
        radius = min(5.0, max(0.9, 0.2 * gap))
    else:
        margins = (12.0, 12.0)
    pairs = sorted({(min(c[:2]), max(c[:2])) for c in network.channels})
    clearance = radius + min(3.0, 0.6 * radius)
    curves = link_curves(pairs, points, clearance)
    out = _outside(curves.values(), width, height)
    if max(out) > 0:  # bent lines need more margin
        margins = margins[0] + out[0], margins[1] + out[1]
        points, gap, height = _placed(places, width, max_height, margins)
        curves = link_curves(pairs, points, clearance)
    scene = Scene(network, width, height, points, gap, radius, font, inside, (), curves)
    labels: tuple[Label, ...] = ()
    if inside:
        labels = tuple(
            Label(
                name, x - text_width(name, font) / 2, y - DIGIT_HEIGHT * font / 2
            )
            for name, (x, y) in zip(names, points, strict=True)
        )  # fmt: skip
    elif labelled:
        labels = _labels_beside(scene, names)
    return Scene(network, width, height, points, gap, radius, font, inside, labels, curves)


def _placed(
    places: Points, width: float, max_height: float, margins: tuple[float, float]
) -> tuple[Points, float, float]:
    """Return the points of the nodes in a panel, the smallest distance, the panel's height."""
    places = places - places.min(axis=0)
    across, upwards = places.max(axis=0)
    free, tall = width - 2 * margins[0], max_height - 2 * margins[1]
    scale = min(MAX_UNIT, free / across if across else MAX_UNIT)
    scale = min(scale, tall / upwards if upwards else MAX_UNIT)
    height = upwards * scale + 2 * margins[1]
    points = places * scale + ((width - across * scale) / 2, margins[1])
    nearest = nearest_distances(points, points)
    return points, float(min(nearest.min(), MAX_UNIT)), float(height)


def _outside(curves: Iterable[Points], width: float, height: float) -> tuple[float, float]:
    """Return how far bent lines and their lanes reach over the sides, and over top and bottom."""
    bent = [curve for curve in curves if len(curve) > 2]
    if not bent:
        return 0.0, 0.0
    points = np.concatenate(bent)
    lowest, highest = points.min(axis=0), points.max(axis=0)
    across = max(-lowest[0], highest[0] - width, -LANES)
    upwards = max(-lowest[1], highest[1] - height, -LANES)
    return float(across + LANES), float(upwards + LANES)


def _labels_beside(scene: Scene, names: list[str]) -> tuple[Label, ...]:
    """Return the labels of the nodes, each where it covers the fewest lines and no node."""
    places = free_places(scene)
    labels = []
    for name, (x, y) in zip(names, scene.points, strict=True):
        high = scene.radius + scene.font * DIGIT_HEIGHT / 2 + 2.2
        wide = scene.radius + text_width(name, scene.font) / 2 + 2.2
        diagonal = 0.75 * scene.radius + 1.5
        aside = diagonal + text_width(name, scene.font) / 2
        above = diagonal + scene.font * DIGIT_HEIGHT / 2
        centres = [
            (x, y + high), (x, y - high), (x + wide, y), (x - wide, y), (x + aside, y + above),
            (x - aside, y + above), (x + aside, y - above), (x - aside, y - above),
        ]  # fmt: skip
        labels.append(places.place(name, scene.font, centres))
    return tuple(labels)


def free_places(scene: Scene) -> LabelPlaces:
    """Return the places of a panel that its nodes, their labels and the links leave free."""
    places = LabelPlaces(scene.width, scene.height)
    reach = scene.radius + 0.6
    places.boxes += [(x - reach, y - reach, x + reach, y + reach) for x, y in scene.points]
    if not scene.inside:
        for label in scene.labels:
            wide = text_width(label.text, scene.font)
            box = label.x, label.y, label.x + wide, label.y + DIGIT_HEIGHT * scene.font
            places.boxes.append(box)
    if scene.curves:
        places.points = np.concatenate([dense(curve) for curve in scene.curves.values()])
    return places


def dense(curve: Points) -> Points:
    """Return points on a line that are about three points (1/72 inch) apart."""
    pieces = np.hypot(*np.diff(curve, axis=0).T)
    along = np.concatenate(([0.0], pieces.cumsum()))
    steps = np.linspace(0, along[-1], max(2, int(along[-1] / 3)))
    return np.column_stack([np.interp(steps, along, curve[:, axis]) for axis in (0, 1)])
