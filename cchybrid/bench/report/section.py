"""A section of a report."""

from __future__ import annotations

from dataclasses import dataclass

from cchybrid.bench.report.columns import Table


@dataclass(frozen=True)
class Section:
    """A heading with what stands under it: text, then a list, then a table.

    What it tells may be a CSV file of the report too: ``record``, under the name ``file``.
    """

    title: str
    text: str = ""
    lines: tuple[str, ...] = ()
    table: Table | None = None
    file: str = ""
    record: Table | None = None
