"""A small drawing of a network in characters, for the terminal."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cchybrid.model import Network

if TYPE_CHECKING:
    from rich.console import Console

MAX_NODES = 16
MAX_ROWS = 17
MAX_NAME_LENGTH = 10
"""Nodes, rows and characters of a name, beyond which nothing is drawn."""
MAX_SHARED_CELLS = 1
"""Cells that two links may share: where they cross."""
MAX_CROSSINGS = 6
"""Crossings of links beyond which a drawing is not readable."""
ROWS_PER_UNIT, SLANTED_ROWS_PER_UNIT = (2, 3, 4, 5), (3, 4, 5)
"""Sizes of a drawing: rows between neighbours; the second where links are slanted."""
COLUMNS_PER_ROW = 2.2
"""Height of a character as a multiple of its width, about."""
DEPTH = (0.4, 0.3)
"""Place of a point one unit behind another."""

Cell = tuple[int, int]
"""Row and column."""

LINES = {"-": "─", "|": "│", "/": "╱", "\\": "╲", "+": "┼", "X": "╳"}


def print_sketch(console: Console, network: Network) -> None:
    """Print the drawing of a network on a terminal; elsewhere, and where none fits, nothing."""
    if console.is_terminal:
        lines = sketch(network, console.width, ascii_only=console.options.ascii_only)
        if lines:
            print("\n".join(lines))


def sketch(network: Network, width: int, *, ascii_only: bool = False) -> list[str]:
    """Return the lines of a drawing; none if no readable one fits.

    Links that would run across other nodes, as those around a torus, are drawn as short ends. A
    channel without an opposite one ends in an arrowhead where there is room.

    Parameters
    ----------
    width
        Columns of the terminal.
    ascii_only
        Whether to draw without other characters than those of ASCII.

    Examples
    --------
    >>> from cchybrid.library.topologies import network
    >>> print(*sketch(network("mesh-2x3"), 80, ascii_only=True), sep="\\n")
    0---1---2
    |   |   |
    3---4---5
    """
    names = [network.node_name(node) for node in range(network.nodes)]
    if (
        not 2 <= network.nodes <= MAX_NODES
        or not all(name.isprintable() and name.isascii() for name in names)
        or max(map(len, names)) > MAX_NAME_LENGTH
    ):
        return []
    points = _points(network)
    for rows_per_unit in SLANTED_ROWS_PER_UNIT if _slanted(network, points) else ROWS_PER_UNIT:
        cells = _cells(points, rows_per_unit, max(map(len, names)))
        drawing = None if cells is None else _draw(network, names, cells)
        if drawing is not None:
            lines = _lines(drawing, ascii_only)
            fits = len(lines) <= MAX_ROWS and max(map(len, lines)) <= width
            return lines if fits else []
    return []


def _points(network: Network) -> list[tuple[float, float]]:
    """Return the coordinates of the nodes, with the shortest link as the unit."""
    if network.positions is None:
        from cchybrid.library.topologies.layouts import circle

        places: Sequence[Sequence[float]] = circle(network.nodes)
    else:
        places = network.positions
    points = [
        (p[0] + DEPTH[0] * p[2], p[1] + DEPTH[1] * p[2]) if len(p) == 3 else (p[0], p[1])
        for p in places
    ]
    lengths = (math.dist(points[a], points[b]) for a, b, _ in network.channels)
    unit = min((length for length in lengths if length > 0), default=1.0)
    return [(x / unit, y / unit) for x, y in points]


def _slanted(network: Network, points: Sequence[tuple[float, float]]) -> bool:
    """Return whether some link is neither horizontal nor vertical."""
    return any(
        abs(points[a][0] - points[b][0]) > 1e-6 and abs(points[a][1] - points[b][1]) > 1e-6
        for a, b, _ in network.channels
    )


def _cells(
    points: Sequence[tuple[float, float]], rows_per_unit: int, name_length: int
) -> list[Cell] | None:
    """Return the middle of every name; ``None`` if names would touch."""
    across = round(max(rows_per_unit * COLUMNS_PER_ROW, name_length + 3))
    left, top = min(x for x, _ in points), max(y for _, y in points)
    cells = [
        (round((top - y) * rows_per_unit), round((x - left) * across) + name_length)
        for x, y in points
    ]
    for index, (row, column) in enumerate(cells):
        for other_row, other_column in cells[:index]:
            if row == other_row and abs(column - other_column) < name_length + 2:
                return None
    return cells


def _draw(network: Network, names: Sequence[str], cells: Sequence[Cell]) -> dict[Cell, str] | None:
    """Return the character of every cell that has one, in ASCII; ``None`` if it is confusing."""
    labels: dict[Cell, str] = {}
    owner: dict[Cell, int] = {}
    for node, (row, column) in enumerate(cells):
        start = column - (len(names[node]) - 1) // 2
        for offset, character in enumerate(names[node]):
            labels[row, start + offset] = character
            owner[row, start + offset] = node
    drawing: dict[Cell, str] = {}
    used: dict[Cell, list[int]] = defaultdict(list)
    around: list[tuple[int, int]] = []
    links = sorted({(min(a, b), max(a, b)) for a, b, _ in network.channels})
    for number, (a, b) in enumerate(links):
        line = _line(cells[a], cells[b])
        if any(owner.get(cell, a) not in (a, b) for cell, _ in line):
            around.append((a, b))
            continue
        line = [(cell, character) for cell, character in line if cell not in owner]
        if not line:
            return None
        for cell, character in line:
            used[cell].append(number)
            drawing[cell] = _crossed(drawing.get(cell, character), character)
        _set_arrowhead(network, a, b, line, drawing)
    for a, b in around:
        ends = [_end(cells[a], cells[b], owner), _end(cells[b], cells[a], owner)]
        for end in ends:
            if end is None or end[0] in used:
                return None
            drawing[end[0]] = end[1]
    shared: dict[tuple[int, ...], int] = defaultdict(int)
    for numbers in used.values():
        if len({node for number in numbers for node in links[number]}) < 2 * len(numbers):
            return None  # links of one node, which look like a crossing
        if len(numbers) > 1:
            shared[tuple(numbers)] += 1
    if len(shared) > MAX_CROSSINGS or max(shared.values(), default=0) > MAX_SHARED_CELLS:
        return None
    return drawing | labels


def _line(start: Cell, end: Cell) -> list[tuple[Cell, str]]:
    """Return the cells from one middle to another, each with the character of its slope."""
    rows, columns = end[0] - start[0], end[1] - start[1]
    steps = max(abs(rows), abs(columns))
    path = [
        (start[0] + round(rows * step / steps), start[1] + round(columns * step / steps))
        for step in range(steps + 1)
    ]
    found = []
    for before, cell in zip([path[0], *path], path, strict=False):
        down, right = cell[0] - before[0], cell[1] - before[1]
        slanted = "\\" if down == right else "/"
        straight = "|" if down else "-"
        found.append((cell, slanted if down and right else straight))
    return found


def _crossed(one: str, other: str) -> str:
    """Return the character of a cell through which two links run."""
    if one == other:
        return one
    return "+" if {one, other} == {"-", "|"} else "X"


def _set_arrowhead(
    network: Network, a: int, b: int, line: Sequence[tuple[Cell, str]], drawing: dict[Cell, str]
) -> None:
    """Mark the end of a link that has only one direction."""
    directions = network.channel_index
    if (a, b) in directions and (b, a) in directions:
        return
    forward = (a, b) in directions
    cell, character = line[-1 if forward else 0]
    first, last = (line[0][0], line[-1][0]) if forward else (line[-1][0], line[0][0])
    if character == "-":
        drawing[cell] = ">" if last[1] >= first[1] else "<"
    else:
        drawing[cell] = "v" if last[0] >= first[0] else "^"


def _end(start: Cell, other: Cell, owner: dict[Cell, int]) -> tuple[Cell, str] | None:
    """Return the free cell beside a name on the side away from the other end of its link."""
    row, column = start
    if row == other[0]:
        step = -1 if column < other[1] else 1
        while (row, column) in owner:
            column += step
        return (row, column), "-"
    if column == other[1]:
        row += -1 if row < other[0] else 1
        return None if (row, column) in owner else ((row, column), "|")
    return None


def _lines(drawing: dict[Cell, str], ascii_only: bool) -> list[str]:
    top, left = min(row for row, _ in drawing), min(column for _, column in drawing)
    bottom, right = max(row for row, _ in drawing), max(column for _, column in drawing)
    return [
        "".join(
            _character(drawing.get((row, column), " "), ascii_only)
            for column in range(left, right + 1)
        ).rstrip()
        for row in range(top, bottom + 1)
    ]


def _character(character: str, ascii_only: bool) -> str:
    return character if ascii_only else LINES.get(character, character)
