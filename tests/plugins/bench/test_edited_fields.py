"""Every field of stored runs, edited in turn: no report becomes better, and none is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.checking import check
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.pages import write_report
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.store import Run
from cchybrid_plugins.bench.suite import Suite
from pandas import DataFrame

from cchybrid.plugin.benchmark import Checked, CheckedSuite
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.kinds import needs
from tests.plugins.bench.local_runs import made, packed, with_seed
from tests.plugins.bench.small_suites import (
    RING,
    Kind,
    changed,
    designs,
    designs_for_steps,
    schedules,
    throughputs,
)

REGISTRY = load_registry()
GONE = object()
"""Stands for a field that is deleted."""
VALUES = (
    GONE, None, True, False, 0, 1, 2, 9, -1, 0.5, 1e300, float("nan"), float("inf"), 10**30, "",
    "1", "9", "optimal", "infeasible", "by a bound", "x|y\n# z", [], {}, [1], {"x": None},
)  # fmt: skip
INNER_VALUES = (GONE, None, 0, 9, "x")
"""Values of fields inside others."""
COUNTED = {
    "schedules": (
        "steps", "lower_bound", "state", "verdict", "bound_verdict", "published_is_impossible",
    ),
    "throughputs": ("ours", "bound", "verdict", "proof"),
    "designs": ("ours", "bound", "verdict", "certified"),
}  # fmt: skip
"""The columns of ``report.csv`` that must be the same, by kind."""


def scheduled(**published: str) -> Row:
    return Row.from_text({"topology": "spidergon-8", "collective": "AAS", **published}, Path())


def of_schedules(row: Row, run: Run) -> Kind:
    return schedules()._replace(suite=Suite("mine", "", (row,)), runs=(run, run))


@cache
def worse_than_published() -> Kind:
    """A schedule of more steps than its bound and than the published ones."""
    row = scheduled(steps="4", lower_bound="5")
    run = made("schedules", row, Contestant(("random",), time_limit=None, evaluations=1))
    assert run.result["status"] == "feasible"
    return of_schedules(row, run)


def certified_less() -> Kind:
    """A claimed bound above a certified one."""
    found = worse_than_published()
    (row,) = found.suite.rows

    def claim(result: dict[str, Any], record: Any) -> None:
        result.update(certified=False, certified_bound=result["lower_bound"])
        result.update(certified_evidence=record["lower_bound"].pop("evidence"))

    return of_schedules(row, changed(found.runs[0], claim))


def without_a_schedule() -> Kind:
    """A certified bound, and no schedule."""
    found = worse_than_published()
    (row,), (run, _) = found.suite.rows, found.runs
    record = run.unpacked()
    result = {
        **run.result, "steps": None, "status": "unknown", "engine": "", "contributions": [],
        "evidence_without_schedule": record["lower_bound"]["evidence"],
        "instance_record": record["instance"],
    }  # fmt: skip
    return of_schedules(row, replace(run, result=result, record=None))


def unreachable() -> Kind:
    """A network in two parts."""
    row = scheduled(steps="5", fail_links="1-2 5-6 0-7 3-4")
    return of_schedules(row, made("schedules", row, schedules().runs[0].contestant))


def a_study() -> Kind:
    """A conflict study, one step below the bound."""
    values = {"topology": "spidergon-8", "collective": "AAS", "fixed_steps": "3"}
    row = Row.from_text(values, Path())
    run = made("schedules", row, Contestant(("tabu",), time_limit=None, evaluations=50))
    return of_schedules(row, run)


def first_of(maker: Callable[[], Kind], **published: str) -> Callable[[], Kind]:
    def small() -> Kind:
        kind = maker()
        row = kind.suite.rows[0]
        if published:
            row = replace(row, published=published)
        return kind._replace(suite=replace(kind.suite, rows=(row,)))

    return small


def a_worse_network() -> Kind:
    """A ring where the complete graph was possible."""
    from tests.plugins.bench.small_suites import designed

    kind = first_of(designs_for_steps, steps="1")()
    run = designed(kind.suite.rows[0], RING)
    return kind._replace(runs=(run, run))


BASES = {
    "worse": worse_than_published, "certified less": certified_less,
    "no schedule": without_a_schedule, "unreachable": unreachable, "study": a_study,
    "throughput": first_of(throughputs), "design": first_of(designs, diameter="0.5"),
    "design for steps": a_worse_network,
}  # fmt: skip
LONG = ("worse", "certified less", "no schedule", "unreachable", "study", "design for steps")
NEEDS = {"throughput": "throughputs", "design": "designs", "design for steps": "designs"}


def edits(value: Any, values: Sequence[Any] = VALUES) -> Iterator[tuple[str, Any]]:
    """Yield copies of a JSON value with one field edited, each with the place of the edit.

    Of a list the first and the last entry are edited; instances only as a whole.
    """
    if isinstance(value, dict):
        keys: list[Any] = list(value)
    elif isinstance(value, list) and value:
        keys = sorted({0, len(value) - 1})
    else:
        return
    for key in keys:
        for other in values:
            copy = value.copy()
            if other is GONE:
                del copy[key]
            else:
                copy[key] = other
            yield f"{key} {other!r}", copy
        if key in ("instance", "instance_record"):
            continue
        for place, inner in edits(value[key], INNER_VALUES):
            copy = value.copy()
            copy[key] = inner
            yield f"{key} {place}", copy


def edited(run: Run) -> Iterator[tuple[str, Run]]:
    for place, result in edits(run.result):
        yield f"result {place}", replace(run, result=result)
    if run.record is not None:
        for place, record in edits(run.unpacked()):
            yield f"record {place}", replace(run, record=packed(record))


def own_seed(run: Run) -> Any:
    return run.result.get("seed", 0)


def checked_of(kind: Kind, run: Run) -> Checked:
    (row,) = kind.suite.rows
    benchmark = REGISTRY.benchmark(kind.suite.kind)
    return check(run, row, benchmark, benchmark.digest(row, REGISTRY))


def standing(kind: Kind, folder: Path, *runs: Checked) -> list[Any]:
    """Return what the report counts of the row; nothing if no run of it counts."""
    (row,) = kind.suite.rows
    benchmark = REGISTRY.benchmark(kind.suite.kind)
    digests = {row.name: benchmark.digest(row, REGISTRY)}
    suite = CheckedSuite(
        folder / "x.sqlite", "x", (row,), {row.name: runs}, digests=digests, kind=benchmark
    )
    report = benchmark.report(suite, None, REGISTRY)
    write_report(replace(report, plots=tuple), folder, "x", [])
    if all(run.failure for run in runs):
        return []
    lines = DataFrame(report.table)[[*COUNTED[kind.suite.kind]]]
    found: list[Any] = json.loads(lines.to_json(orient="records"))
    return found


@pytest.mark.parametrize(
    "base",
    [
        pytest.param(
            name,
            marks=[needs(NEEDS.get(name, "schedules")), *([pytest.mark.long] * (name in LONG))],
        )
        for name in BASES
    ],
)
def test_no_edit_of_a_field_makes_a_report_better(base: str, tmp_path: Path) -> None:
    kind = BASES[base]()
    run = kind.runs[0]
    honest = standing(kind, tmp_path, checked_of(kind, run))
    assert honest
    runs = [
        (place, checked_of(kind, with_seed(each, seed) if own_seed(each) == 0 else each))
        for seed, (place, each) in enumerate(edited(run), 1)
    ]
    # The best of each row counts, so that all are in one report.
    counted = [each for each in runs if not each[1].failure]
    if standing(kind, tmp_path, *(each for _, each in runs)) != honest:
        for place, each in counted:
            assert standing(kind, tmp_path, each) == honest, place
    assert 0 < len(counted) < len(runs)
    beside = checked_of(kind, run), *(each for _, each in runs)
    assert standing(kind, tmp_path, *beside) == honest
