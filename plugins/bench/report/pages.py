"""The files of a report: Markdown, one self-contained HTML page, and CSV."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from numbers import Real
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from pandas import DataFrame, Series, isna

from cchybrid.model.errors import InputError
from cchybrid.model.instance import make_folder, write_bytes
from cchybrid.plugin.benchmark_report import Report, Table
from cchybrid.view.latex import escape_latex

from .cells import shown

LONG_CELL = 50
"""Cells with more characters get a minimum width."""
GOOD = ("better", "optimal", "tighter", "refuted", "infeasible", "yes", "lowest mean")
BAD = ("worse", "weaker", "nothing found", "failed", "not run", "no result", "no schedule", "no")


def check_folder(folder: Path) -> None:
    """Raise an ``InputError`` if nothing can be written to a folder."""
    try:
        place = next(place for place in (folder, *folder.parents) if place.exists())
    except OSError as error:
        raise _unwritable(folder, str(error.strerror)) from None
    if not place.is_dir():
        raise _unwritable(folder, f"{place} is no folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise _unwritable(folder, "permission denied")


def write_report(
    report: Report,
    folder: Path,
    title: str,
    commands: Sequence[str],
    links: Mapping[str, str] | None = None,
    more: Mapping[str, bytes] | None = None,
) -> list[Path]:
    """Write ``report.md``, ``.csv`` and ``.html`` and further tables; return their paths.

    Parameters
    ----------
    more
        Further files by name.
    commands
        The commands that made the store, and the one that writes the report.
    links
        The pages of the rows' schedules, by the row's name, which ``report.html`` links.
    """
    sections = [replace(each, table=_framed(each.table)) for each in report.sections]
    context = {"title": title, "commands": commands, "facts": report.facts, "sections": sections}
    texts = {
        "report.md": rendered("report.j2", html=False, **context),
        "report.csv": _csv(DataFrame(report.table, columns=[*report.columns]), 3),
        "report.html": rendered(
            "report.j2", html=True, plots=report.plots(), links=links or {}, **context
        ),
    }
    records = {each.file: _framed(each.record) for each in report.sections}
    texts |= {name: _csv(record, 4) for name, record in records.items() if record is not None}
    contents = {name: text.encode() for name, text in texts.items()} | dict(more or {})
    make_folder(folder)
    for name, content in contents.items():
        write_bytes(content, folder / name)
    return [folder / name for name in contents]


def _framed(table: Table | None) -> DataFrame | None:
    """Return a table; ``None`` for a list without lines."""
    empty = table is None or (isinstance(table, list) and not table)
    return None if empty else DataFrame(table)


def _unwritable(folder: Path, why: str) -> InputError:
    return InputError(f"{folder} cannot be written: {why}", where="-o", hint="name another folder")


def _csv(table: DataFrame, digits: int) -> str:
    """Return a table as CSV, rounded by Python, since pandas rounds some values differently."""
    floats = table.select_dtypes(float).map(lambda value: round(value, digits))
    marks = table.select_dtypes(bool).replace({True: "yes", False: "no"})
    rounded = table.assign(**floats, **marks)
    return str(rounded.to_csv(index=False, lineterminator="\n"))


def rendered(template: str, **context: Any) -> str:
    """Return the text of a template of this folder; ``html`` says whether values are escaped."""
    environment = Environment(
        autoescape=context["html"], undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "shown": shown, "kind": _kind, "escaped": _escaped, "latex": escape_latex,
    }  # fmt: skip
    environment.tests["numeric"] = _is_numeric
    text = (files(__package__) / template).read_text(encoding="utf-8")
    return f"{environment.from_string(text).render(context).rstrip()}\n"


def _escaped(text: str) -> str:
    """Return text with the special characters of Markdown escaped."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))


def _is_numeric(column: Series) -> bool:
    """Return whether a column holds only numbers, so that it is aligned right."""
    return all(isinstance(cell, Real) or isna(cell) for cell in column)


def _kind(cell: Any) -> str:
    """Return the CSS class of a cell."""
    if not isinstance(cell, str):
        return "text" if isna(cell) else "number"
    if len(cell) > LONG_CELL:
        return "long"
    first = cell.split(",")[0]
    return "good" if first in GOOD else "bad" if first in BAD else "text"
