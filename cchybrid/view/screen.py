"""Text for people: wrapped to the terminal, and tables that stay readable where it is narrow."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

from cchybrid.model.text import printable

MIN_COLUMNS = 20
"""Narrower terminals are treated as this wide."""
MIN_TABLE_COLUMNS = 80
"""Below this width, a list is printed as paragraphs instead of a table."""
FILE_COLUMNS = 200
"""Width of a table in a file or a pipe, so that nothing is cut."""


def screen_width() -> int | None:
    """Return the columns of the terminal, or of ``COLUMNS``; ``None`` for a file or a pipe."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return max(MIN_COLUMNS, shutil.get_terminal_size().columns)
    return None


def print_note(text: str) -> None:
    """Print a line about the run on standard error; a live view shows it above itself."""
    print(f"cchybrid: {text}", file=sys.stderr, flush=True)


def wrapped(line: str, width: int | None, indent: str = "  ") -> str:
    """Return a line broken between words into lines of at most ``width`` columns.

    Words that are longer, such as paths, stay whole, so that they can be copied.

    Examples
    --------
    >>> print(wrapped("optimal, found by tabu after 0.2 s", 20))
    optimal, found by
      tabu after 0.2 s
    """
    if width is None or len(line) <= width:
        return line
    start = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=start,
        subsequent_indent=start + indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output, wrapped to the terminal.

    Names in them, such as those of files, cannot break or erase a line.
    """
    width = screen_width()
    for line in lines:
        print(wrapped(printable(line), width))


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; on a narrow terminal a paragraph per row, the other cells below the first."""
    width = screen_width()
    if width is not None and width < MIN_TABLE_COLUMNS:
        for first, *cells in rows:
            print_lines([first])
            named = zip(heads[1:], cells, strict=True)
            print_lines(f"  {head}: {cell}" for head, cell in named if cell)
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*heads, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(printable, row))
    console = Console(highlight=False, markup=False, width=width or FILE_COLUMNS)
    console.print(table)
