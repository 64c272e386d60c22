"""A page for the best schedule of every row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from cchybrid.bench.report.reading import Reading
from cchybrid.bench.store import Store
from cchybrid.model import Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.instance import write_text
from cchybrid.plugin.registry import Registry

FOLDER = "pages"
MAX_NAME_LENGTH = 80


def schedule_pages(
    reading: Reading, registry: Registry, draw: Callable[[Schedule], str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the row, the file and the page of the best schedule of every row that has one.

    The best schedule is the one with the fewest steps that was found first. Rows whose network is
    too large for a page are left out.

    Parameters
    ----------
    registry
        Knows the former names of engines in the store.
    draw
        The function that returns the page of a schedule.
    """
    held = reading.runs[(reading.runs.failure == "") & reading.runs.steps.notna()]
    best = held.sort_values(["steps", "seconds_to_best", "key", "seed"]).drop_duplicates("row")
    chosen = set(zip(best.row, best.key, best.seed, strict=True))
    taken: set[str] = set()
    with Store(reading.checked.path) as store:
        for run in store.runs():
            if (run.row, run.contestant.renamed(registry).key, run.seed) in chosen:
                schedule = run.schedule()
                if schedule is None:
                    continue
                try:
                    text = draw(schedule)
                except InputError:  # a network that is too large for a page
                    continue
                yield run.row, f"{FOLDER}/{_file_name(run.row, taken)}", text


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
