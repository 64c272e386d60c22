"""Reports of audits of many files: a CSV table and a Markdown page, with figures only."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from cchybrid.model.errors import InputError
from cchybrid.model.instance import make_folder, write_text
from cchybrid.model.shown import counted
from cchybrid.model.text import csv_text, printable

from .audit import Audit, shown_percent

MAX_FILES = 10_000

COLUMNS = (
    "file", "format", "verdict", "length", "unit", "rounds", "theirs", "lower_bound",
    "lower_bound_unit", "certified",
    "percent_above", "ours", "rule", "place", "reason", "bound_by", "facts", "limits",
)  # fmt: skip


def files_in(folder: Path) -> list[Path]:
    """Return the files of a folder and its folders, in order, without hidden ones."""
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise InputError("no files", where=str(folder), hint="name a folder with foreign files")
    if len(found) > MAX_FILES:
        raise InputError(
            f"more than {MAX_FILES:,} files", where=str(folder), hint="audit a part of it"
        )
    return found


def write_report(audits: Iterable[Audit], folder: str | Path, command: str) -> tuple[Path, Path]:
    """Write ``report.csv`` and ``report.md``; return their paths."""
    listed = list(audits)
    target = Path(folder)
    make_folder(target)
    table, page = target / "report.csv", target / "report.md"
    write_text(report_csv(listed), table)
    write_text(report_markdown(listed, command), page)
    return table, page


def report_csv(audits: Iterable[Audit]) -> str:
    """Return a row per file."""
    rows = []
    for each in audits:
        record = each.to_json() | {
            "certified": "yes" if each.certified else "no",
            "percent_above": None if each.percent is None else shown_percent(each.percent),
            "reason": each.reason, "facts": "; ".join(each.facts), "limits": "; ".join(each.limits),
        }  # fmt: skip
        rows.append([record[name] for name in COLUMNS])
    return csv_text([COLUMNS, *rows])


def report_markdown(audits: list[Audit], command: str) -> str:
    """Return a page: how it was made, how many verdicts of each kind, a table per format."""
    lines = ["# Audit of foreign files", "", f"    {command}", ""]
    verdicts = Counter(each.verdict for each in audits)
    total = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
    met = sum(each.percent == 0 for each in audits)
    lines += [f"{len(audits)} files: {total}. {met} of the valid meet a lower bound.", ""]
    for importer in sorted({each.importer for each in audits}):
        lines += [f"## {importer or 'No importer'}", ""]
        lines += _table([each for each in audits if each.importer == importer])
        lines.append("")
    limits = Counter(limit for each in audits for limit in each.limits)
    if limits:
        lines += ["## What the model cannot mean", ""]
        lines += [
            f"- {_cell(text)} ({counted(count, 'file')})" for text, count in sorted(limits.items())
        ]
        lines.append("")
    return "\n".join(lines)


def _table(audits: list[Audit]) -> Iterator[str]:
    """Yield the lines of a table; columns that are empty everywhere are left out."""
    heads = ("file", "verdict", "length", "lower bound", "at most above", "ours", "findings")
    rows = [
        (
            f"`{_cell(each.file)}`",
            each.verdict,
            _length(each),
            _lower(each),
            "" if each.percent is None else f"{shown_percent(each.percent)} %",
            "" if each.ours is None else each.compared(each.ours),
            _cell("; ".join(filter(None, (each.reason, *each.facts)))),
        )
        for each in audits
    ]
    kept = [k for k in range(len(heads)) if any(row[k] for row in rows)]
    yield "| " + " | ".join(heads[k] for k in kept) + " |"
    yield "| " + " | ".join("---" for _ in kept) + " |"
    for row in rows:
        yield "| " + " | ".join(row[k] for k in kept) + " |"


def _lower(each: Audit) -> str:
    if not each.lower:
        return ""
    return f"{each.compared(each.lower)}{' certified' if each.certified else ''}"


def _length(each: Audit) -> str:
    if each.length is None:
        return ""
    rounds = "" if each.rounds is None else f" / {each.rounds} rounds"
    return f"{counted(each.length, each.unit[:-1])}{rounds}"


def _cell(text: str) -> str:
    return printable(text).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
