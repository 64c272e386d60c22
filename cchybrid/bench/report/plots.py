"""The plots of a report, as SVG that stands inside a page and takes its colours from there."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from typing import Any

from cchybrid.bench.report.sections import Report
from cchybrid.bench.report.statistics import Curve, performance_profile, settled_over_time

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a6761d", "#56b4e9", "#7570b3", "#808080")
"""Of Okabe and Ito, without those that vanish on white or on black."""
STYLES = ("-", "--", "-.", ":")


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
    return found


def _named(curves: Mapping[str, Curve], report: Report) -> dict[str, Curve]:
    return {report.names[key]: curve for key, curve in curves.items()}


def _draw(
    name: str, curves: Mapping[str, Curve], across: str, upwards: str, first: float | None = None
) -> str:
    """Draw staircases over a logarithmic axis, which begins at ``first`` or just below the data."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    corners = [x for curve in curves.values() for x, _ in curve]
    left = min(corners) / 1.25 if first is None else first
    right = max(max(corners), left) * 1.25
    settings: Any = {  # the names are checked by matplotlib
        "svg.hashsalt": f"cchybrid {name}",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.parse_math": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with rc_context(settings):
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        axes = figure.subplots()
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
        columns = max(1, 80 // (8 + max(map(len, curves))))
        figure.legend(loc="outside upper left", ncols=min(4, columns), frameon=False)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return embedded(file.getvalue(), name)


def embedded(svg: str, name: str) -> str:
    """Return an SVG file as an element of an HTML page, which needs no address from anywhere.

    Parameters
    ----------
    name
        Stands before every id, so that the plots of a page do not share any.
    """
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href=", "href=")
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg).replace("url(#", f"url(#{name}-")
    svg = re.sub(r"font-family: [^;\"]*", "font-family: inherit", svg)
    svg = svg.replace("*{", "svg *{").replace("#000000", "currentColor")
    return "\n".join(line.rstrip() for line in svg.splitlines())
