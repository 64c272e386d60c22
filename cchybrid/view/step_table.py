"""The papers' table of a schedule, sources by steps: its cells, and as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cchybrid.model import AllReduction, Reduction, Schedule, Transfer

MAX_LETTERS = 88
"""Letters of a line of a LaTeX table; steps that would not fit go to another table."""
MAX_LINES = 45
"""Lines of the longest LaTeX table that is not broken into pages."""
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "-": "-{}", "`": "{`}",
    "'": "{'}", "[": "{[}", "]": "{]}", "*": "{*}", '"': r"{\char34}", ",": ",{}",
}  # fmt: skip
"""LaTeX for characters with a meaning of their own, alone or side by side."""


@dataclass(frozen=True)
class Notation:
    """The signs of a format: how it writes the name of a node, an arrow, and a list of nodes."""

    name: Callable[[str], str]
    arrow: str = "->"


@dataclass(frozen=True)
class StepTable:
    """The transfers of a schedule as text, by sending node and step.

    Parameters
    ----------
    sources
        The names of the sending nodes, in the order of their numbers.
    cells
        Per sending node and step the transfers, sorted by their last node.
    """

    sources: tuple[str, ...]
    cells: tuple[tuple[tuple[str, ...], ...], ...]

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.cells[0]) if self.cells else 0


def printable(text: str) -> str:
    """Return a text without control characters, which could move a terminal's cursor."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


PLAIN = Notation(printable)


def ends(
    schedule: Schedule, transfer: Transfer, notation: Notation = PLAIN, parts: tuple[int, ...] = ()
) -> str:
    """Return the two ends of a transfer, and the origin of its message where it is another node.

    ``4 (0)->7``: node 4 forwards a message of node 0 to node 7. ``2->1 (0)``: node 2 sends its
    part of a reduction to node 0 by node 1. ``4 (0+4)->7``: node 4 sends the sum of the parts of
    the nodes 0 and 4 of an allreduce to node 7; ``4 (all)->7``: the whole sum.
    """
    name = _namer(schedule, notation)
    message = schedule.instance.collective.messages[transfer.message]
    first, last = transfer.path[0], transfer.path[-1]
    text = f"{name(first)}{notation.arrow}{name(last)}"
    if isinstance(message, AllReduction):
        if parts == (first,):
            return text
        whole = len(parts) == len(message.members)
        names = "all" if whole else "+".join(map(name, parts))
        return f"{name(first)} ({names}){notation.arrow}{name(last)}"
    if isinstance(message, Reduction):
        return text if last == message.destination else f"{text} ({name(message.destination)})"
    if first == message.source:
        return text
    return f"{name(first)} ({name(message.source)}){notation.arrow}{name(last)}"


def path_text(schedule: Schedule, transfer: Transfer, notation: Notation = PLAIN) -> str:
    """Return the nodes of a transfer's path, separated by commas."""
    return ",".join(map(_namer(schedule, notation), transfer.path))


def step_table(schedule: Schedule, notation: Notation = PLAIN) -> StepTable:
    """Return the table of all transfers: a row per sending node, a column per step."""
    cells: dict[int, list[list[str]]] = defaultdict(lambda: [[] for _ in schedule.steps])
    for number, step in enumerate(schedule.steps):
        for place, transfer in sorted(enumerate(step), key=lambda entry: entry[1].path[-1]):
            both = ends(schedule, transfer, notation, schedule.parts(number, place))
            text = f"{both} ({path_text(schedule, transfer, notation)})"
            cells[transfer.path[0]][number].append(text)
    name = _namer(schedule, notation)
    return StepTable(
        tuple(name(source) for source in sorted(cells)),
        tuple(tuple(map(tuple, cells[source])) for source in sorted(cells)),
    )


def export_markdown(schedule: Schedule) -> str:
    """Return the table in Markdown: a row per sending node, a column per step."""
    table = step_table(schedule, Notation(_escape_markdown, "→"))
    rows = [
        ["source", *(f"step {number}" for number in range(1, table.steps + 1))],
        ["---"] * (table.steps + 1),
        *([source, *map("<br>".join, row)] for source, row in _rows(table)),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def export_table_csv(schedule: Schedule) -> str:
    """Return the table as CSV: a row per sending node, a column per step."""
    table = step_table(schedule)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["source", *(f"step {number}" for number in range(1, table.steps + 1))])
    writer.writerows([source, *map("; ".join, row)] for source, row in _rows(table))
    return out.getvalue()


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
    title = printable(f"{schedule.instance.name}: {len(schedule.steps)} steps")
    parts = [f"% {title}", rf"% \usepackage{{{packages}}}"]
    for first, last in _blocks(widths):
        if first:
            parts.append("")  # a paragraph of its own: below the table before, not beside it
        parts += _latex_table(table, range(first, last), kind)
    return "\n".join(parts) + "\n"


def escape_latex(text: str) -> str:
    """Return a text as LaTeX that prints it, whatever it contains."""
    return "".join(LATEX.get(letter, letter) for letter in printable(text).replace("\ufffd", "?"))


def _escape_markdown(text: str) -> str:
    text = re.sub(r"([\\`*_{}\[\]<>()#+!|~$^:])", r"\\\1", printable(text))
    return text.replace("&", "&amp;")


def _namer(schedule: Schedule, notation: Notation) -> Callable[[int], str]:
    network = schedule.instance.network
    return lambda node: notation.name(network.node_name(node))


def _rows(table: StepTable) -> Iterable[tuple[str, tuple[tuple[str, ...], ...]]]:
    return zip(table.sources, table.cells, strict=True)


def _widths(table: StepTable) -> list[int]:
    """Return the letters of the widest cell of every step."""
    return [
        max(len(text) for row in table.cells for text in ["step 10", *row[number]])
        for number in range(table.steps)
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
    heads = " & ".join(["source", *(f"step {number + 1}" for number in steps)])
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
