"""Style of the figures: sizes for papers, colours for all eyes, text, and files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_bytes
from cchybrid.view.extras import require_packages

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMN, PAGE, MAX_HEIGHT = 245.0, 504.0, 648.0
"""Widths of a column and of a page of a paper, and the largest height, in points (1/72 inch)."""
FONT, SMALL = 8.0, 7.0
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#a6761d", "#000000")
"""Colours of Okabe and Ito, with brown instead of the yellow that is too light for lines."""
LINES: tuple[Any, ...] = ("solid", (0, (3.5, 1.2)), (0, (1.1, 1.0)))
"""Line styles, which multiply the colours."""
HALF_DUPLEX: Any = (0, (4, 2))
LINK, FAINT, DARK, INSIDE, HELD = "#7a7a7a", "#cfcfcf", "#333333", "#fde0b8", "#bfe3f5"
STYLE: Any = {
    "axes.linewidth": 0.6, "axes.labelsize": FONT, "axes.titlesize": FONT,
    "figure.facecolor": "white", "font.family": "sans-serif", "font.size": FONT,
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"], "legend.fontsize": SMALL,
    "legend.frameon": False, "pdf.fonttype": 42, "savefig.facecolor": "white",
    "svg.fonttype": "none", "svg.hashsalt": "cchybrid",
    "text.hinting": "none", "text.parse_math": False,
    "xtick.labelsize": SMALL, "xtick.major.size": 2, "xtick.major.width": 0.6,
    "ytick.labelsize": SMALL, "ytick.major.size": 2, "ytick.major.width": 0.6,
}  # fmt: skip
SUFFIXES = (".svg", ".pdf", ".png")
METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
MAX_LETTERS = 24


@contextmanager
def drawing() -> Iterator[None]:
    """Put the style of all figures in force; raise an ``InputError`` without matplotlib."""
    require_packages("a figure", "matplotlib")
    from matplotlib import rc_context

    with rc_context(STYLE):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of a size in points."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 72, height / 72))


def axes_at(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return axes at a place of a figure; all lengths are in points."""
    across, tall = figure.get_size_inches() * 72
    return figure.add_axes((left / across, bottom / tall, width / across, height / tall))


def panel(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return axes without frame whose coordinates are points from their own lower left corner."""
    axes = axes_at(figure, left, bottom, width, height)
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return axes


def save_figure(figure: Figure, path: str | Path, dpi: float = 300) -> None:
    """Write a figure as SVG, PDF or PNG, by the suffix of the path.

    Equal figures give equal files; text stays text in SVG and PDF.

    Parameters
    ----------
    dpi
        Pixels per inch of a PNG file.

    Raises
    ------
    InputError
        Another suffix, or a file that cannot be written.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"the file type {path.suffix or 'of ' + path.name!r} is not known",
            where=str(path),
            hint="use a name that ends in " + ", ".join(SUFFIXES),
        )
    write_bytes(figure_bytes(figure, suffix, dpi=dpi), path)


def figure_bytes(figure: Figure, suffix: str, *, dpi: float = 300) -> bytes:
    """Return the content of the file of a figure; ``suffix`` is one of ``SUFFIXES``."""
    file = io.BytesIO()
    with drawing(), warnings.catch_warnings():
        # Names may have letters that the font of PDF and PNG lacks; a box stands for them.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(file, format=suffix[1:], dpi=dpi, metadata=METADATA.get(suffix, {}))
    return file.getvalue()


def shown(text: str) -> str:
    """Return a text that fits into a figure: printable, and not too long."""
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"


@lru_cache(maxsize=4096)
def text_width(text: str, size: float = 1.0) -> float:
    """Return the width of a text in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        font = FontProperties(family="DejaVu Sans", size=10)
        width = text_to_path.get_text_width_height_descent(text, font, False)[0]
    return float(width) * size / 10


def line_of(number: int) -> tuple[str, Any]:
    """Return the colour and the line style of a number; they repeat after 24."""
    return COLOURS[number % len(COLOURS)], LINES[number // len(COLOURS) % len(LINES)]
