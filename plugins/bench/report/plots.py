"""The plots of a report, as SVG embedded in a page, whose colours it uses."""

import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from statistics import fmean
from textwrap import fill
from typing import Any

from cycler import cycler
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from pandas import DataFrame, Series, to_numeric

from cchybrid.model.shown import counted
from cchybrid.view import plot

from ..contestant import Contestant
from ..convergence import convergence
from . import statistics

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a6761d", "#56b4e9", "#7570b3", "#808080")
"""Colours of Okabe and Ito, without those invisible on white or on black."""
LINES = cycler(linestyle=("-", "--", "-.", ":")) * cycler(color=COLOURS)
STYLE = {
    **plot.STYLE, "errorbar.capsize": 2, "grid.linewidth": 0.6, "legend.frameon": False,
    "savefig.transparent": True,
}  # fmt: skip
CONVERGENCE_TITLE = (
    "Steps (solid) and bound (dotted) against seconds, in the best of each contestant's runs"
)
MAX_PANELS, MIN_CHANGES = 9, 2
"""Rows in the plot of convergence, and states of a run below which it is not drawn."""
MIN_VALUES = 3
"""Number of values below which an option is not used as an axis."""


def plots(rows: DataFrame, runs: DataFrame) -> list[tuple[str, str]]:
    """Return the title and the SVG of every plot for which there is data."""
    times = statistics.times(runs)
    left_out = ", without those that have no schedule" if rows.infeasible.any() else ""
    of_rows = (
        f", {counted(len(times), 'row')} that all contestants ran{left_out}; medians of all seeds,"
        " runs without success as infinite"
    )
    names = dict(zip(runs.key, runs.contestant, strict=True))
    closed = rows.index[rows.steps.notna() & (rows.proof == "certified")]
    profile = statistics.performance_profile(times) if len(names) > 1 else {}
    kinds: tuple[tuple[str, Mapping[str, Series], str, str, str, float | None], ...] = (
        ("settled", statistics.settled_over_time(times, closed),
         f"Share of rows settled against seconds{of_rows}",
         "seconds to the best schedule, of closed rows", "share of rows", None),
        ("profile", profile, f"Performance profile (Dolan and Moré 2002){of_rows}",
         "time as a factor of the best", "share of rows solved", 1.0),
    )  # fmt: skip
    found, styles = [], _line_styles(runs)
    for name, curves, title, across, upwards, first in kinds:
        if any(map(len, curves.values())):
            labelled = {names[key]: curve for key, curve in curves.items()}
            found.append((title, _staircases(name, labelled, styles, across, upwards, first)))
    if svg := _convergence(runs, _svg):
        found.append((CONVERGENCE_TITLE, svg))
    return found + conflict_plots(statistics.remainders(runs))


def _line_styles(runs: DataFrame) -> dict[str, dict[str, Any]]:
    """Return the colour and the dashes of every contestant, the same in all plots."""
    return dict(zip(sorted(set(runs.contestant)), cycle(LINES), strict=False))


def convergence_pdf(runs: DataFrame) -> bytes:
    """Return the plot of convergence as PDF; empty if no run has improved."""
    return _convergence(runs, _pdf) or b""


def _convergence(runs: DataFrame, save: Callable[..., Any]) -> Any:
    """Draw steps and bound against seconds in the rows that improved most often; "" if none did."""
    styles = _line_styles(runs)
    runs = runs[(runs.failure == "") & ~runs.infeasible & runs.steps.notna() & ~runs.row_is_study]
    runs = runs.sort_values(["steps", "seconds_to_best", "seed"]).drop_duplicates(["row", "key"])
    states = [convergence(*pair) for pair in zip(runs.contributions, runs.lower_bound, strict=True)]
    runs = runs.assign(states=states, changes=[len(each) for each in states])
    longest = runs.groupby("row").changes.max()
    chosen = longest[longest >= MIN_CHANGES].sort_values(ascending=False, kind="stable")
    names = list(chosen.index[:MAX_PANELS])
    if not names:
        return ""
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    there = set(runs.contestant[runs.row.isin(names)])
    labels = [label for label in [*styles][: len(COLOURS)] if label in there]
    with _drawing("convergence", 0.8 + 2.1 * lines, shape=(lines, columns)) as (figure, panels):
        for axes in panels.flat[len(names) :]:
            axes.set_axis_off()
        for axes, name in zip(panels.flat, names, strict=False):
            for run in runs[(runs.row == name) & runs.contestant.isin(labels)].itertuples():
                end = max(run.seconds, run.states[-1].seconds, statistics.MIN_SECONDS)
                ends = [*(max(s.seconds, statistics.MIN_SECONDS) for s in run.states), end]
                color = styles[run.contestant]["color"]
                label = run.contestant if run.contestant not in _labels(figure) else None
                steps = [math.nan if s.steps is None else s.steps for s in run.states]
                bounds = [s.bound for s in run.states]
                line = {"where": "post", "color": color, "label": label, "marker": "o"}
                axes.step(ends, [*steps, steps[-1]], markersize=4, markevery=[-1], **line)
                axes.step(ends, [*bounds, bounds[-1]], where="post", color=color, linestyle=":")
            axes.set_title(fill(name, 32), fontsize=8)
            axes.set_xscale("log")
            axes.tick_params(labelsize=7)
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=6))
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        part = f"; {len(labels)} of {len(there)}" if len(labels) < len(there) else ""
        figure.supxlabel(f"seconds (best run of each contestant{part})", fontsize=9)
        figure.supylabel("steps", fontsize=9)
        return save(figure, "convergence", labels)


def _labels(figure: Any) -> set[str]:
    """Return the labels of the lines that a figure has so far."""
    return {label for axes in figure.axes for label in axes.get_legend_handles_labels()[1]}


def _staircases(
    name: str, curves: Mapping[str, Series], styles: Mapping[str, Mapping[str, Any]],
    across: str, upwards: str, first: float | None,
) -> str:  # fmt: skip
    """Draw step curves over a logarithmic axis from ``first``, by default just below the data."""
    corners = [x for curve in curves.values() for x in curve.index]
    left = min(corners) / 1.25 if first is None else first
    right = max(*corners, left) * 1.25
    decades = math.log10(right / left)
    ticks = LogLocator(subs=(1.0, 2.0, 5.0) if decades < 4 else (1.0,))
    with _drawing(name) as (figure, axes):
        for label, curve in curves.items():
            xs = [left, *(max(x, left) for x in curve.index), right]
            ys = [0.0, *curve, curve.iloc[-1] if len(curve) else 0.0]
            axes.step(xs, ys, where="post", label=label, linewidth=2, **styles[label])
        axes.set(xlabel=across, ylabel=upwards, xscale="log", xlim=(left, right), ylim=(0, 1.02))
        axes.xaxis.set_major_locator(ticks if decades > 0.6 else MaxNLocator(6))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        return _svg(figure, name, [*curves])


def conflict_plots(found: DataFrame) -> list[tuple[str, str]]:
    """Return the title and the SVG of a plot for every conflict study with several contestants."""
    plots = []
    found = found.assign(reach=(found.conflicts_high - found.conflicts_mean).fillna(0.0))
    for index, (row, mine) in enumerate(found.groupby("row", sort=False)):
        if len(mine) > 1:
            axis, name = main_option(mine), f"left{index}"
            svg = _bars(mine, name) if axis is None else _lines(mine, axis, name)
            plots.append((f"Conflicts left: {row}", svg))
    return plots


def main_option(found: DataFrame) -> str | None:
    """Return the option with the largest effect on the mean conflicts.

    Only options that every contestant sets to a number, with several values; ``None`` without any.
    """
    effects = {}
    for name, values in _options(found).items():
        means = found.conflicts_mean.groupby(values).agg(fmean)
        if values.notna().all() and len(means) >= MIN_VALUES:
            effects[name] = max(means) - min(means)
    return max(effects, key=lambda name: (effects[name], name), default=None)


def _options(found: DataFrame) -> DataFrame:
    """Return the numeric options of the contestants with one engine."""
    compared = [(Contestant.from_key(key), statistics.only_engine(key)) for key in found.key]
    settings = [contestant.options.get(engine, {}) for contestant, engine in compared]
    return DataFrame(settings, index=found.index).apply(to_numeric, errors="coerce")


def _lines(found: DataFrame, axis: str, name: str) -> str:
    labels = found.contestant.str.replace(rf" {re.escape(axis)}=\S*", "", regex=True)
    found = found.assign(line=labels, x=_options(found)[axis])
    found = found.drop_duplicates(["line", "x"], keep="last")
    with _drawing(name, 3.6 + 0.12 * labels.nunique()) as (figure, axes):
        axes.set_prop_cycle(LINES)
        for label in labels.unique():
            line = found[found.line == label].sort_values("x")
            axes.errorbar(line.x, line.conflicts_mean, yerr=line.reach, label=label, linewidth=1.6)
        axes.set(xlabel=axis, ylabel="mean conflicts, 95 %")
        axes.set_ylim(bottom=0)
        return _svg(figure, name, labels)


def _bars(found: DataFrame, name: str) -> str:
    bars = found.sort_values("conflicts_mean", ascending=False, kind="stable")
    labels = [fill(label, 40) for label in bars.contestant]
    lines = 1 + max(label.count("\n") for label in labels)
    with _drawing(name, 1 + len(labels) * (0.12 + 0.15 * lines), "x") as (figure, axes):
        axes.barh(labels, bars.conflicts_mean, xerr=bars.reach, color=COLOURS[0], ecolor=COLOURS[1])
        axes.set_xlabel("mean conflicts, 95 %")
        axes.set_xlim(left=0)
        axes.margins(y=0.01)
        return _svg(figure, name)


@contextmanager
def _drawing(
    name: str, height: float = 3.6, grid: str = "both", shape: tuple[int, int] | None = None
) -> Iterator[tuple[Any, Any]]:
    """Yield a figure and its axes in the common style; equal data give equal files.

    With a ``shape``, the axes are an array of this shape.
    """
    settings: Any = {**STYLE, "axes.grid.axis": grid, "svg.hashsalt": f"cchybrid {name}"}
    with rc_context(settings):  # which validates the names
        figure = Figure(figsize=(7, height), layout="constrained")
        if shape is None:
            yield figure, figure.subplots()
        else:
            yield figure, figure.subplots(*shape, squeeze=False)


def _add_legend(figure: Any, labels: Sequence[str]) -> None:
    """Add a legend for the labels, if any."""
    if any(labels):
        columns = max(1, 80 // (8 + max(map(len, labels))))
        figure.legend(loc="outside upper left", ncols=min(4, columns))


def _pdf(figure: Any, name: str, labels: Sequence[str]) -> bytes:
    """Return a figure as a PDF without a date: equal data give equal files."""
    _add_legend(figure, labels)
    file = io.BytesIO()
    figure.savefig(file, format="pdf", metadata={"CreationDate": None})
    return file.getvalue()


def _svg(figure: Any, name: str, labels: Sequence[str] = ()) -> str:
    """Return a figure as an SVG element, with a legend for its labels, if any.

    The element refers to no other file, and its ids are unique within the page.
    """
    _add_legend(figure, labels)
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    svg = file.getvalue()
    for pattern, text in (
        (r"\A.*?(?=<svg)|<metadata>.*?</metadata>", ""),
        (r' xmlns(:\w+)?="[^"]*"', ""),
        ("xlink:href=", "href="),
        (r'(\bid="|href="#|url\(#)', rf"\1{name}-"),
        (r"font-family: [^;\"]*", "font-family: inherit"),
        (r"\*{", "svg *{"),
        ("#000000", "currentColor"),
        (r"[^\S\n]+$", ""),
    ):
        svg = re.sub(pattern, text, svg, flags=re.DOTALL | re.MULTILINE)
    return svg.rstrip("\n")
