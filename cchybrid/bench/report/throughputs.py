"""The report of a suite of throughputs: own and published rounds per chunk side by side."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

from pandas import DataFrame

from cchybrid.bench.checking import DAMAGE
from cchybrid.bench.checking_throughputs import checked_throughput
from cchybrid.bench.report.reading import suite_of_kind
from cchybrid.bench.report.sections import Report, Section
from cchybrid.bench.store import Run, Store
from cchybrid.bench.suite import suite_names
from cchybrid.bench.throughput_row import ThroughputRow
from cchybrid.checker.throughput import ThroughputVerdict
from cchybrid.model.errors import InputError

HEADERS = [
    "topology", "collective", "published", "ours", "bound", "verdict", "proof", "seconds",
    "source", "note",
]  # fmt: skip
"""The columns of ``report.csv``."""


def throughput_suite(store: Path, suite: str | None) -> str | None:
    """Return the name of the suite if it is one of throughputs, else ``None``."""
    return suite_of_kind(store, suite, Store.throughputs)


def throughput_report(
    store: Path,
    suite: str,
    command: str,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Return the report of a suite of throughputs; trees and bounds are checked again.

    Raises
    ------
    InputError
        A record in the store is not the one of its result.
    """
    with Store(store) as opened:
        try:
            rows = {row.name: row for row in opened.throughputs(suite)}
            runs = {run.row: run for run in opened.runs() if run.row in rows}
        except DAMAGE as error:
            hint = "use a copy, or run the suite into another file"
            raise InputError(
                f"the store is damaged: {error}", where=str(store), hint=hint
            ) from None
    failures, lines = [], []
    for done, row in enumerate(rows.values(), 1):
        watch(done, len(rows))
        run = runs.get(row.name)
        if run is None or run.failure:
            failures.append(f"{row.name}: {'not run' if run is None else run.failure}")
        else:
            lines.append(_line(row, run, checked_throughput(run)))
    table = DataFrame(lines, columns=HEADERS)
    words = ("better", "equal", "worse", "impossible", "new")
    summary = {"rows": len(rows), "optimal and certified": int((table.proof == "yes").sum())}
    summary |= {word: int((table.verdict == word).sum()) for word in words}
    sections = [
        Section("Summary", _TEXT, table=DataFrame([summary])),
        *([Section("No result", lines=failures)] if failures else []),
        Section("All rows", table=table.drop(columns=["note"])),
    ]
    name = suite if suite in suite_names() else f"{suite}.toml"
    commands = [shlex.join(["cchybrid", "bench", "run", name, "--store", store.name]), command]
    facts = ["the independent checker added up all trees and checked all bounds for this report"]
    return Report(f"Benchmark {suite}", commands, facts, sections, table, DataFrame())


_TEXT = (
    "Rounds per chunk of endless schedules; fewer are better. Impossible: the published value is"
    " below a certified bound."
)


def _line(row: ThroughputRow, run: Run, verdict: ThroughputVerdict) -> dict[str, Any]:
    ours, bound = verdict.rounds_per_chunk, verdict.bound
    return {
        "topology": row.topology,
        "collective": row.collective,
        "published": row.rounds_per_chunk,
        "ours": str(ours),
        "bound": str(bound),
        "verdict": _compared(row.published, ours, bound),
        "proof": "yes" if verdict.optimal else "no",
        "seconds": run.result["seconds"],
        "source": row.source,
        "note": row.note,
    }


def _compared(published: Fraction | None, ours: Fraction, bound: Fraction) -> str:
    if published is None:
        return "new"
    if published < bound:
        return "impossible"
    return "equal" if ours == published else "better" if ours < published else "worse"
