"""``cchybrid bench report``: the files of a report."""

from __future__ import annotations

from pathlib import Path

from cchybrid.bench.report_csv import to_csv
from cchybrid.bench.report_html import to_html
from cchybrid.bench.report_markdown import to_markdown
from cchybrid.bench.sections import Report
from cchybrid.errors import InputError


def prepare_folder(folder: Path) -> None:
    """Make the folder of a report, before the work of reading a store.

    Raises
    ------
    InputError
        It cannot be made, or nothing can be written there.
    """
    probe = folder / ".cchybrid"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise _unwritable(folder, error) from None


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write ``report.md``, ``report.csv`` and ``report.html``, and return their paths."""
    texts = {
        "report.md": to_markdown(report),
        "report.csv": to_csv(report.standings),
        "report.html": to_html(report),
    }
    try:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise _unwritable(folder, error) from None
    return [folder / name for name in texts]


def _unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(
        f"{folder} cannot be written: {error.strerror}", where="-o", mend="name another folder"
    )
