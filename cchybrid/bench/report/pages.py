"""``cchybrid bench report``: the files of a report."""

from __future__ import annotations

import os
from pathlib import Path

from cchybrid.bench.report.csv_table import table_to_csv, to_csv
from cchybrid.bench.report.html_page import to_html
from cchybrid.bench.report.markdown_page import to_markdown
from cchybrid.bench.report.sections import Report
from cchybrid.model.errors import InputError


def check_folder(folder: Path) -> None:
    """Find out before the work, not after it, that nothing can be written to a folder.

    Raises
    ------
    InputError
        It is no folder, or cannot be made or written to.
    """
    place = folder
    try:
        while not place.exists():
            place = place.parent
    except OSError as error:
        raise _unwritable(folder, str(error.strerror)) from None
    if not place.is_dir():
        raise _unwritable(folder, f"{place} is no folder")
    if not os.access(place, os.W_OK | os.X_OK):
        raise _unwritable(folder, "permission denied")


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write ``report.md``, ``.csv`` and ``.html`` and the tables of studies; return their paths."""
    texts = {
        "report.md": to_markdown(report),
        "report.csv": to_csv(report.standings),
        "report.html": to_html(report),
    }
    for section in report.sections:
        if section.record is not None:
            texts[section.file] = table_to_csv(section.record)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise _unwritable(folder, str(error.strerror)) from None
    return [folder / name for name in texts]


def _unwritable(folder: Path, why: str) -> InputError:
    return InputError(f"{folder} cannot be written: {why}", where="-o", mend="name another folder")
