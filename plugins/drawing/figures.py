"""Figures of networks and schedules, fit for papers.

Sizes are those of a column (3.4 inches) or a page (7 inches). Colours differ for
colour-blind people, too, and line styles, labels or places say the same again.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from cchybrid.model import Network, Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.expressed import refuse_slots_ticks_groups
from cchybrid.referee.verify import refuse_invalid
from cchybrid.view.step_table import step_heading

from . import artists
from . import figure_styles as styles
from .artists import Arrow
from .charts import channel_chart, node_chart
from .figure_styles import drawing, save_figure
from .scene import Scene, make_scene
from .step_arrows import MessageKeys, arrow_labels, step_arrows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .bound_picture import BoundPicture

Legend = list[tuple[Any, str]]

MAX_PANELS = 24
"""Steps that one figure shows."""
MIN_GAP = 36.0
"""Points between nodes below which a figure takes a whole page's width."""
MIN_PANEL_GAP = 34.0
"""Points between nodes of the smallest panels beside each other, if they fit on a page."""
GUTTER = 10.0
TITLE = 13.0
LINE = 10.5
"""Height of a line of a legend or caption, in points."""
DOT: Any = {"marker": "o", "color": "none", "markeredgecolor": styles.DARK, "markersize": 5.5}
"""Style of nodes in a legend."""


def draw(found: Network | Schedule, step: int | None = None, chart: str | None = None) -> Figure:
    """Draw a network, or a schedule: one step, or one of ``CHARTS``, by default all steps.

    Raises
    ------
    InputError
        No such step, what cannot be drawn, or no matplotlib.

    Examples
    --------
    >>> import cchybrid
    >>> len(cchybrid.draw(cchybrid.network("ring-bi-4")).axes)
    1
    """
    if isinstance(found, Network):
        return draw_network(found)
    refuse_slots_ticks_groups(found.instance, "a figure")
    return CHARTS[chart or "steps"](found) if step is None else draw_step(found, step)


def svg(schedule: Schedule) -> str:
    """Return the figure of all steps as SVG."""
    return styles.figure_bytes(draw_steps(schedule), ".svg").decode()


@drawing()
def draw_network(network: Network, bound: BoundPicture | None = None) -> Figure:
    """Draw a network: endpoints as squares, switches as diamonds, half-duplex links dashed.

    Parameters
    ----------
    bound
        What a lower bound counts, to be drawn on the network with its sentence.

    Raises
    ------
    InputError
        A network that is too large, or no matplotlib.
    """
    scene = _scene(network)
    legend = artists.symbols_legend(network)
    fill = ["white"] * network.nodes
    caption = ""
    if bound is not None:
        caption = bound.sentence
        fill = _bound_fill(network, bound)
        legend += _bound_legend(bound)
    figure, (axes,) = _figure(scene, 1, 1, legend, caption=caption)
    if bound is not None:
        artists.draw_region(axes, scene, bound.inside, styles.INSIDE)
    artists.draw_links(
        axes, scene, *((styles.FAINT,) if bound is not None and bound.channels else ())
    )
    if bound is not None:
        artists.draw_arrows(axes, scene, _bound_arrows(scene, bound), "bound", tails=False)
    artists.draw_nodes(axes, scene, fill, bound.inside if bound is not None else ())
    return figure


def draw_bound(schedule: Schedule) -> Figure:
    """Draw the network with what the lower bound of a schedule counts.

    Raises
    ------
    InputError
        The schedule has no lower bound, or one of a kind that has no picture.
    """
    from .bound_picture import bound_picture

    if schedule.lower_bound is None:
        raise InputError(
            "the schedule has no lower bound",
            where=schedule.instance.name,
            hint="solve the instance again, or see: cchybrid prove",
        )
    picture = bound_picture(schedule.instance, schedule.lower_bound)
    if picture is None:
        kind = schedule.lower_bound.evidence.get("kind", "without evidence")
        raise InputError(
            f"a lower bound of the kind {kind} has no picture",
            where=schedule.instance.name,
            hint="draw the steps or a chart",
        )
    return draw_network(schedule.instance.network, picture)


@drawing()
def draw_step(schedule: Schedule, step: int) -> Figure:
    """Draw the transfers of one step, an arrow for each.

    Parameters
    ----------
    step
        The number of the step, from 1.

    Raises
    ------
    InputError
        No such step, an invalid schedule, or no matplotlib.
    """
    steps = len(schedule.steps)
    if not 1 <= step <= steps:
        raise InputError(f"no step {step} in this schedule", where="step", hint=f"use 1 to {steps}")
    refuse_invalid(schedule)
    keys = MessageKeys(schedule)
    scene = _scene(schedule.instance.network)
    title = f"{step_heading(schedule, step)} of {steps}"
    figure, (axes,) = _figure(scene, 1, 1, _step_legend(keys), [title], keys.words)
    _draw_transfers(axes, scene, keys, step)
    return figure


@drawing()
def draw_steps(schedule: Schedule) -> Figure:
    """Draw all steps beside each other; of more than 24, the first 24, and the title says so.

    Raises
    ------
    InputError
        An invalid schedule, or no matplotlib.
    """
    steps = len(schedule.steps)
    count = min(steps, MAX_PANELS)
    refuse_invalid(schedule)
    keys = MessageKeys(schedule)
    legend = _step_legend(keys)
    columns, scene = _columns(schedule.instance.network, count)
    titles = [step_heading(schedule, number) for number in range(1, count + 1)]
    if steps > count:
        titles[0] = f"steps 1 to {count} of {steps}: {titles[0]}"
    figure, panels = _figure(scene, count, columns, legend, titles, keys.words)
    for number, axes in enumerate(panels, 1):
        _draw_transfers(axes, scene, keys, number)
    return figure


CHARTS: dict[str, Callable[[Schedule], Figure]] = {
    "steps": draw_steps,
    "channels": channel_chart,
    "nodes": node_chart,
    "bound": draw_bound,
}
"""The figures of a whole schedule by the names that users give."""


def _scene(network: Network) -> Scene:
    """Return the layout in a column if nodes are far enough apart there, otherwise on a page."""
    scene = make_scene(network, styles.COLUMN, styles.MAX_HEIGHT - 150)
    if scene.gap >= MIN_GAP:
        return scene
    wide = make_scene(network, styles.PAGE, styles.MAX_HEIGHT - 150)
    return wide if wide.gap > 1.15 * scene.gap else scene


def _columns(network: Network, count: int) -> tuple[int, Scene]:
    """Return the number of panels in a row, and the layout of one.

    As many as nodes are far enough apart for, in full rows if possible; otherwise the largest
    panels that fit on a page.
    """
    scenes = {}
    for columns in range(min(count, 2), min(count, 6) + 1):
        width = min(styles.COLUMN, (styles.PAGE - (columns - 1) * GUTTER) / columns)
        scenes[columns] = make_scene(network, width, styles.MAX_HEIGHT - 150)

    def fits(columns: int) -> bool:
        height = scenes[columns].height + TITLE + GUTTER
        return -(-count // columns) * height <= styles.MAX_HEIGHT - 4 * LINE

    clear = [columns for columns, scene in scenes.items() if scene.gap >= MIN_PANEL_GAP]
    columns = max(clear, key=lambda columns: (count % columns == 0, columns), default=0)
    if not clear or not fits(columns):
        columns = next(filter(fits, scenes), max(scenes))
    return columns, scenes[columns]


def _figure(
    scene: Scene,
    count: int,
    columns: int,
    legend: Legend,
    titles: list[str] | None = None,
    legend_title: str = "",
    caption: str = "",
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a number of panels, their titles, a legend and a caption below."""
    rows = -(-count // columns)
    width = max(styles.COLUMN, columns * scene.width + (columns - 1) * GUTTER)
    letters = int((width - 2 * GUTTER) / styles.text_width("abcdefghij ", styles.SMALL) * 11)
    lines = [line for part in caption.splitlines() for line in wrap(part, letters)]
    entries = [(None, legend_title), *legend] if legend_title and legend else legend
    placed, legend_lines = _flow([(h, t) for h, t in entries], width - 2 * GUTTER)
    foot = LINE * (legend_lines + len(lines)) + (5 if legend_lines or lines else 0)
    row = scene.height + (TITLE if titles else 0)
    height = rows * row + (rows - 1) * GUTTER + foot
    figure = styles.new_figure(width, height)
    left = (width - columns * scene.width - (columns - 1) * GUTTER) / 2
    panels = []
    for number in range(count):
        down, across = divmod(number, columns)
        x = left + across * (scene.width + GUTTER)
        y = height - down * (row + GUTTER) - row
        axes = styles.panel(figure, x, y, scene.width, scene.height)
        if titles:
            axes.text(
                scene.width / 2, scene.height + 2, titles[number], ha="center", va="baseline",
                fontsize=styles.FONT,
            )  # fmt: skip
        panels.append(axes)
    if foot:
        axes = styles.panel(figure, GUTTER, 0, width - 2 * GUTTER, foot)
        _write_legend(axes, placed, foot - 5)
        for number, text in enumerate(lines):
            y = foot - 5 - LINE * (legend_lines + number + 0.8)
            axes.text(0, y, text, ha="left", va="baseline", fontsize=styles.SMALL)
    return figure, panels


def _flow(
    entries: list[tuple[Any, str]], width: float
) -> tuple[list[tuple[Any, str, float, int]], int]:
    """Return the entries of a legend with place and line, as words of a text, and the lines."""
    placed: list[tuple[Any, str, float, int]] = []
    x, line = 0.0, 0
    for handle, text in entries:
        need = styles.text_width(text, styles.SMALL) + (20 if handle is not None else 0)
        if x and x + need > width:
            x, line = 0.0, line + 1
        placed.append((handle, text, x, line))
        x += need + 9
    return placed, line + 1 if placed else 0


def _write_legend(axes: Axes, placed: list[tuple[Any, str, float, int]], top: float) -> None:
    for handle, text, x, line in placed:
        y = top - LINE * (line + 0.8)
        if handle is not None:
            marked = handle.get_marker() not in ("None", "", None)
            handle.set_data([x + 9] if marked else [x, x + 16], [y + 2.6] * (1 if marked else 2))
            axes.add_line(handle)
        axes.text(
            x + (20 if handle is not None else 0), y, text, ha="left", va="baseline",
            fontsize=styles.SMALL,
        )  # fmt: skip


def _step_legend(keys: MessageKeys) -> Legend:
    """Return the colours of the messages, and the symbols of the network."""
    from matplotlib.lines import Line2D

    legend: Legend = [
        (Line2D([], [], color=colour, linestyle=line, linewidth=1.5), text)
        for text, (colour, line) in keys.legend()
    ]
    messages = keys.schedule.instance.collective.messages
    if len(messages) == 1:
        kind = keys.schedule.instance.collective.kind
        words = {
            "combine": "holds a part before the step",
            "deliver": "informed before the step",
            "allreduce": "holds the whole sum before the step",
        }
        text = words.get(kind, "before the step, holds the sum that it needs")
        legend.append((Line2D([], [], markerfacecolor=styles.HELD, **DOT), text))
    elif not keys.words:
        legend.append((None, "Colours only distinguish paths that meet."))
    symbols = artists.symbols_legend(keys.schedule.instance.network)
    return legend + [(handle, text) for handle, text in symbols if "capacity" not in text]


def _draw_transfers(axes: Axes, scene: Scene, keys: MessageKeys, number: int) -> None:
    """Draw the links, the arrows of a step (from 1), their labels and the nodes."""
    step = keys.schedule.steps[number - 1]
    arrows = step_arrows(scene, step, keys.styles(step))
    artists.draw_links(axes, scene, styles.FAINT)
    artists.draw_arrows(axes, scene, arrows, f"step-{number}")
    size = min(6.5, scene.gap / 4)
    if size >= 4.5:
        texts = [keys.label(transfer) for transfer in step]
        for label, _ in arrow_labels(scene, arrows, texts, size):
            artists.draw_text(axes, label, size, "black", boxed=True)
    held = keys.holders(number - 1)
    fill = [styles.HELD if node in held else "white" for node in range(scene.network.nodes)]
    artists.draw_nodes(axes, scene, fill)


def _layer_colour(number: int, count: int) -> str:
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return to_hex(colormaps["cividis_r"](number / max(1, count - 1)))


def _bound_fill(network: Network, bound: BoundPicture) -> list[str]:
    fill = [styles.INSIDE if node in bound.inside else "white" for node in range(network.nodes)]
    for number, layer in enumerate(bound.layers):
        for node in layer:
            fill[node] = _layer_colour(number, len(bound.layers))
    return fill


def _bound_arrows(scene: Scene, bound: BoundPicture) -> list[Arrow]:
    """Return the channels that the bound counts, wider where the weight is higher."""
    index = scene.network.channel_index
    sizes = [scene.network.channels[number].capacity for number in index.values()]
    largest = max(sizes, default=1)
    arrows = []
    for (a, b), weight in sorted(bound.channels.items(), key=lambda item: (item[1], item[0])):
        if (a, b) in index and weight > 0:
            offset = min(2.4, 0.5 * scene.radius) if bound.channels.get((b, a), 0) > 0 else 0.0
            size = scene.network.channels[index[a, b]].capacity
            width = (0.4 + 1.2 * weight) * scene.stroke * artists.line_width(size, largest) / 0.8
            arrows.append(
                Arrow(scene.curve(a, b, offset), styles.COLOURS[1], "solid", min(width, 5.0))
            )
    return arrows


def _bound_legend(bound: BoundPicture) -> Legend:
    from matplotlib.lines import Line2D

    legend: Legend = []
    if bound.inside:
        handle = Line2D([], [], markerfacecolor=styles.INSIDE, markeredgewidth=1.5, **DOT)
        legend.append((handle, "set of nodes"))
    if bound.channels:
        weights = {round(weight, 6) for weight in bound.channels.values() if weight > 0}
        word = "channels counted" if len(weights) == 1 else "channels (wider: higher price)"
        legend.append((Line2D([], [], color=styles.COLOURS[1], linewidth=1.8), word))
    for number in range(len(bound.layers)):
        handle = Line2D([], [], markerfacecolor=_layer_colour(number, len(bound.layers)), **DOT)
        legend.append((handle, f"step {number}" if number else "informed at step 0"))
    return legend


__all__ = ["draw_bound", "draw_network", "draw_step", "draw_steps", "save_figure"]
