"""Plots of values in a file, in one style; figures, which a plugin draws."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cchybrid.model.errors import InputError
from cchybrid.model.instance import expect_suffix
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.view.extras import require_packages

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".svg", ".png", ".pdf")
COLOURS = ("#0072b2", "#d55e00", "#009e73")
STYLE: Any = {
    "axes.grid": True, "axes.spines.right": False, "axes.spines.top": False, "grid.alpha": 0.3,
    "font.family": "sans-serif", "font.size": 10, "pdf.fonttype": 42, "svg.fonttype": "none",
    "svg.hashsalt": "", "text.parse_math": False,
}  # fmt: skip


def check_plot(path: Path | None) -> None:
    """Raise an ``InputError`` if no plot can be written: unknown file type, missing matplotlib."""
    if path is None:
        return
    expect_suffix(path, SUFFIXES, "--plot")
    require_packages("a plot", "matplotlib", where="--plot")


def draw(*values: Any) -> Any:
    """Return the figure of a network or a schedule by the function that a plugin registers."""
    info = load_registry().names.get("draw")
    if info is None:
        raise InputError("no plugin draws figures", hint="install one with the Python name draw")
    return load_target(info.target)(*values)


@contextmanager
def new_plot(path: Path, title: str, across: str, upwards: str) -> "Iterator[Axes]":
    """Yield the axes of a plot, with its title and the names of both axes; then write the file.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.4), layout="constrained")
        axes = figure.add_subplot(title=title, xlabel=across, ylabel=upwards)
        yield axes
        try:
            figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else {})
        except OSError as error:
            raise InputError(
                f"{path} cannot be written: {error.strerror}", where="--plot", hint="name another"
            ) from None
