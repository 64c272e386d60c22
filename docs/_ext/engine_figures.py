"""Write the page of the engines' figures from the reports.

Run it after a report has changed: ``python docs/_ext/engine_figures.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[1]
ENGINES = sorted(set((DOCS / "engines").glob("*.md")) - {DOCS / "engines" / "README.md"})
PAGE = DOCS / "reports" / "engines.md"
HEAD = """# Engines in the reports

The lines of the reports' tables that name an engine. `python docs/_ext/engine_figures.py` writes \
this page.
"""
TABLES = (
    ("What each engine contributed", "In runs of `auto`, in which the engines share the time:"),
    ("Contestants", "As a contestant, alone or in a team:"),
    ("Conflicts left", "Conflicts left, with a fixed number of steps:"),
    ("Success rates", "Runs that reached the goal of their row, over all rows of a report:"),
)
"""The tables of reports that name engines, and the words above their lines on the page."""


def figures() -> str:
    """Return the text of the page: a section per engine."""
    parts = (f"\n## {page.stem}\n\n{measured(page.stem)}\n" for page in ENGINES)
    return HEAD + "".join(parts)


def measured(engine: str) -> str:
    """Return the section of an engine: its lines of the reports' tables."""
    parts = []
    for title, words in TABLES:
        lines: dict[str, list[str]] = {}
        for report in sorted((DOCS / "reports").glob("*/report.md")):
            for head, line in _lines(report, title, engine):
                link = f"| [{report.parent.name}]({report.parent.name}/report.md) "
                lines.setdefault(f"| report {head}", []).append(link + line)
        for head, found in lines.items():
            rule = re.sub(r"[^|]+", " --- ", head)
            parts.append("\n".join([words, "", head, rule, *found]))
    return "\n\n".join(parts) or "No report has this engine."


def _lines(report: Path, title: str, engine: str) -> Iterator[tuple[str, str]]:
    """Yield the heads of a report's table and a line of it, for each line that names the engine."""
    text = report.read_text(encoding="utf-8")
    table = _table(text, title)
    contestants = {line.split("|")[1].strip() for line in _table(text, "Contestants")[2:]}
    if title == TABLES[0][0] and contestants != {"auto"}:
        return  # the best of several contestants, which share nothing
    if title == TABLES[2][0] and report.parent.name.startswith(("sweep-", "success-", "run-")):
        return  # one engine by its parameters, or rates of success: too many lines
    if title == TABLES[3][0]:
        yield from _rates(table, engine)
        return
    for line in table[2:]:
        cells = [cell.strip() for cell in line.split("|")]
        name = cells[2 if title == TABLES[2][0] else 1]
        if engine in name.split(" ")[0].split("+"):
            yield table[0], line


def _rates(table: list[str], engine: str) -> Iterator[tuple[str, str]]:
    """Yield the head and the lines of a table that adds up success rates by contestant."""
    sums: dict[str, list[int]] = {}
    for line in table[2:]:
        name, _, *numbers = [cell.strip() for cell in line.split("|")][2:7]
        found = sums.setdefault(name, [0, 0, 0, 0])
        for place, number in enumerate((1, *map(int, numbers))):
            found[place] += number
    for name, counts in sums.items():
        if engine in name.split(" ")[0].split("+"):
            cells = " | ".join(map(str, (name, *counts)))
            yield "| contestant | rows | runs | successes | cut off |", f"| {cells} |"


def _table(text: str, title: str) -> list[str]:
    """Return the lines of the table below a heading, heads first; none without it."""
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return re.findall(r"^\|.*\|$", section[1], re.M) if section else []


if __name__ == "__main__":
    PAGE.write_text(figures(), encoding="utf-8")
