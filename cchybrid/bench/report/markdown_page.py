"""The report as Markdown."""

from __future__ import annotations

import re

from cchybrid.bench.report.columns import Cell, Table, shown
from cchybrid.bench.report.sections import Report


def to_markdown(report: Report) -> str:
    """Return the whole page."""
    parts = [f"# {_escaped(report.title)}"]
    parts.append("```sh\n" + "\n".join(map(_one_line, report.commands)) + "\n```")
    parts.append(_list(report.facts))
    for section in report.sections:
        parts.append(f"## {_escaped(section.title)}")
        if section.text:
            parts.append(_escaped(section.text))
        if section.lines:
            parts.append(_list(section.lines))
        if section.table is not None:
            parts.append(_table(section.table))
    return "\n\n".join(parts) + "\n"


def _list(lines: tuple[str, ...]) -> str:
    return "\n".join(f"- {_escaped(line)}" for line in lines)


def _table(table: Table) -> str:
    rule = ["---:" if right else "---" for right in table.numeric]
    lines = [_line(table.headers), "|" + "|".join(rule) + "|", *map(_line, table.rows)]
    return "\n".join(lines)


def _line(cells: tuple[Cell, ...]) -> str:
    return "| " + " | ".join(_escaped(shown(cell)) for cell in cells) + " |"


def _escaped(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))


def _one_line(command: str) -> str:
    """Return a command that stays inside its block, whatever files are called."""
    return " ".join(command.replace("`", "'").split())
