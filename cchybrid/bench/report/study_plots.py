"""Plots of conflict studies: conflicts by the option that matters most, or a bar per contestant."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from textwrap import fill

from cchybrid.bench.report.drawing import COLOURS, STYLES, drawing, svg_of
from cchybrid.bench.report.studies import Remainder

LEAST_VALUES = 3
"""An option with fewer values makes no axis."""

Points = dict[float, Remainder]


def conflict_plots(found: Sequence[Remainder]) -> list[tuple[str, str]]:
    """Return the title and the SVG of a plot for every row with several contestants."""
    plots = []
    for index, row in enumerate(dict.fromkeys(left.row for left in found)):
        mine = [left for left in found if left.row == row]
        if len(mine) < 2:
            continue
        axis = main_option(mine)
        draw = _bars(mine, f"left{index}") if axis is None else _lines(mine, axis, f"left{index}")
        plots.append((f"Conflicts left: {row}", draw))
    return plots


def main_option(found: Sequence[Remainder]) -> str | None:
    """Return the option whose values, over all others, change the conflicts most.

    ``None`` if there is none that every contestant sets, to a number, with several values.
    """
    effects: dict[str, float] = {}
    for option in _options(found[0]):
        groups: dict[float, list[float]] = {}
        for left in found:
            value = _number(_options(left).get(option, ""))
            if value is None:
                break
            groups.setdefault(value, []).append(left.conflicts.value)
        else:
            means = [fmean(values) for values in groups.values()]
            if len(groups) >= LEAST_VALUES:
                effects[option] = max(means) - min(means)
    return max(effects, key=lambda option: (effects[option], option), default=None)


def _lines(found: Sequence[Remainder], axis: str, name: str) -> str:
    lines: dict[str, Points] = {}
    for left in found:
        words = left.label.split()
        label = " ".join(word for word in words if not word.startswith(f"{axis}="))
        lines.setdefault(label, {})[float(_options(left)[axis])] = left
    with drawing(name, 3.6 + 0.12 * len(lines)) as (figure, axes):
        for index, (label, points) in enumerate(lines.items()):
            places = sorted(points)
            axes.errorbar(
                places,
                [points[place].conflicts.value for place in places],
                yerr=[_reach(points[place]) for place in places],
                label=label,
                color=COLOURS[index % len(COLOURS)],
                linestyle=STYLES[index // len(COLOURS) % len(STYLES)],
                linewidth=1.6,
                capsize=2,
            )
        axes.set_xlabel(axis)
        axes.set_ylabel("mean conflicts, 95 %")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3, linewidth=0.6)
        return svg_of(figure, name, lines)


def _bars(found: Sequence[Remainder], name: str) -> str:
    ordered = sorted(found, key=lambda left: -left.conflicts.value)
    labels = [fill(left.label, 40) for left in ordered]
    lines = 1 + max(label.count("\n") for label in labels)
    with drawing(name, 1 + len(labels) * (0.12 + 0.15 * lines)) as (figure, axes):
        axes.barh(
            labels,
            [left.conflicts.value for left in ordered],
            xerr=[_reach(left) for left in ordered],
            color=COLOURS[0],
            ecolor=COLOURS[1],
            capsize=2,
        )
        axes.set_xlabel("mean conflicts, 95 %")
        axes.set_xlim(left=0)
        axes.margins(y=0.01)
        axes.grid(alpha=0.3, linewidth=0.6, axis="x")
        return svg_of(figure, name)


def _reach(left: Remainder) -> float:
    interval = left.conflicts.interval
    return 0.0 if interval is None else interval[1] - left.conflicts.value


def _options(left: Remainder) -> dict[str, str]:
    """Return the options of a contestant that is one engine."""
    engines = left.contestant.engines or ()
    return dict(left.contestant.options.get(engines[0], {})) if len(engines) == 1 else {}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
