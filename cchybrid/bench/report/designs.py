"""The report of a suite of designs: own and published values side by side, column by column."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from pandas import DataFrame

from cchybrid.bench.checking_designs import CheckedDesign, FoundSteps
from cchybrid.bench.contestant import Contestant
from cchybrid.bench.design_row import LARGER_IS_BETTER, DesignRow, compared
from cchybrid.bench.report.commands import budget_options
from cchybrid.bench.report.design_steps import STEPS_FACT, steps_section
from cchybrid.bench.report.reading import CheckedSuite
from cchybrid.bench.report.sections import Report, Section, counts_of, exclusions, missing
from cchybrid.bench.store import Run
from cchybrid.bench.suite import suite_names
from cchybrid.library.node_lists import format_nodes

HEADERS = [
    "row", "network", "nodes", "degree", "layout", "max_wire", "column", "published", "ours",
    "verdict", "bound", "proven", "certified", "seconds_to_best", "seconds", "evaluations", "seed",
    "source", "note",
]  # fmt: skip
"""The columns of ``report.csv``, which has a line per row and column of the tables."""


LINE = ["row", "network", "columns", "seconds to best", "evaluations", "note"]
"""The columns of the table of all rows."""


def design_report(checked: CheckedSuite, command: str) -> Report:
    """Return the report of a suite of designs whose runs are checked."""
    rows = {row.name: row for row in checked.suite.designs}
    records: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    steps: dict[str, FoundSteps] = {}
    for row in rows.values():
        counted = [run for run in checked.runs[row.name] if not run.failure]
        if not counted:
            continue
        best = min(counted, key=lambda run: _cost(row, run.found))
        if best.found.steps is not None:
            steps[row.name] = best.found.steps
        entries = _columns(row, best.run.seed, best.found)
        records += entries
        lines.append(_line(row, entries, best.found))
    table = DataFrame(records, columns=HEADERS)
    runs = [each.run for each in checked.all_runs]
    sections = [
        _summary(table),
        *missing(checked),
        *_tables(rows, records),
        *([steps_section(rows, steps)] if steps else []),
        *exclusions(checked),
        Section("All rows", table=DataFrame(lines, columns=LINE)),
    ]
    facts = [STEPS_FACT] if steps else []
    budgets = sorted({run.contestant.budget for run in runs})
    facts += [
        f"{counts_of(checked)}, {'; '.join(budgets)} each",
        "every network that counts was checked again by the independent checker as one of its row's"
        " task, and its values recomputed",
        "better, equal, worse: ours against the published value, to its precision",
    ]
    commands = [*_commands(checked, runs), command]
    return Report(f"Benchmark {checked.suite.name}", commands, facts, sections, table, DataFrame())


def _cost(row: DesignRow, found: CheckedDesign) -> tuple[float, float]:
    """Return what is compared: the steps, then the weighted sum of the values."""
    values = found.values
    weighted = sum(
        -weight * values[name] if name in LARGER_IS_BETTER else weight * values[name]
        for name, weight in row.weights
    )
    return values.get("steps", 0.0), weighted


def _commands(checked: CheckedSuite, runs: Sequence[Run]) -> list[str]:
    """Return the commands that produced the runs, one per budget."""
    seeds: dict[str, set[int]] = {}
    for run in runs:
        seeds.setdefault(run.contestant.key, set()).add(run.seed)
    name = checked.suite.name
    name = name if name in suite_names() else f"{name}.toml"
    return [
        shlex.join(
            [
                *("cchybrid", "bench", "run", name),
                *budget_options(Contestant.from_key(key), format_nodes(sorted(each))),
                *("--store", checked.path.name),
            ]
        )
        for key, each in seeds.items()
    ]


def _columns(row: DesignRow, seed: int, checked: CheckedDesign) -> list[dict[str, Any]]:
    """Return a record per published value; if none is published, of the steps or the cost terms."""
    values, bounds, steps = checked.values, checked.bounds, checked.steps
    names = list(row.published)
    if steps is not None:
        names = list(dict.fromkeys(["steps", *names]))
    found = []
    for name in names or [term for term, _ in row.weights]:
        published = row.published.get(name, "")
        verdict = compared(name, values[name], published) if published else "new"
        if row.network and verdict != "equal":
            verdict = "other definition"
        found.append(
            {
                "row": row.name, "network": row.network, "nodes": row.nodes,
                "degree": row.degree, "layout": row.layout, "max_wire": row.max_wire,
                "column": name, "published": published, "ours": f"{values[name]:.6g}",
                "verdict": verdict,
                "bound": "" if row.network or name not in bounds else f"{bounds[name]:.6g}",
                "proven": "" if steps is None or name != "steps" else steps.proven,
                "certified": "" if steps is None or name != "steps" else steps.mark,
                "seconds_to_best": checked.seconds_to_best, "seconds": checked.seconds,
                "evaluations": checked.evaluations, "seed": seed, "source": row.source,
                "note": row.note,
            }
        )  # fmt: skip
    return found


def _line(row: DesignRow, entries: list[dict[str, Any]], checked: CheckedDesign) -> dict[str, Any]:
    verdicts = [entry["verdict"] for entry in entries]
    order = ("worse", "other definition", "equal", "better", "new")
    counts = [f"{verdicts.count(word)} {word}" for word in order if word in verdicts]
    return {
        "row": row.name,
        "network": row.network or "designed",
        "columns": ", ".join(counts),
        "seconds to best": f"{checked.seconds_to_best:.1f}",
        "evaluations": checked.evaluations,
        "note": row.note,
    }


def _summary(table: DataFrame) -> Section:
    designed = table[table.network == ""]
    kinds = {"designed": designed, "evaluated": table[table.network != ""]}
    words = ("better", "equal", "worse", "other definition", "new")
    lines = [
        {"networks": kind, "rows": part.row.nunique(), "columns": len(part)}
        | {word: int((part.verdict == word).sum()) for word in words}
        for kind, part in kinds.items()
        if len(part)
    ]
    text = (
        "A designed network counts in all columns of its row. Named networks are evaluated, so"
        " values that differ come from another definition (docs/design.md)."
    )
    return Section("Summary", text, table=DataFrame(lines) if lines else None)


def _tables(rows: dict[str, DesignRow], records: list[dict[str, Any]]) -> list[Section]:
    """Return a section per source: a line per row, own beside published values."""
    sections = []
    for source in dict.fromkeys(row.source for row in rows.values()):
        lines: dict[str, dict[str, Any]] = {}
        for record in records:
            if record["source"] == source and not (record["column"] == "steps" and not source):
                line = lines.setdefault(record["row"], {"row": record["row"]})
                mark = "" if record["verdict"] in ("better", "equal", "new") else " (!)"
                line[f"{record['column']}, published"] = record["published"]
                line[f"{record['column']}, ours"] = f"{float(record['ours']):.6g}{mark}"
        if lines:
            text = "(!): worse, or another definition."
            sections.append(
                Section(source or "Designs", text, table=DataFrame(lines.values()).fillna(""))
            )
    return sections
