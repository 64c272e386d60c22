"""The files of a report: Markdown, one self-contained HTML page, and CSV."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from numbers import Real
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from pandas import DataFrame, Series, isna

from cchybrid.bench.report.plots import plots
from cchybrid.bench.report.sections import Report, shown
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text

LONG_CELL = 50
"""Cells with more characters get a minimum width."""
GOOD = ("better", "optimal", "tighter", "refuted", "infeasible", "yes", "best")
BAD = ("worse", "weaker", "nothing found", "failed", "not run", "no result", "no")
HEADERS = [
    "row", "topology", "collective", "root", "transmitters", "receivers", "switching", "routing",
    "ports", "fail_links", "fail_nodes", "participants", "chunks", "rounds", "steps",
    "lower_bound", "claimed_bound", "gap", "state",
    "proof", "published_steps", "published_lower_bound", "comparable", "place", "source", "note",
    "verdict", "bound_verdict", "published_is_impossible", "seconds_to_best", "seconds", "engine",
    "contestant", "runs", "failures", "story",
]  # fmt: skip
"""The columns of ``report.csv``."""


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
    headers: Sequence[str] = tuple(HEADERS),
    links: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write ``report.md``, ``.csv`` and ``.html`` and further tables; return their paths.

    Parameters
    ----------
    headers
        The columns of ``report.csv``.
    links
        The pages of the rows' schedules, by the row's name, which ``report.html`` links.
    """
    texts = {
        "report.md": _page(report, html=False),
        "report.csv": _csv(report.rows[list(headers)], 3),
        "report.html": _page(report, html=True, links=links),
    }
    if report.records is not None:
        texts["runs.csv"] = _csv(report.records, 3)
    records = {each.file: each.record for each in report.sections if each.record is not None}
    texts |= {name: _csv(record, 4) for name, record in records.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_text(text, folder / name)
    except OSError as error:
        raise _unwritable(folder, str(error.strerror)) from None
    return [folder / name for name in texts]


def _unwritable(folder: Path, why: str) -> InputError:
    return InputError(f"{folder} cannot be written: {why}", where="-o", hint="name another folder")


def _csv(table: DataFrame, digits: int) -> str:
    """Return a table as CSV, rounded by Python, since pandas rounds some values differently."""
    floats = table.select_dtypes(float).map(lambda value: round(value, digits))
    marks = table.select_dtypes(bool).replace({True: "yes", False: "no"})
    rounded = table.assign(**floats, **marks)
    return str(rounded.to_csv(index=False, lineterminator="\n"))


def _page(report: Report, html: bool, links: Mapping[str, str] | None = None) -> str:
    environment = Environment(
        autoescape=html, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"shown": shown, "kind": _kind, "escaped": _escaped}
    environment.tests["numeric"] = _is_numeric
    text = (files("cchybrid.bench.report") / "report.j2").read_text(encoding="utf-8")
    drawn = plots(report.rows, report.runs) if html and len(report.runs) else []
    page = environment.from_string(text).render(
        report=report, html=html, plots=drawn, links=links or {}
    )
    return f"{page.rstrip()}\n"


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
