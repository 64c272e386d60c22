"""Drawing: figures as SVG that stands inside a page and takes its colours from there."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a6761d", "#56b4e9", "#7570b3", "#808080")
"""Of Okabe and Ito, without those that vanish on white or on black."""
STYLES = ("-", "--", "-.", ":")


@contextmanager
def drawing(name: str, height: float = 3.6) -> Iterator[tuple[Any, Any]]:
    """Give a figure and its axes, in the style of all plots.

    Parameters
    ----------
    name
        Of the plot; the same name and data give the same file.
    height
        In inches; all plots are 7 wide.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

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
        figure = Figure(figsize=(7, height), layout="constrained")
        yield figure, figure.subplots()


def svg_of(figure: Any, name: str, labels: Iterable[str] = ()) -> str:
    """Return a figure as an element of a page, with a legend for its labels, if any."""
    widest = max(map(len, labels), default=0)
    if widest:
        columns = max(1, 80 // (8 + widest))
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
