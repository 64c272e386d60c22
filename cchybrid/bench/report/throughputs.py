"""The report of a suite of throughputs: own and published rounds per chunk side by side."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from pandas import DataFrame

from cchybrid.bench.checking import CheckedThroughput
from cchybrid.bench.report.reading import CheckedSuite
from cchybrid.bench.report.sections import Report, Section, counts_of, exclusions, missing
from cchybrid.bench.suite import suite_names
from cchybrid.bench.throughput_row import ThroughputRow

HEADERS = [
    "topology", "collective", "published", "ours", "bound", "verdict", "proof", "seconds",
    "source", "note",
]  # fmt: skip
"""The columns of ``report.csv``."""


def throughput_report(checked: CheckedSuite, command: str) -> Report:
    """Return the report of a suite of throughputs whose runs are checked."""
    lines = [
        _line(row, found)
        for row in checked.suite.throughputs
        if (found := [run.found for run in checked.runs[row.name] if not run.failure])
    ]
    table = DataFrame(lines, columns=HEADERS)
    words = ("better", "equal", "worse", "impossible", "new")
    summary = {
        "rows": len(checked.suite.throughputs),
        "optimal and certified": int((table.proof == "yes").sum()),
    }
    summary |= {word: int((table.verdict == word).sum()) for word in words}
    sections = [
        Section("Summary", _TEXT, table=DataFrame([summary])),
        *missing(checked),
        *exclusions(checked),
        Section("All rows", table=table.drop(columns=["note"])),
    ]
    suite = checked.suite.name
    name = suite if suite in suite_names() else f"{suite}.toml"
    words_of_run = ["cchybrid", "bench", "run", name, "--store", checked.path.name]
    facts = [
        counts_of(checked),
        "the independent checker added up all trees and checked all bounds for this report",
    ]
    commands = [shlex.join(words_of_run), command]
    return Report(f"Benchmark {suite}", commands, facts, sections, table, DataFrame())


_TEXT = (
    "Rounds per chunk of endless schedules; fewer are better. Impossible: the published value is"
    " below a certified bound."
)


def _line(row: ThroughputRow, found: Sequence[CheckedThroughput]) -> dict[str, Any]:
    """Return the line of a row: the fewest rounds and the best bound of all its runs."""
    best = min(found, key=lambda each: (each.verdict.rounds_per_chunk, each.seconds))
    ours = best.verdict.rounds_per_chunk
    bound = max(each.verdict.bound for each in found)
    return {
        "topology": row.topology,
        "collective": row.collective,
        "published": row.rounds_per_chunk,
        "ours": str(ours),
        "bound": str(bound),
        "verdict": _compared(row.published, ours, bound),
        "proof": "yes" if ours == bound else "no",
        "seconds": best.seconds,
        "source": row.source,
        "note": row.note,
    }


def _compared(published: Fraction | None, ours: Fraction, bound: Fraction) -> str:
    if published is None:
        return "new"
    if published < bound:
        return "impossible"
    return "equal" if ours == published else "better" if ours < published else "worse"
