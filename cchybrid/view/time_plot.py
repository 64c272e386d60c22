"""A plot of simulated times by message size: the schedule, all at once, MPI's collective."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cchybrid.model.errors import InputError
from cchybrid.run.simulation import Replay
from cchybrid.view.front_plot import check_plot

__all__ = ["check_plot", "plot_times"]

_SERIES = (("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "^", ":"))
"""Colour, mark and line of each."""


def plot_times(result: Replay, path: Path) -> None:
    """Write a plot of microseconds by bytes, with logarithmic axes.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    series = [
        ("schedule", [row.schedule for row in result.rows]),
        ("all messages at once", [row.exchange for row in result.rows]),
    ]
    library = [row.library for row in result.rows if row.library is not None]
    if library:
        series.append((f"MPI_{result.library} of SMPI", library))
    style: Any = {
        "axes.grid": True, "axes.spines.right": False, "axes.spines.top": False, "grid.alpha": 0.3,
        "font.family": "sans-serif", "font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "",
        "text.parse_math": False,
    }  # fmt: skip
    sizes = [row.size for row in result.rows]
    with rc_context(style):
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.add_subplot()
        for (label, times), (colour, mark, line) in zip(series, _SERIES, strict=False):
            axes.loglog(sizes, times, line, color=colour, marker=mark, markersize=5, label=label)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("bytes of a message")
        axes.set_ylabel("microseconds, simulated")
        axes.set_title(result.name)
        axes.legend(frameon=False)
        try:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
        except OSError as error:
            raise InputError(
                f"{path} cannot be written: {error.strerror}", where="--plot", hint="name another"
            ) from None
