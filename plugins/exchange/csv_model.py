"""The communication model that the rows of a CSV file state."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from cchybrid.model import CommunicationModel
from cchybrid.model.communication import Routing, Switching
from cchybrid.model.errors import InputError, with_context

MODEL_COLUMNS = ("switching", "routing", "inject", "accept")
"""Columns with one value for the whole file."""

Stated = tuple[int, int, Mapping[str, str]]
"""The line of a row, its step from 0, and its fields by column."""


def stated_model(rows: Sequence[Stated], switching: str, combines: bool) -> CommunicationModel:
    """Return the model of rows; without columns of it any routing, all ports, one round a step.

    Parameters
    ----------
    rows
        All rows.
    switching
        The switching where no column states it.
    combines
        Whether the schedule is one of reductions, whose rounds are counted from the last step.

    Raises
    ------
    InputError
        Rows contradict each other, or a value is none; with the line.
    """
    first, _, fields = rows[0]
    for column in MODEL_COLUMNS:
        for line, _, other in rows:
            _refuse_other(column, (first, fields.get(column, "")), (line, other.get(column, "")))
    found = {column: fields.get(column, "") for column in MODEL_COLUMNS}
    switching = found["switching"] or switching
    routing = found["routing"] or ("any" if switching == "wormhole" else "minimal")
    rounds = _rounds(rows)
    with with_context(f"line {first}"):
        return CommunicationModel(
            cast(Switching, switching),  # the constructor refuses other words
            _whole(found["inject"], "inject", first),
            _whole(found["accept"], "accept", first),
            int(routing) if routing.isascii() and routing.isdecimal() else cast(Routing, routing),
            rounds[::-1] if combines else rounds,
        )


def _rounds(rows: Iterable[Stated]) -> tuple[int, ...]:
    """Return the rounds of every step; none if no row states them."""
    stated: dict[int, tuple[int, str]] = {}
    for line, step, fields in rows:
        text = fields.get("rounds", "")
        _refuse_other("rounds", stated.setdefault(step, (line, text)), (line, text))
    if not any(text for _, text in stated.values()):
        return ()
    found = []
    for step in range(max(stated) + 1):
        line, text = stated.get(step, (0, ""))
        number = _whole(text, "rounds", line)
        if number is None:
            raise InputError(
                f"step {step + 1} states no rounds, and other steps do",
                where=f"line {line}" if line else "rounds",
                hint="state the rounds of every step, from 1 on",
            )
        found.append(number)
    return tuple(found)


def _refuse_other(column: str, first: tuple[int, str], other: tuple[int, str]) -> None:
    if first[1] != other[1]:
        scope = "for all rows of a step" if column == "rounds" else "for all rows"
        raise InputError(
            f"{column} is {other[1][:40]!r}, and {first[1][:40]!r} in line {first[0]}",
            where=f"line {other[0]}",
            hint=f"state one value {scope}",
        )


def _whole(text: str, column: str, line: int) -> int | None:
    """Return a whole number; of no text ``None``."""
    if not text:
        return None
    if re.fullmatch(r"[0-9]{1,40}", text, re.ASCII) is None:
        raise InputError(
            f"{column} is {text[:40]!r}", where=f"line {line}", hint="use a whole number"
        )
    return int(text)


def is_ambiguous(name: str) -> bool:
    """Return whether the name of a node is also a sum, a path, or the end of a reduction."""
    return "+" in name or "->" in name or name.startswith("to ")
