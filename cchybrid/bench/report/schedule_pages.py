"""A page for the best schedule of every row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cchybrid.bench.schedule_checks import stored_schedule
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text
from cchybrid.plugin.benchmark import Checked, CheckedSuite
from cchybrid.plugin.registry import Registry

FOLDER = "pages"
MAX_NAME_LENGTH = 80


def schedule_pages(checked: CheckedSuite, registry: Registry) -> Iterator[tuple[str, str, str]]:
    """Yield the row, the file and the page of the best schedule of every row that has one.

    The best schedule is the one with the fewest steps that was found first. Rows whose network is
    too large for a page are left out. The exporter ``html`` makes the pages.
    """
    draw = registry.exporter("html").export
    taken: set[str] = set()
    for row, runs in checked.runs.items():
        held = [run for run in runs if not run.failure and run.found["steps"] is not None]
        if not held:
            continue
        best = min(held, key=_order)
        schedule = stored_schedule(best.run)
        if schedule is not None:
            try:
                text = draw(schedule)
            except InputError:  # a network that is too large for a page
                continue
            yield row, f"{FOLDER}/{_file_name(row, taken)}", text


def _order(run: Checked) -> tuple[Any, ...]:
    found = run.found
    return found["steps"], found["seconds_to_best"], run.run.contestant.key, run.run.seed


def write_page(folder: Path, name: str, text: str) -> None:
    """Write a page to the folder of a report."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(text, path)


def _file_name(row: str, taken: set[str]) -> str:
    """Return a name of a file for a row that no row before has."""
    plain = re.sub(r"[^a-z0-9.]+", "-", row.lower()).strip("-.")[:MAX_NAME_LENGTH] or "row"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    taken.add(name)
    return f"{name}.html"
