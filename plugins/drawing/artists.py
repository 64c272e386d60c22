"""Nodes, links, arrows and texts as matplotlib artists, a collection for many of one kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cchybrid.model import Network

from .figure_styles import DARK, HALF_DUPLEX, LINK
from .link_curves import Points, cut
from .scene import Label, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ONE_EDGE = 0.8
"""Width of the line of a link of capacity 1, in points."""


MARKERS = {"circle": ("o", 2.0), "square": ("s", 1.8), "diamond": ("D", 1.7)}
"""The markers of matplotlib for the symbols of nodes, and their sizes in radii."""


class Arrow(NamedTuple):
    """A line with a head at its end, from the centre of a node to that of another."""

    curve: Points
    colour: str = LINK
    line: Any = "solid"
    width: float = ONE_EDGE


def symbol(network: Network, node: int) -> str:
    """Return the symbol of a node: a square for endpoints, a diamond for switches, or a circle."""
    if node in network.endpoints:
        return "square"
    return "diamond" if node in network.switches or network.endpoints else "circle"


def line_width(capacity: int, largest: int) -> float:
    """Return the width of the line of a link by its capacity."""
    return ONE_EDGE + 2.6 * math.log2(capacity) / max(2.0, math.log2(largest))


def draw_links(axes: Axes, scene: Scene, colour: str = LINK) -> None:
    """Draw all links: dashed if half-duplex, with arrowheads if of one direction."""
    network, index = scene.network, scene.network.channel_index
    half = {(min(pair), max(pair)) for pair in network.half_duplex}
    largest = max((channel.capacity for channel in network.channels), default=1)
    plain: list[Arrow] = []
    headed: list[Arrow] = []
    for a, b in scene.curves:
        sizes = [
            network.channels[index[pair]].capacity if pair in index else 0
            for pair in ((a, b), (b, a))
        ]
        line = HALF_DUPLEX if (a, b) in half else "solid"
        if sizes[0] == sizes[1]:
            width = line_width(sizes[0], largest)
            plain.append(Arrow(scene.curve(a, b), colour, line, width))
            continue
        offset = 1.2 + ONE_EDGE if all(sizes) else 0.0
        for (source, target), size in zip(((a, b), (b, a)), sizes, strict=True):
            if size:
                width = line_width(size, largest)
                headed.append(Arrow(scene.curve(source, target, offset), colour, line, width))
    _draw_lines(axes, plain, "links", 1)
    draw_arrows(axes, scene, headed, "one-direction-links", tails=False, layer=1)


def draw_arrows(
    axes: Axes,
    scene: Scene,
    arrows: Sequence[Arrow],
    group: str,
    *,
    tails: bool = True,
    layer: float = 3,
) -> None:
    """Draw arrows between the borders of nodes.

    Parameters
    ----------
    group
        Name of the arrows in the SVG file.
    tails
        Whether a dot marks where each begins.
    """
    from matplotlib.collections import PolyCollection

    if not arrows:
        return
    lines, heads, starts = [], [], []
    for arrow in arrows:
        curve = cut(arrow.curve, scene.radius + 1.2, scene.radius + 0.8)
        total = float(np.hypot(*np.diff(curve, axis=0).T).sum())
        head = min(scene.head + arrow.width, 0.6 * total)
        body = cut(curve, 0, 0.8 * head)
        base, tip = cut(curve, 0, head)[-1], curve[-1]
        sideways = 0.42 * np.array((base[1] - tip[1], tip[0] - base[0]))
        heads.append(np.array((tip, base + sideways, base - sideways)))
        lines.append(arrow._replace(curve=body))
        starts.append(curve[0])
    colours = [arrow.colour for arrow in arrows]
    _draw_lines(axes, lines, group, layer)
    axes.add_collection(
        PolyCollection(
            heads, facecolors=colours, edgecolors="none", zorder=layer, gid=f"{group}-heads"
        ),
        autolim=False,
    )
    if tails:
        sizes = [(1.9 * arrow.width) ** 2 for arrow in arrows]
        x, y = np.array(starts).T
        axes.scatter(
            x, y, s=sizes, facecolors=colours, edgecolors="none", zorder=layer,
            gid=f"{group}-tails",
        )  # fmt: skip


def _draw_lines(axes: Axes, arrows: Sequence[Arrow], group: str, layer: float) -> None:
    from matplotlib.collections import LineCollection

    if arrows:
        lines = LineCollection(
            [arrow.curve for arrow in arrows],
            colors=[arrow.colour for arrow in arrows],
            linestyles=[arrow.line for arrow in arrows],
            linewidths=[arrow.width for arrow in arrows],
            capstyle="butt",
            joinstyle="round",
            zorder=layer,
            gid=group,
        )
        axes.add_collection(lines, autolim=False)


def draw_nodes(
    axes: Axes, scene: Scene, fill: Sequence[str], emphasised: Iterable[int] = ()
) -> None:
    """Draw all nodes with their labels.

    Parameters
    ----------
    fill
        The colour of every node.
    emphasised
        Nodes with a thicker border.
    """
    strong = set(emphasised)
    edge = min(0.8, max(0.3, scene.radius / 6))
    for kind, (marker, size) in MARKERS.items():
        nodes = [v for v in range(scene.network.nodes) if symbol(scene.network, v) == kind]
        if nodes:
            x, y = scene.points[nodes].T
            axes.scatter(
                x,
                y,
                s=(size * scene.radius) ** 2,
                marker=marker,
                facecolors=[fill[node] for node in nodes],
                edgecolors=DARK,
                linewidths=[2.2 * edge if node in strong else edge for node in nodes],
                zorder=5,
                gid=f"nodes-{kind}",
            )
    for label, colour in zip(scene.labels, fill, strict=False):
        draw_text(axes, label, scene.font, _contrast(colour) if scene.inside else "black")


def draw_text(axes: Axes, label: Label, size: float, colour: str, boxed: bool = False) -> None:
    """Draw a text at its place; a boxed one on white, over lines."""
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.4} if boxed else None
    axes.text(
        label.x, label.y, label.text, fontsize=size, color=colour, ha="left", va="baseline",
        zorder=6 if not boxed else 4, bbox=box,
    )  # fmt: skip


def _contrast(colour: str) -> str:
    """Return white for text on dark colours, otherwise black."""
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else "black"


def draw_region(axes: Axes, scene: Scene, nodes: Iterable[int], colour: str) -> None:
    """Draw one light area behind some nodes and the links among them."""
    inner = sorted(nodes)
    if not inner:
        return
    x, y = scene.points[inner].T
    edge = min(x.min(), scene.width - x.max(), y.min(), scene.height - y.max())
    reach = min(scene.radius + min(6.0, 0.22 * scene.gap), edge)  # a figure ends there
    axes.scatter(
        x, y, s=(2 * reach) ** 2, facecolors=colour, edgecolors="none", zorder=0, gid="region",
    )  # fmt: skip
    links = [pair for pair in scene.curves if set(pair) <= set(inner)]
    wide = [Arrow(scene.curves[pair], colour, "solid", 2 * reach) for pair in links]
    _draw_lines(axes, wide, "region-links", 0)


def symbols_legend(network: Network) -> list[tuple[Any, str]]:
    """Return a handle and a text for every symbol and line of a network that needs a word."""
    from matplotlib.lines import Line2D

    legend: list[tuple[Any, str]] = []
    kinds = {symbol(network, node) for node in range(network.nodes)}
    if kinds != {"circle"}:
        words = {"circle": "processor", "square": "endpoint", "diamond": "switch"}
        for kind in sorted(kinds, key=[*MARKERS].index):
            handle = Line2D(
                [], [], marker=MARKERS[kind][0], markerfacecolor="white", color="none",
                markeredgecolor=DARK, markersize=4.5 if kind == "diamond" else 5.5,
            )  # fmt: skip
            legend.append((handle, words[kind]))
    if network.half_duplex:
        handle = Line2D([], [], color=LINK, linestyle=HALF_DUPLEX, linewidth=1)
        legend.append((handle, "half-duplex link"))
    sizes = sorted({channel.capacity for channel in network.channels})
    if len(sizes) > 1:
        chosen = sizes if len(sizes) <= 3 else [sizes[0], sizes[len(sizes) // 2], sizes[-1]]
        for size in chosen:
            width = line_width(size, sizes[-1])
            legend.append((Line2D([], [], color=LINK, linewidth=width), f"capacity {size}"))
    return legend
