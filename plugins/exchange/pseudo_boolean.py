"""The pseudo-Boolean formula "there is a schedule of at most S steps", as an OPB file.

Variables are 0 or 1:

- ``("path", m, v, p, t)``: node v receives message m in step t over path p;
- ``("has", m, v, t)``: node v has message m after step t.

The rows are those of the time-expanded relaxation (``cchybrid/proof/relaxation.py``)
with every column replaced by the sum of the paths that it counts, so that the flow over a channel
is the number of paths that pass it. Rows that hold for all values are left out, and rows on what a
node sends only if it has it are there for the first channels of its paths; others are added if a
proof needs them. A row ``receipts`` per message and receiver, "at most one", is added. Every valid
schedule of at most S steps satisfies all rows, and all values that satisfy them are a schedule.

References
----------
O. Roussel and V. Manquinho, "Input/output format and solver requirements for the competitions of
pseudo-Boolean solvers", 2012: the format OPB.
"""

from collections.abc import Iterator
from itertools import pairwise

from cchybrid.checker.instance import TooLargeError
from cchybrid.checker.routes import Path, allowed_paths
from cchybrid.proof.contradiction import Column, Key, Row
from cchybrid.proof.relaxation import ANY_SENDER, Relaxation

from .claim import Claim

MAX_TERMS = 5_000_000
"""Terms of all rows; larger formulas are refused to limit memory and time."""

Terms = dict[int, int]
"""Coefficients by the number of the variable."""
Content = tuple[tuple[tuple[int, int], ...], int]


class PathFormula:
    """The rows of one instance and one number of steps.

    Attributes
    ----------
    relaxation
        The rows with columns, by which those with variables are made.
    number
        The number of the variable of every name, from 1.
    rows
        Per row its key, its terms and its right side ("at least"); the row at index i has the
        number i + 1.
    paths
        The paths by message and receiver.
    """

    def __init__(self, claim: Claim) -> None:
        network = claim.network
        self.claim = claim
        self.relaxation = Relaxation(network, claim.steps)
        self.number: dict[Column, int] = {}
        self.rows: list[tuple[Key, Terms, int]] = []
        self.paths: dict[tuple[int, int], list[Path]] = {}
        self._counted: dict[Column, list[int]] = {}
        self._number_of: dict[Content, int] = {}
        self._numbers: dict[Key, int | None] = {}
        self._terms_left = MAX_TERMS
        self._name_variables()
        for message, node in self.paths:
            self.add(("receipts", message, node), self._receipts(message, node), -1)
        for key in filter(_is_needed, self.relaxation.all_keys()):
            self.row_number(*key)

    def _name_variables(self) -> None:
        relaxation = self.relaxation
        network, steps = relaxation.network, range(1, relaxation.steps + 1)
        allowed = allowed_paths(network)
        for message in range(len(network.messages)):
            for node in relaxation.receivers(message):
                senders = [u for u in relaxation.holders(message) if u != node]
                paths = [path for u in senders for path in allowed.get((u, node), [])]
                self.paths[message, node] = paths
                for t in steps:
                    self._variable("has", message, node, t)
                    for path in paths:
                        self._count(message, node, path, t)

    def _count(self, m: int, v: int, path: Path, t: int) -> None:
        """Name the variable of a path, and add it to the columns that count it."""
        number, u = self._variable("path", m, v, path, t), path[0]
        columns: list[Column] = [("sends", m, u, t), ("starts", m, u, path[1], t)]
        for sender in (u, ANY_SENDER):
            columns.append(("gets", m, sender, v, t))
            columns += [("flow", m, sender, a, b, t) for a, b in pairwise(path)]
        for column in columns:
            self._counted.setdefault(column, []).append(number)

    def _variable(self, *name: object) -> int:
        self._terms_left -= 1
        if self._terms_left < 0:
            raise TooLargeError("a formula of more terms than fit into memory")
        return self.number.setdefault(name, len(self.number) + 1)

    def _receipts(self, message: int, node: int) -> Terms:
        steps = range(1, self.relaxation.steps + 1)
        paths = self.paths[message, node]
        return {self.number["path", message, node, path, t]: -1 for t in steps for path in paths}

    def variables(self, column: Column) -> list[int]:
        """Return the variables whose sum is the value of a column of the relaxation."""
        if column[0] == "has":
            return [self.number[column]]
        return self._counted.get(column, [])

    def translated(self, row: Row) -> tuple[Terms, int]:
        """Return a row of the relaxation over any routing or the instance's, with variables."""
        terms: Terms = {}
        for column, factor in row[0].items():
            for number in self.variables(column):
                terms[number] = terms.get(number, 0) + factor
        return {number: factor for number, factor in terms.items() if factor}, row[1]

    def row_number(self, *key: object) -> int | None:
        """Return the number of the row with a key; ``None`` if it holds for all values."""
        if key not in self._numbers:
            self.add(key, *self.translated(self.relaxation.row(key)))
        return self._numbers[key]

    def add(self, key: Key, terms: Terms, side: int) -> int | None:
        """Add a row unless it is there or holds for all values; return its number."""
        content = tuple(sorted(terms.items())), side
        if side <= 0 and all(factor >= 0 for factor in terms.values()):
            self._numbers[key] = None
        elif content in self._number_of:
            self._numbers[key] = self._number_of[content]
        else:
            self._terms_left -= len(terms) + 1
            if self._terms_left < 0:
                raise TooLargeError("a formula of more terms than fit into memory")
            self.rows.append((key, terms, side))
            self._numbers[key] = self._number_of[content] = len(self.rows)
        return self._numbers[key]

    def lines(self) -> Iterator[str]:
        """Yield the lines of the OPB file; comments say what every variable and row is."""
        yield f"* #variable= {len(self.number)} #constraint= {len(self.rows)}"
        for line in self.claim.heading(self.claim.network):
            yield f"* {line}"
        for name, number in self.number.items():
            yield f"* x{number}: {_variable_text(name)}"
        for number, (key, terms, side) in enumerate(self.rows, 1):
            yield f"* row {number}: {_row_text(key)}"
            yield f"{opb(terms)} >= {side} ;"


def opb(terms: Terms) -> str:
    """Return the left side of a row as it is written in OPB files."""
    return " ".join(f"{factor:+d} x{number}" for number, factor in terms.items())


def _is_needed(key: Key) -> bool:
    """Return whether a row does not follow from others: of ``own`` those of the first channel."""
    kind, *place = key
    return kind not in ("once", "own") or place[1] in (ANY_SENDER, place[2])


def _variable_text(name: Column) -> str:
    kind, message, node, *more, step = name
    if kind == "has":
        return f"node {node} has message {message} after step {step}"
    path = "-".join(map(str, more[0]))
    return f"node {node} receives message {message} in step {step} over path {path}"


def _row_text(key: Key) -> str:
    kind, *place = key
    if kind == "own" and place[1] == ANY_SENDER:
        place[1] = place[2]
    return _ROWS[kind].format(*place)


_ROWS = {
    "receipts": "node {1} receives message {0} at most once",
    "goal": "node {1} has message {0} after the last step",
    "grow": "node {1} has message {0} after step {2} only if it had it before or receives it then",
    "hold": "node {1} sends message {0} in step {2} only if it has it, and no more than it can",
    "own": "node {1} sends message {0} over channel {2}-{3} in step {4} only if it has it",
    "sent": "what node {1} sends of message {0} to node {2} up to step {3}, it had before",
    "once": "node {2} receives message {0} from node {1} in step {3} only if that node has it",
    "channel": "the messages over channel {0}-{1} in step {2} are not above its capacity",
    "inject": "the messages that node {0} sends in step {1} are not above its ports",
    "accept": "the messages that node {0} receives in step {1} are not above its ports",
}
"""The meanings of the rows, with the numbers of their keys; rows of other kinds always hold."""
