"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

from importlib.resources import files
from importlib.util import find_spec

from cchybrid.bench.report.columns import Cell, shown
from cchybrid.bench.report.sections import Report
from cchybrid.model.errors import InputError

TEMPLATE = "page.html.j2"
LONG = 50
"""Cells with more characters get room, lest the words stand one below the other."""


def require_extra() -> None:
    """Find out before the work that the packages of the page are missing.

    Raises
    ------
    InputError
        They are; it says how to install them.
    """
    missing = [name for name in ("jinja2", "matplotlib") if find_spec(name) is None]
    if missing:
        raise InputError(
            f"a report needs {' and '.join(missing)}", mend="pip install 'cchybrid[report]'"
        )


def to_html(report: Report) -> str:
    """Return the whole page."""
    from jinja2 import Environment, StrictUndefined

    from cchybrid.bench.report.plots import plots

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = shown
    environment.filters["kind"] = kind
    text = (files("cchybrid.bench.report") / TEMPLATE).read_text(encoding="utf-8")
    page = environment.from_string(text).render(report=report, plots=plots(report))
    return f"{page.rstrip()}\n"


def kind(cell: Cell) -> str:
    """Return the class of a cell, which decides how it looks."""
    if isinstance(cell, (int, float)):
        return "number"
    first = (cell or "").split(",")[0]
    good = ("better", "optimal", "tighter", "refuted", "infeasible", "yes", "best")
    bad = ("worse", "weaker", "nothing found", "failed", "not run", "no result", "no")
    if len(cell or "") > LONG:
        return "long"
    return "good" if first in good else "bad" if first in bad else "text"
