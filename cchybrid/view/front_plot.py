"""A plot of networks that trade one cost term for another."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cchybrid.model.errors import InputError

PLOT_SUFFIXES = (".svg", ".png", ".pdf")
COLOUR = "#0072b2"
MAX_LABELS = 12
"""Number of networks up to which each has its values beside its mark."""


def check_plot(path: Path) -> None:
    """Raise an ``InputError`` if no plot can be written: unknown file type, missing matplotlib."""
    if path.suffix not in PLOT_SUFFIXES:
        raise InputError(
            f"the file type {path.suffix or 'of ' + path.name!r} is not known",
            where="--plot",
            hint="use a name that ends in " + ", ".join(PLOT_SUFFIXES),
        )
    if find_spec("matplotlib") is None:
        raise InputError(
            "a plot needs matplotlib", where="--plot", hint="pip install 'cchybrid[report]'"
        )


def plot_front(
    points: Sequence[tuple[float, float]],
    terms: tuple[str, str],
    maximised: tuple[bool, bool],
    title: str,
    path: Path,
) -> None:
    """Write a plot of the values of networks, of which none beats another, in two cost terms.

    Parameters
    ----------
    points
        The values of the networks, from the best to the worst in the first term.
    terms, maximised
        The names of the terms, and whether larger values are better.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    style: Any = {
        "axes.grid": True, "axes.spines.right": False, "axes.spines.top": False, "grid.alpha": 0.3,
        "font.family": "sans-serif", "font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "",
        "text.parse_math": False,
    }  # fmt: skip
    with rc_context(style):
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.add_subplot()
        across, upwards = zip(*points, strict=True)
        # Between two networks none is known: the best possible values are a staircase.
        axes.step(across, upwards, where="post", color=COLOUR, alpha=0.4, linewidth=1.5)
        axes.plot(across, upwards, "o", color=COLOUR, markersize=6)
        if len(points) <= MAX_LABELS:
            for x, y in points:
                axes.annotate(
                    f"{x:.4g}, {y:.4g}", (x, y), xytext=(6, 5), textcoords="offset points",
                    fontsize=8,
                )  # fmt: skip
        axes.margins(0.15)
        for axis, values in ((axes.xaxis, across), (axes.yaxis, upwards)):
            axis.set_major_locator(MaxNLocator(integer=all(map(float.is_integer, values))))
        axes.set_xlabel(_label(terms[0], maximised[0]))
        axes.set_ylabel(_label(terms[1], maximised[1]))
        axes.set_title(title)
        try:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
        except OSError as error:
            raise InputError(
                f"{path} cannot be written: {error.strerror}", where="--plot", hint="name another"
            ) from None


def _label(term: str, maximised: bool) -> str:
    return f"{term} ({'larger' if maximised else 'smaller'} is better)"
