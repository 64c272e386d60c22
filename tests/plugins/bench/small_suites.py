"""Small suites of every kind with a real run of each row, and edited copies of such runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.store import Run
from cchybrid_plugins.bench.suite import Suite

import cchybrid
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.kinds import KINDS
from tests.plugins.bench.local_runs import COLOURING, fill, made, packed

if "designs" in KINDS:
    from cchybrid_plugins.design.benchmark.row import DesignRow, figures_of
    from cchybrid_plugins.design.network.ports import Links
    from cchybrid_plugins.design.network.record import design_record
    from cchybrid_plugins.design.network.steps import instance_of

RING: Links = (*((node, node + 1) for node in range(5)), (0, 5))
COMPLETE: Links = tuple((a, b) for a in range(6) for b in range(a + 1, 6))


def designed(row: DesignRow, links: Links) -> Run:
    """Return the run that finds these links."""
    values = figures_of(row, links)
    record: Any = design_record(row.task(), links)
    result: dict[str, Any] = {
        "digest": row.digest, "seed": 0, "status": "feasible", "seconds_to_best": 0.5,
        "seconds": 1.0, "evaluations": 9,
    }  # fmt: skip
    if row.collective:
        found = cchybrid.solve(instance_of(row.task(), links), engines=["cpsat"], time_limit=20)
        assert found.schedule is not None
        assert found.certified
        values["steps"] = float(len(found.schedule.steps))
        record = {"design": record, "schedule": found.schedule.to_json()}
        result["proven"] = "not proven"
    result["design"] = {name: repr(value) for name, value in values.items()}
    return Run(row.name, COLOURING, 0, "", result, packed(record))


class Kind(NamedTuple):
    """A suite with two rows, a run of each, and the columns of ``report.csv`` that matter."""

    suite: Suite
    runs: tuple[Run, Run]
    name: Callable[[Mapping[str, str]], str]
    words: tuple[str, ...]


@cache
def schedules() -> Kind:
    rows = tuple(
        Row.from_text({"topology": name, "collective": "AAS", "steps": "9"}, Path())
        for name in ("ring-bi-4", "ring-bi-6")
    )
    first, second = (made("schedules", row, COLOURING) for row in rows)
    return Kind(Suite("mine", "", rows), (first, second), lambda line: line["row"], (
        "verdict", "proof",
    ))  # fmt: skip


@cache
def throughputs() -> Kind:
    if "throughputs" not in load_registry().benchmarks:
        pytest.skip("no plugin has throughputs")
    read = load_registry().benchmark("throughputs").from_text
    rows = tuple(
        read({"topology": name, "collective": "AAB", "rounds_per_chunk": "9"}, Path())
        for name in ("ring-bi-4", "ring-bi-6")
    )
    suite = Suite("mine", "", rows, kind="throughputs")
    return Kind(
        suite, tuple(made("throughputs", row, COLOURING) for row in rows),
        lambda line: f"{line['topology']} {line['collective']} throughput", ("verdict", "proof"),
    )  # fmt: skip


@cache
def designs() -> Kind:
    published = {"diameter": "4", "mean-distance": "4"}
    rows = tuple(
        DesignRow(f"degree {degree}", 6, degree, (("latency", 1.0),), published=published)
        for degree in (5, 2)
    )
    suite = Suite("mine", "", rows, kind="designs")
    runs = designed(rows[0], COMPLETE), designed(rows[1], RING)
    return Kind(suite, runs, lambda line: line["row"], ("verdict", "bound"))


@cache
def designs_for_steps() -> Kind:
    rows = tuple(
        DesignRow(
            f"degree {degree}", 6, degree, (("latency", 1.0),), collective="OAB",
            published={"steps": "9"},
        )
        for degree in (5, 2)
    )  # fmt: skip
    suite = Suite("mine", "", rows, kind="designs")
    runs = designed(rows[0], COMPLETE), designed(rows[1], RING)
    words = "verdict", "bound", "proven", "certified"
    return Kind(suite, runs, lambda line: line["row"], words)


MAKERS = {
    "schedules": schedules, "throughputs": throughputs, "designs": designs,
    "designs for steps": designs_for_steps,
}  # fmt: skip


def store_of(kind: Kind, folder: Path, *runs: Run) -> Path:
    return fill(folder / "s.sqlite", kind.suite, runs)


def changed(run: Run, change: Callable[[dict[str, Any], Any], object]) -> Run:
    result, record = json.loads(json.dumps(run.result)), run.unpacked()
    change(result, record)
    return replace(run, result=result, record=packed(record))
