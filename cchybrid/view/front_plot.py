"""A plot of answers that trade one value for another."""

from collections.abc import Sequence
from pathlib import Path

from cchybrid.view.plot import COLOURS, new_plot

MAX_LABELS = 12
"""Number of answers up to which each has its values beside its mark."""


def plot_front(
    points: Sequence[tuple[float, float]],
    terms: tuple[str, str],
    maximised: tuple[bool, bool],
    title: str,
    path: Path,
) -> None:
    """Write a plot of the values of answers, of which none beats another, in two terms.

    Parameters
    ----------
    points
        The values of the answers, from the best to the worst in the first term.
    terms, maximised
        The names of the terms, and whether larger values are better.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    from matplotlib.ticker import MaxNLocator

    names = [
        f"{term} ({'larger' if more else 'smaller'} is better)"
        for term, more in zip(terms, maximised, strict=True)
    ]
    with new_plot(path, title, *names) as axes:
        across, upwards = zip(*points, strict=True)
        # Between two answers none is known: the best possible values are a staircase.
        axes.step(across, upwards, where="post", color=COLOURS[0], alpha=0.4, linewidth=1.5)
        axes.plot(across, upwards, "o", color=COLOURS[0], markersize=6)
        if len(points) <= MAX_LABELS:
            for x, y in points:
                axes.annotate(
                    f"{x:.4g}, {y:.4g}", (x, y), xytext=(6, 5), textcoords="offset points",
                    fontsize=8,
                )  # fmt: skip
        axes.margins(0.15)
        for axis, values in ((axes.xaxis, across), (axes.yaxis, upwards)):
            axis.set_major_locator(MaxNLocator(integer=all(map(float.is_integer, values))))
