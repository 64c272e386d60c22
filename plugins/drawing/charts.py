"""Charts of a schedule: channels by steps and nodes by steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Network, Schedule
from cchybrid.referee.verify import refuse_invalid
from cchybrid.view.frames import utilisation

from . import figure_styles as styles
from .figure_styles import drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHADES = ("#f4f4f4", "#56b4e9", "#0072b2", "#00324f")
"""From none to full: lightness alone tells them apart."""
BLOCKED = "#b8b8b8"
"""Of a half-duplex channel whose opposite one is in use."""
MAX_CELLS = 1500
"""Cells up to which each is a rectangle of its own; above, they are one image."""
MAX_NUMBERS = 400
"""Cells up to which their numbers are written into them."""
MIN_ROW = 7.2
"""Height in points of a row with a label of its own."""
BAR = 36.0
MAX_BARS = 64


def channel_loads(schedule: Schedule) -> NDArray[np.float64]:
    """Return the messages per step by channel, in the order of the network's channels.

    Returns
    -------
    NDArray
        Messages divided by the channel's capacity in the step, of shape (channels, steps).
    """
    found = utilisation(schedule)
    return np.asarray(found.uses / found.capacity)


def opposite_loads(schedule: Schedule) -> NDArray[np.float64]:
    """Return the loads of the channels with which half-duplex ones share their capacity.

    Returns
    -------
    NDArray
        As ``channel_loads``; 0 for all other channels.
    """
    network = schedule.instance.network
    loads = channel_loads(schedule)
    opposite = np.zeros_like(loads)
    for a, b in network.half_duplex:
        there, back = network.channel_index[a, b], network.channel_index[b, a]
        opposite[[there, back]] = loads[[back, there]]
    return opposite


def node_loads(schedule: Schedule) -> NDArray[np.int64]:
    """Return the messages that nodes inject, accept and pass on.

    Returns
    -------
    NDArray
        Counts of shape (3, nodes, steps).
    """
    loads = np.zeros((3, schedule.instance.network.nodes, len(schedule.steps)), dtype=np.int64)
    for number, step in enumerate(schedule.steps):
        for _, path in step:
            loads[0, path[0], number] += 1
            loads[1, path[-1], number] += 1
            for node in path[1:-1]:
                loads[2, node, number] += 1
    return loads


@drawing()
def channel_chart(schedule: Schedule) -> Figure:
    """Return the heat map of channels by steps, with the means of steps above, of channels beside.

    The channels are sorted by their ends. Where a half-duplex channel is free, but the opposite
    one is in use, it is grey.

    Raises
    ------
    InputError
        An invalid schedule, or no matplotlib.
    """
    refuse_invalid(schedule)
    from matplotlib.colors import ListedColormap

    network = schedule.instance.network
    order = sorted(range(len(network.channels)), key=lambda number: network.channels[number])
    loads = channel_loads(schedule)[order]
    rows, steps = loads.shape
    labels = [
        f"{_name(network, c.source)}→{_name(network, c.target)}" for c in sorted(network.channels)
    ]
    groups = [channel.source for channel in sorted(network.channels)]
    size = MIN_ROW if rows <= 64 else max(1.2, 420 / rows)
    high = min(styles.MAX_HEIGHT - 110, max(60.0, rows * size))
    labelled = high / rows >= 0.9 * MIN_ROW
    margin = (
        max(map(styles.text_width, labels if labelled else _names(network)), default=0)
        * styles.SMALL
        + 22
    )
    wide = min(styles.PAGE - margin - BAR - 16, max(100.0, 13.0 * steps))
    whole = sorted({0.0, 1.0, *loads.ravel().tolist()})
    legend = 16.0
    figure = styles.new_figure(margin + wide + BAR + 16, high + BAR + 30 + legend + 8)
    main = styles.axes_at(figure, margin, 26 + legend, wide, high)
    _heat(main, loads, 1.0)
    blocked = (loads == 0) & (opposite_loads(schedule)[order] > 0)
    if blocked.any():
        _paint(main, np.ma.masked_where(~blocked, blocked), cmap=ListedColormap([BLOCKED]))
    _step_ticks(main, steps, wide)
    if labelled:
        main.set_yticks(range(rows), labels, fontsize=min(styles.SMALL, 0.92 * high / rows))
        main.tick_params(axis="y", length=0)
    else:
        _group_ticks(main, network, groups, high)
        main.set_ylabel("channels, by source node")
    top = styles.axes_at(figure, margin, 26 + legend + high + 4, wide, BAR - 4)
    uses = np.array([sum(len(path) - 1 for _, path in step) for step in schedule.steps])
    _bars(top, uses / (network.step_capacity * np.array(schedule.rounds)), upright=True)
    top.set_xlim(-0.5, steps - 0.5)
    side = styles.axes_at(figure, margin + wide + 6, 26 + legend, BAR - 6, high)
    _bars(side, loads.mean(axis=1), upright=False)
    side.set_ylim(rows - 0.5, -0.5)
    words = {0.0: "free", 1.0: "full"}
    shares = whole if len(whole) <= 5 else [0.0, 0.25, 0.5, 0.75, 1.0]
    shades = _shades()
    key = [(words.get(share, f"{share:.0%} used"), shades(share)) for share in shares]
    if blocked.any():
        key.append(("used in the opposite direction", BLOCKED))
    _key(figure, key, margin)
    return figure


@drawing()
def node_chart(schedule: Schedule) -> Figure:
    """Return three heat maps of nodes by steps: messages injected, accepted, and passed on.

    Raises
    ------
    InputError
        An invalid schedule, or no matplotlib.
    """
    refuse_invalid(schedule)
    network = schedule.instance.network
    loads = node_loads(schedule)
    nodes, steps = loads.shape[1:]
    parts = [0, 1, 2] if loads[2].any() else [0, 1]
    titles = ("injected", "accepted", "passed on")
    size = 11.0 if nodes <= 36 else max(1.5, 420 / nodes)
    high = min(styles.MAX_HEIGHT - 80, max(50.0, nodes * size))
    margin = max(map(styles.text_width, _names(network))) * styles.SMALL + 24
    gap = 10.0
    wide = (styles.PAGE - margin - 10 - gap * (len(parts) - 1)) / len(parts)
    wide = min(wide, max(60.0, 12.0 * steps))
    width = max(margin + len(parts) * (wide + gap), styles.COLUMN)
    figure = styles.new_figure(width, high + 62)
    largest = float(loads.max())
    for place, part in enumerate(parts):
        axes = styles.axes_at(figure, margin + place * (wide + gap), 42, wide, high)
        _heat(axes, loads[part].astype(float), largest, numbers=loads[part].size <= MAX_NUMBERS)
        axes.set_title(titles[part], pad=3)
        _step_ticks(axes, steps, wide)
        if place == 0:
            _group_ticks(axes, network, list(range(nodes)), high)
            axes.set_ylabel("node")
        else:
            axes.set_yticks([])
    counts = range(int(largest) + 1)
    chosen = counts if len(counts) <= 8 else range(0, int(largest) + 1, -(-len(counts) // 7))
    shades = _shades()
    _key(figure, [(str(number), shades(number / max(1.0, largest))) for number in chosen], margin)
    return figure


def _name(network: Network, node: int) -> str:
    return styles.shown(network.node_name(node))


def _names(network: Network) -> list[str]:
    return [_name(network, node) for node in range(network.nodes)]


def _shades() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("load", SHADES)


def _heat(axes: Axes, values: NDArray[np.float64], largest: float, numbers: bool = False) -> None:
    """Draw a value per cell, row 0 at the top."""
    rows, columns = values.shape
    _paint(axes, values, cmap=_shades(), vmin=0.0, vmax=max(1.0, largest))
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))
    for side in axes.spines.values():
        side.set_visible(False)
    if numbers:
        for (row, column), value in np.ndenumerate(values):
            if value:
                colour = "white" if value > 0.5 * largest else "black"
                axes.text(
                    column, row, f"{value:.0f}", color=colour, ha="center", va="center",
                    fontsize=6,
                )  # fmt: skip


def _paint(axes: Axes, values: NDArray[np.float64], **style: Any) -> None:
    """Draw the cells of a heat map that are not masked."""
    rows, columns = values.shape
    if values.size <= MAX_CELLS:
        edges = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        axes.pcolormesh(*edges, values, edgecolors="white", linewidth=0.4, **style)
    else:
        axes.imshow(values, aspect="auto", interpolation="none", **style)


def _step_ticks(axes: Axes, steps: int, width: float) -> None:
    """Write the numbers of the steps, as many as there is room for."""
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 1000, 10**6) if n * width >= 11 * steps)
    numbers = [n for n in range(1, steps + 1) if n % every == 0 or (n == 1 and every > 2)]
    axes.set_xticks([n - 1 for n in numbers], [str(n) for n in numbers])
    axes.set_xlabel("step", labelpad=1)
    axes.tick_params(axis="x", length=0 if every == 1 else 2)


def _group_ticks(axes: Axes, network: Network, groups: list[int], height: float) -> None:
    """Write the names of nodes beside the middle of their rows, as many as fit."""
    nodes = sorted(set(groups))
    every = max(1, -int(-1.1 * MIN_ROW * len(nodes) // height))
    every = next((n for n in (1, 2, 4, 8, 16, 32, 64, 128, 256) if n >= every), every)
    middles = {
        node: float(np.mean([i for i, g in enumerate(groups) if g == node]))
        for node in nodes[::every]
    }
    axes.set_yticks(list(middles.values()), [_name(network, node) for node in middles])
    axes.tick_params(axis="y", length=0)


def _bars(axes: Axes, shares: NDArray[np.float64], upright: bool) -> None:
    """Draw shares between 0 and 1 as bars, with the scale in percent."""
    style: Any = {"color": SHADES[1], "edgecolor": "none"}
    if len(shares) > MAX_BARS:  # gaps would be thinner than a pixel
        axes.stairs(
            shares, np.arange(len(shares) + 1) - 0.5, fill=True, color=SHADES[1],
            orientation="vertical" if upright else "horizontal",
        )  # fmt: skip
    elif upright:
        axes.bar(np.arange(len(shares)), shares, width=0.8, **style)
    else:
        axes.barh(np.arange(len(shares)), shares, height=0.8, **style)
    if upright:
        axes.set(ylim=(0, 1), xticks=[], yticks=[0, 1], yticklabels=["0", "100 %"])
    else:
        axes.set(xlim=(0, 1), yticks=[], xticks=[0, 1], xticklabels=["", "100 %"])
    for name, side in axes.spines.items():
        side.set_visible(name == ("left" if upright else "bottom"))


def _key(figure: Figure, entries: list[tuple[str, Any]], left: float) -> None:
    """Draw the meaning of the shades below the chart."""
    from matplotlib.patches import Rectangle

    width = float(figure.get_size_inches()[0] * 72)
    axes = styles.panel(figure, 0, 0, width, 14)
    x = left
    for text, colour in entries:
        axes.add_patch(
            Rectangle((x, 4), 8, 8, facecolor=colour, edgecolor=styles.DARK, linewidth=0.4)
        )
        axes.text(x + 11, 5.4, text, fontsize=styles.SMALL, ha="left", va="baseline")
        x += 11 + styles.text_width(text, styles.SMALL) + 10
