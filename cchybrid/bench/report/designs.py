"""The report of a suite of designs: own and published values side by side, column by column."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pandas import DataFrame

from cchybrid.bench.checking import DAMAGE
from cchybrid.bench.checking_designs import FoundSteps, checked_design, design_records
from cchybrid.bench.contestant import Contestant
from cchybrid.bench.design_row import LARGER_IS_BETTER, DesignRow, compared
from cchybrid.bench.report.commands import budget_options
from cchybrid.bench.report.design_steps import STEPS_FACT, steps_section
from cchybrid.bench.report.reading import suite_of_kind
from cchybrid.bench.report.sections import Report, Section
from cchybrid.bench.store import Run, Store
from cchybrid.bench.suite import suite_names
from cchybrid.design_checker import check_design
from cchybrid.library.node_lists import format_nodes
from cchybrid.model.errors import InputError

HEADERS = [
    "row", "network", "nodes", "degree", "layout", "max_wire", "column", "published", "ours",
    "verdict", "bound", "proven", "certified", "seconds_to_best", "seconds", "evaluations", "seed",
    "source", "note",
]  # fmt: skip
"""The columns of ``report.csv``, which has a line per row and column of the tables."""


def design_suite(store: Path, suite: str | None) -> str | None:
    """Return the name of the suite if it is one of designs, else ``None``."""
    return suite_of_kind(store, suite, Store.designs)


def design_report(
    store: Path,
    suite: str,
    command: str,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> Report:
    """Return the report of a suite of designs; every network is checked again.

    Raises
    ------
    InputError
        A network in the store is not the one of its result.
    """
    with Store(store) as opened:
        try:
            rows = {row.name: row for row in opened.designs(suite)}
            runs = [run for run in opened.runs() if run.row in rows]
        except DAMAGE as error:
            hint = "use a copy, or run the suite into another file"
            raise InputError(
                f"the store is damaged: {error}", where=str(store), hint=hint
            ) from None
    records: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    failures: list[str] = []
    best: dict[str, tuple[tuple[float, float], Run, dict[str, float]]] = {}
    steps: dict[str, FoundSteps] = {}
    for done, run in enumerate(runs, 1):
        watch(done, len(runs))
        row = rows[run.row]
        if run.failure or run.result.get("digest") != row.digest:
            failures.append(f"{run.row}: {run.failure or 'the row has changed since'}")
            continue
        values, found = checked_design(row, run)
        weighted = sum(
            -weight * values[name] if name in LARGER_IS_BETTER else weight * values[name]
            for name, weight in row.weights
        )
        cost = values.get("steps", 0.0), weighted
        if row.name not in best or cost < best[row.name][0]:
            best[row.name] = cost, run, values
            if found is not None:
                steps[row.name] = found
    for row in rows.values():
        if row.name not in best:
            if all(run.row != row.name for run in runs):
                failures.append(f"{row.name}: not run")
            continue
        _, run, values = best[row.name]
        entries = _columns(row, run, values, steps.get(row.name))
        records += entries
        lines.append(_line(row, entries, run))
    table = DataFrame(records, columns=HEADERS)
    budgets = sorted({run.contestant.budget for run in runs})
    sections = [
        _summary(table),
        *([Section("No result", lines=failures)] if failures else []),
        *_tables(rows, records),
        *([steps_section(rows, steps)] if steps else []),
        Section("All rows", table=DataFrame(lines)),
    ]
    facts = [STEPS_FACT] if steps else []
    facts += [
        f"{len(runs)} runs, {'; '.join(budgets)} each",
        "every network was checked again by the independent checker, and its values recomputed",
        "better, equal, worse: ours against the published value, to its precision",
    ]
    commands = [*_commands(store, suite, runs), command]
    return Report(f"Benchmark {suite}", commands, facts, sections, table, DataFrame())


def _commands(store: Path, suite: str, runs: list[Run]) -> list[str]:
    """Return the commands that produced the runs, one per budget."""
    seeds: dict[str, set[int]] = {}
    for run in runs:
        seeds.setdefault(run.contestant.key, set()).add(run.seed)
    name = suite if suite in suite_names() else f"{suite}.toml"
    return [
        shlex.join(
            [
                *("cchybrid", "bench", "run", name),
                *budget_options(Contestant.from_key(key), format_nodes(sorted(each))),
                *("--store", store.name),
            ]
        )
        for key, each in seeds.items()
    ]


def _columns(
    row: DesignRow, run: Run, values: dict[str, float], steps: FoundSteps | None
) -> list[dict[str, Any]]:
    """Return a record per published value; if none is published, of the steps or the cost terms."""
    _, record = design_records(row, run)
    checked = check_design(record)
    bounds = {
        "latency": float(checked.mean_bound) * (row.nodes - 1) / row.nodes,
        "mean-distance": float(checked.mean_bound),
        "max-latency": checked.diameter_bound,
        "diameter": checked.diameter_bound,
    }
    names = list(row.published)
    if steps is not None:
        bounds["steps"] = steps.bound
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
                "seconds_to_best": run.result["seconds_to_best"],
                "seconds": run.result["seconds"], "evaluations": run.result["evaluations"],
                "seed": run.seed, "source": row.source, "note": row.note,
            }
        )  # fmt: skip
    return found


def _line(row: DesignRow, entries: list[dict[str, Any]], run: Run) -> dict[str, Any]:
    verdicts = [entry["verdict"] for entry in entries]
    order = ("worse", "other definition", "equal", "better", "new")
    counts = [f"{verdicts.count(word)} {word}" for word in order if word in verdicts]
    return {
        "row": row.name,
        "network": row.network or "designed",
        "columns": ", ".join(counts),
        "seconds to best": f"{run.result['seconds_to_best']:.1f}",
        "evaluations": run.result["evaluations"],
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
    return Section("Summary", text, table=DataFrame(lines))


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
