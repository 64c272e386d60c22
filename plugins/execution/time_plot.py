"""A plot of simulated times by message size: the schedule, all at once, MPI's collective."""

from pathlib import Path

from cchybrid.view.plot import COLOURS, new_plot

from .simulation import Replay

MARKS, LINES = "os^", ("-", "--", ":")


def plot_times(result: Replay, path: Path) -> None:
    """Write a plot of microseconds by bytes, with logarithmic axes.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    series = [
        ("schedule", [row.schedule for row in result.rows]),
        ("all messages at once", [row.exchange for row in result.rows]),
    ]
    library = [row.library for row in result.rows if row.library is not None]
    if library:
        series.append((f"MPI_{result.library} of SMPI", library))
    sizes = [row.size for row in result.rows]
    with new_plot(path, result.name, "bytes of a message", "microseconds, simulated") as axes:
        for (label, times), colour, mark, line in zip(series, COLOURS, MARKS, LINES, strict=False):
            axes.loglog(sizes, times, line, color=colour, marker=mark, markersize=5, label=label)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            axis.set_minor_formatter(NullFormatter())
        axes.legend(frameon=False)
