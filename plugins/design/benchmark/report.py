"""The report of a suite of designs: own and published values side by side, column by column."""

from collections import Counter
from dataclasses import replace
from typing import Any

from cchybrid.plugin.benchmark import CheckedSuite
from cchybrid.plugin.benchmark_report import Report, Section, counts_of, exclusions, missing

from ..network.bisection import MAX_EXACT_NODES
from .checking import CheckedDesign
from .row import LARGER_IS_BETTER, DesignRow, compared

COLUMNS = (
    "row", "network", "designers", "nodes", "degree", "layout", "max_wire", "column", "published",
    "ours", "verdict", "bound", "proven", "certified", "seconds_to_best", "seconds", "evaluations",
    "seed", "source", "note",
)  # fmt: skip
"""The columns of ``report.csv``, which has a line per row and column of the tables."""

STEPS_FACT = (
    "every schedule was verified again and the evidence of its bound checked again; that all other"
    " networks were refuted (by exhaustion) was not"
)
STEPS_TEXT = (
    "The fewest steps found, by a verified schedule on the designed network. Certified: no"
    " schedule on this network has fewer. The bound holds for every network of as many nodes"
    " and links."
)
SUMMARY_TEXT = (
    "A designed network counts in all columns of its row. Named networks are evaluated, so"
    " values that differ come from another definition (docs/design.md)."
)
HEURISTIC = (
    f" Of more than {MAX_EXACT_NODES} nodes, a bisection is the least that a heuristic finds: the"
    " true one may be lower, in favour of ours."
)

Line = dict[str, Any]


def design_report(checked: CheckedSuite) -> Report:
    """Return the report of a suite of designs whose runs are checked."""
    records: list[Line] = []
    lines: list[Line] = []
    steps: list[Line] = []
    for row in checked.rows:
        counted = [run for run in checked.runs[row.name] if not run.failure]
        if not counted:
            continue
        best = min(counted, key=lambda run: _cost(row, run.found))
        if row.collective:
            values, bounds = best.found.values, best.found.bounds
            steps.append({
                "collective": row.collective, "degree": row.degree, "nodes": row.nodes,
                "steps": int(values["steps"]), "bound over all networks": int(bounds["steps"]),
                "no network has fewer": best.found.proven, "certified on it": best.found.certified,
            })  # fmt: skip
        entries = _columns(row, best.run.seed, best.found)
        records += entries
        lines.append(_line(row, entries, best.found))
    sections = [
        _summary(records),
        *missing(checked),
        *_tables(checked.rows, records),
        *([Section("Fewest steps", STEPS_TEXT, table=steps)] if steps else []),
        *exclusions(checked),
        Section("All rows", table=lines),
    ]
    # No greedy schedule takes part in a design.
    contestants = [replace(each.run.contestant, first_schedule=False) for each in checked.all_runs]
    budgets = sorted({contestant.budget for contestant in contestants})
    facts = [
        *([STEPS_FACT] if steps else []),
        f"{counts_of(checked)}, {'; '.join(budgets)} each",
        "every network that counts was checked again by the independent checker as one of its row's"
        " task, and its values recomputed",
        "better, equal, worse: ours against the published value, to its precision",
    ]
    return Report(facts, sections, records, COLUMNS)


def _cost(row: DesignRow, found: CheckedDesign) -> tuple[float, float]:
    """Return what is compared: the steps, then the weighted sum of the values."""
    values = found.values
    weighted = sum(
        -weight * values[name] if name in LARGER_IS_BETTER else weight * values[name]
        for name, weight in row.weights
    )
    return values.get("steps", 0.0), weighted


def _columns(row: DesignRow, seed: int, checked: CheckedDesign) -> list[Line]:
    """Return a record per published value; if none is published, of the steps or the cost terms."""
    values, bounds = checked.values, checked.bounds
    names = list(row.published)
    if row.collective:
        names = list(dict.fromkeys(["steps", *names]))
    found = []
    for name in names or [term for term, _ in row.weights]:
        published = row.published.get(name, "")
        verdict = compared(name, values[name], published) if published else "new"
        if row.network and verdict != "equal":
            verdict = "other definition"
        found.append(
            {
                "row": row.name, "network": row.network, "designers": _designers(row),
                "nodes": row.nodes, "degree": row.degree, "layout": row.layout,
                "max_wire": row.max_wire, "column": name, "published": published,
                "ours": f"{values[name]:.6g}", "verdict": verdict,
                "bound": "" if row.network or name not in bounds else f"{bounds[name]:.6g}",
                "proven": checked.proven if name == "steps" else "",
                "certified": checked.certified if name == "steps" else "",
                "seconds_to_best": checked.seconds_to_best, "seconds": checked.seconds,
                "evaluations": checked.evaluations, "seed": seed, "source": row.source,
                "note": row.note,
            }
        )  # fmt: skip
    return found


def _designers(row: DesignRow) -> str:
    return "" if row.network else " and ".join(row.designers)


def _line(row: DesignRow, entries: list[Line], checked: CheckedDesign) -> Line:
    verdicts = Counter(entry["verdict"] for entry in entries)
    order = ("worse", "other definition", "equal", "better", "new")
    counts = [f"{verdicts[word]} {word}" for word in order if verdicts[word]]
    return {
        "row": row.name,
        "network": row.network or f"designed by {_designers(row)}",
        "columns": ", ".join(counts),
        "seconds to best": f"{checked.seconds_to_best:.1f}",
        "evaluations": checked.evaluations,
        "note": row.note,
    }


def _summary(records: list[Line]) -> Section:
    lines = []
    for designers in sorted({record["designers"] for record in records}, key=lambda d: (not d, d)):
        part = [record for record in records if record["designers"] == designers]
        verdicts = Counter(record["verdict"] for record in part)
        words = ("better", "equal", "worse", "other definition", "new")
        counts = {word: verdicts[word] for word in words}
        rows = len({record["row"] for record in part})
        kind = f"designed by {designers}" if designers else "evaluated"
        lines.append({"networks": kind, "rows": rows, "columns": len(part), **counts})
    large = [each for each in records if each["nodes"] > MAX_EXACT_NODES]
    heuristic = any(each["column"] == "bisection" for each in large)
    text = SUMMARY_TEXT + HEURISTIC * heuristic
    return Section("Summary", text, table=lines or None)


def _tables(rows: Any, records: list[Line]) -> list[Section]:
    """Return a section per source: a line per row, own beside published values."""
    sections = []
    for source in dict.fromkeys(row.source for row in rows):
        lines: dict[str, Line] = {}
        for record in records:
            if record["source"] == source and not (record["column"] == "steps" and not source):
                line = lines.setdefault(record["row"], {"row": record["row"]})
                mark = "" if record["verdict"] in ("better", "equal", "new") else " (!)"
                line[f"{record['column']}, published"] = record["published"]
                line[f"{record['column']}, ours"] = f"{float(record['ours']):.6g}{mark}"
        if lines:
            text = "(!): worse, or another definition."
            sections.append(Section(source or "Designs", text, table=[*lines.values()]))
    return sections
