"""The plots of a report: what was settled by when, who was how much faster, what is left."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cchybrid.bench.report.drawing import COLOURS, STYLES, drawing, svg_of
from cchybrid.bench.report.sections import Report
from cchybrid.bench.report.statistics import Curve, performance_profile, settled_over_time
from cchybrid.bench.report.studies import remainders
from cchybrid.bench.report.study_plots import conflict_plots


def plots(report: Report) -> list[tuple[str, str]]:
    """Return the title and the SVG of every plot for which there is data."""
    contestants = report.reading.contestants
    found = []
    settled = settled_over_time(report.standings, contestants)
    if any(settled.values()):
        title = "Share of rows settled against seconds"
        axes = ("seconds to the best schedule, of closed rows", "share of rows")
        found.append((title, _draw("settled", _named(settled, report), *axes)))
    if len(contestants) > 1:
        profile = performance_profile(report.standings, contestants)
        if any(profile.values()):
            title = "Performance profile (Dolan and Moré 2002)"
            axes = ("time as a factor of the best", "share of rows solved")
            svg = _draw("profile", _named(profile, report), *axes, first=1.0)
            found.append((title, svg))
    found += conflict_plots(remainders(report.standings, contestants, report.names))
    return found


def _named(curves: Mapping[str, Curve], report: Report) -> dict[str, Curve]:
    return {report.names[key]: curve for key, curve in curves.items()}


def _draw(
    name: str, curves: Mapping[str, Curve], across: str, upwards: str, first: float | None = None
) -> str:
    """Draw staircases over a logarithmic axis, which begins at ``first`` or just below the data."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    corners = [x for curve in curves.values() for x, _ in curve]
    left = min(corners) / 1.25 if first is None else first
    right = max(max(corners), left) * 1.25
    with drawing(name) as (figure, axes):
        for index, (label, curve) in enumerate(curves.items()):
            share = curve[-1][1] if curve else 0.0
            xs = [left, *(max(x, left) for x, _ in curve), right]
            ys = [0.0, *(y for _, y in curve), share]
            axes.step(
                xs,
                ys,
                where="post",
                label=label,
                color=COLOURS[index % len(COLOURS)],
                linestyle=STYLES[index // len(COLOURS) % len(STYLES)],
                linewidth=2,
            )
        axes.set_xscale("log")
        decades = math.log10(right / left)
        each = (1.0, 2.0, 5.0) if decades < 4 else (1.0,)
        axes.xaxis.set_major_locator(LogLocator(subs=each) if decades > 0.6 else MaxNLocator(6))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlim(left, right)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(across)
        axes.set_ylabel(upwards)
        axes.grid(alpha=0.3, linewidth=0.6)
        return svg_of(figure, name, curves)
