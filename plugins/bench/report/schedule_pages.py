"""A page for the best schedule of every row."""

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from cchybrid.model.errors import InputError
from cchybrid.model.instance import make_folder, write_text
from cchybrid.plugin.benchmark import Checked, CheckedSuite
from cchybrid.plugin.registry import Registry

from ..schedule_checks import stored_schedule

FOLDER = "pages"
MAX_NAME_LENGTH = 80


def write_pages(checked: CheckedSuite, registry: Registry, folder: Path) -> dict[str, str]:
    """Write a page for the best schedule of every row that has one; return the files by row.

    The best schedule is the one with the fewest steps that was found first. Rows whose network is
    too large for a page are left out. The exporter ``html`` makes the pages.
    """
    draw = registry.exporter("html").export
    links: dict[str, str] = {}
    for row in checked.rows:
        runs = checked.runs[row.name]
        held = [run for run in runs if not run.failure and run.found["steps"] is not None]
        schedule = stored_schedule(min(held, key=_order).run) if held else None
        if schedule is None:
            continue
        # Names in a record are outside its digest: the page has those of the row.
        instance = replace(checked.kind.instance(row, registry), name=row.name)
        try:
            text = draw(replace(schedule, instance=instance))
        except InputError:  # a network that is too large for a page
            continue
        path = folder / FOLDER / _file_name(row.name, {Path(link).stem for link in links.values()})
        make_folder(path.parent)
        write_text(text, path)
        links[row.name] = f"{FOLDER}/{path.name}"
    return links


def _order(run: Checked) -> tuple[Any, ...]:
    found = run.found
    return found["steps"], found["seconds_to_best"], run.run.contestant.key, run.run.seed


def _file_name(row: str, taken: Collection[str]) -> str:
    """Return a name of a file for a row that no row before has."""
    plain = re.sub(r"[^a-z0-9.]+", "-", row.lower()).strip("-.")[:MAX_NAME_LENGTH] or "row"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return f"{name}.html"
