"""The report as CSV: one line per row of the suite, every value in a column of its own.

The records of sections, such as those of studies, are CSV files of their own.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from cchybrid.bench.report.columns import Table, nodes
from cchybrid.bench.report.standing import Standing

HEADERS = (
    "row", "topology", "collective", "root", "transmitters", "receivers", "switching", "routing",
    "ports", "fail_links", "fail_nodes", "steps", "lower_bound", "claimed_bound", "gap", "state",
    "proof", "published_steps", "published_lower_bound", "comparable", "place", "source", "note",
    "verdict", "bound_verdict", "published_is_impossible", "seconds_to_best", "seconds", "engine",
    "contestant", "runs", "failures", "story",
)  # fmt: skip


def to_csv(standings: Sequence[Standing]) -> str:
    """Return the whole file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADERS)
    writer.writerows(map(_line, standings))
    return text.getvalue()


def table_to_csv(table: Table) -> str:
    """Return the record of a section as a file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.headers)
    for row in table.rows:
        writer.writerow(round(cell, 4) if isinstance(cell, float) else cell for cell in row)
    return text.getvalue()


def _line(standing: Standing) -> list[object]:
    asked, published = standing.row.question, standing.row.published
    return [
        standing.name, asked.topology, asked.collective, asked.root,
        nodes(asked.transmitters), nodes(asked.receivers),
        asked.switching, standing.routing, asked.ports,
        " ".join(asked.fail_links), nodes(asked.fail_nodes),
        standing.steps, standing.lower_bound, standing.claimed, standing.gap, standing.state,
        standing.proof, published.steps, published.lower_bound, _yes(published.comparable),
        published.place, published.source, published.note,
        standing.verdict, standing.bound_verdict, _yes(standing.published_is_impossible),
        _rounded(standing.seconds_to_best), _rounded(standing.seconds), standing.engine,
        standing.best, len(standing.outcomes), len(standing.outcomes) - len(standing.counted),
        standing.story,
    ]  # fmt: skip


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
