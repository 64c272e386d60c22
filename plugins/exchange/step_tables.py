"""The papers' table of a schedule, sources by steps, as Markdown, LaTeX and CSV."""

import re
from collections.abc import Iterable

from cchybrid.model import Schedule
from cchybrid.model.text import csv_text, printable
from cchybrid.view.latex import escape_latex
from cchybrid.view.step_table import Notation, StepTable, step_table

MAX_LETTERS = 88
"""Letters of a line of a LaTeX table; steps that would not fit go to another table."""
MAX_LINES = 45
"""Lines of the longest LaTeX table that is not broken into pages."""


def export_markdown(schedule: Schedule) -> str:
    """Return the table in Markdown: a row per sending node, a column per step."""
    table = step_table(schedule, Notation(_escape_markdown, "→"))
    rows = [
        ["source", *table.headings],
        ["---"] * (table.steps + 1),
        *([source, *map("<br>".join, row)] for source, row in _rows(table)),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def export_table_csv(schedule: Schedule) -> str:
    """Return the table as CSV: a row per sending node, a column per step."""
    table = step_table(schedule)
    rows = ([source, *map("; ".join, row)] for source, row in _rows(table))
    return csv_text([["source", *table.headings], *rows])


def export_latex(schedule: Schedule) -> str:
    """Return the table in LaTeX with the rules of the package ``booktabs``.

    Steps that would not fit beside each other go to tables of their own, and a table longer than
    a page is broken by the package ``longtable``.
    """
    table = step_table(schedule, Notation(escape_latex, r"$\rightarrow$"))
    widths = _widths(step_table(schedule))
    lines = sum(max(map(len, row)) for row in table.cells)
    kind = "tabular" if lines <= MAX_LINES else "longtable"
    packages = "booktabs" if kind == "tabular" else "booktabs,longtable"
    title = printable(f"{schedule.instance.full_name}: {len(schedule.steps)} steps")
    parts = [f"% {title}", rf"% \usepackage{{{packages}}}"]
    for first, last in _blocks(widths):
        if first:
            parts.append("")  # a paragraph of its own: below the table before, not beside it
        parts += _latex_table(table, range(first, last), kind)
    return "\n".join(parts) + "\n"


def _escape_markdown(text: str) -> str:
    text = re.sub(r"([\\`*_{}\[\]<>()#+!|~$^:])", r"\\\1", printable(text))
    return text.replace("&", "&amp;")


def _rows(table: StepTable) -> Iterable[tuple[str, tuple[tuple[str, ...], ...]]]:
    return zip(table.sources, table.cells, strict=True)


def _widths(table: StepTable) -> list[int]:
    """Return the letters of the widest cell of every step."""
    return [
        max(len(text) for row in table.cells for text in ["step 10", heading, *row[number]])
        for number, heading in enumerate(table.headings)
    ]


def _blocks(widths: list[int]) -> Iterable[tuple[int, int]]:
    """Yield the first and one past the last step of each table."""
    first, used = 0, 0
    for number, width in enumerate(widths):
        if number > first and used + width + 2 > MAX_LETTERS:
            yield first, number
            first, used = number, 0
        used += width + 2
    if widths:
        yield first, len(widths)


def _latex_table(table: StepTable, steps: range, kind: str) -> list[str]:
    """Return the lines of one table."""
    heads = " & ".join(["source", *(table.headings[number] for number in steps)])
    lines = [rf"\begin{{{kind}}}{{@{{}}{'l' * (len(steps) + 1)}@{{}}}}", r"\toprule"]
    lines += [rf"{heads} \\", r"\midrule"]
    if kind == "longtable":
        lines += [r"\endhead", r"\bottomrule", r"\endfoot"]
    for index, (source, row) in enumerate(_rows(table)):
        if index:
            lines.append(r"\addlinespace")
        chosen = [row[number] for number in steps]
        for place in range(max(1, *map(len, chosen))):
            cells = [cell[place] if place < len(cell) else "" for cell in chosen]
            # A star between nodes that hang together: pages are broken between sources.
            more = place + 1 < max(map(len, chosen))
            end = r"\\*" if more and kind == "longtable" else r"\\"
            lines.append(f"{' & '.join([source if not place else '', *cells])} {end}")
    if kind == "tabular":
        lines.append(r"\bottomrule")
    return [*lines, rf"\end{{{kind}}}"]
