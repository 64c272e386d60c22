"""Measured rows: what their runs cost, and how the report says that costs grow."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.reading import read_store
from cchybrid_plugins.bench.report.scaling import MEASURES, costs, exponent, growth
from cchybrid_plugins.bench.report.sections import _scaling, compose
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.run_cost import CostMeter
from cchybrid_plugins.bench.runner import Task, finished
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import Suite
from pandas import DataFrame, concat

from cchybrid.host.api import instance
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.plugin.registry import load_registry
from cchybrid.system.processes import proportional_memory
from tests.plugins.bench.local_runs import answer_of, fill, packed

ROW = Row(InstanceSpec("dgx-1", "AAB", switching="store-and-forward"), measure=True)
CONTESTANT = Contestant(time_limit=20.0)


@pytest.fixture(scope="module", name="answer")
def _answer() -> dict[str, Any]:
    """Return the answer of the job of a measured row."""
    return answer_of("schedules", ROW, CONTESTANT)


def write(path: Path, answer: dict[str, Any]) -> Path:
    run = Run(ROW.name, CONTESTANT, 0, "", answer["result"], packed(answer["schedule"]))
    return fill(path, Suite("mine", "", (ROW,)), [run])


@pytest.mark.slow
def test_the_job_of_a_measured_row_says_what_it_costs(answer: dict[str, Any]) -> None:
    cost = answer["result"]["cost"]
    assert cost["first_steps"] >= answer["result"]["steps"] == 2
    assert 0 < cost["first_seconds"] <= answer["result"]["seconds"]
    assert min(cost["build_seconds"], cost["verify_seconds"]) > 0


def test_where_a_node_is_out_of_reach_there_is_no_problem_to_measure() -> None:
    cut_off = instance("ring-uni-4", "OAB", fail_links=["0>1"])
    with CostMeter() as meter:
        assert meter.to_json(cut_off, None)["build_seconds"] is None


def test_a_run_without_the_cost_of_a_measured_row_is_done_again(
    answer: dict[str, Any], tmp_path: Path
) -> None:
    registry = load_registry()
    kind, plain = registry.benchmark("schedules"), replace(ROW, measure=False)
    bare = {name: value for name, value in answer["result"].items() if name != "cost"}
    for name, result, missing in (("bare", bare, True), ("whole", answer["result"], False)):
        path = write(tmp_path / f"{name}.sqlite", {**answer, "result": result})
        with Store(path) as store:
            for row in (ROW, plain):
                task = Task(row, CONTESTANT, 0)
                digest = {row.name: kind.digest(row, registry)}
                found = finished([task], digest, store, kind, registry)
                assert found == (set() if row.measure and missing else {task.key})
        failure = read_store(path, None, registry).runs.failure[0]
        assert ("it was run without `measure`" in failure) == bool(failure) == missing


def test_a_report_has_the_costs_and_their_growth(answer: dict[str, Any], tmp_path: Path) -> None:
    reading = read_store(write(tmp_path / "a.sqlite", answer), None, load_registry())
    table = costs(reading)
    assert list(table.family) == ["dgx-N AAB store-and-forward"]
    assert table.build_seconds[0] == pytest.approx(answer["result"]["cost"]["build_seconds"])
    titles = [section.title for section in compose(reading, None).sections]
    assert {"Scaling", "Growth"} <= set(titles)


def test_a_family_has_all_in_common_but_the_size(answer: dict[str, Any], tmp_path: Path) -> None:
    reading = read_store(write(tmp_path / "a.sqlite", answer), None, load_registry())
    some = replace(ROW, spec=replace(ROW.spec, participants="0-3"))
    runs = concat([reading.runs, reading.runs.assign(row=some.name)])
    facts = {some.name: reading.facts[ROW.name], **reading.facts}
    table = costs(replace(reading, rows=(ROW, some), runs=runs, facts=facts))
    assert list(table.family) == [
        "dgx-N AAB store-and-forward", "dgx-N AAB store-and-forward among 0-3",
    ]  # fmt: skip
    runs = concat([reading.runs, reading.runs.assign(contestant="tabu")])
    families = list(costs(replace(reading, runs=runs)).family)
    assert [name.endswith(" [tabu]") for name in families] == [False, True]


def test_the_page_names_the_contestants_and_seeds_of_the_costs(
    answer: dict[str, Any], tmp_path: Path
) -> None:
    reading = read_store(write(tmp_path / "a.sqlite", answer), None, load_registry())

    def names(**others: object) -> list[tuple[object, ...]]:
        runs = concat([reading.runs, reading.runs.assign(**others)], ignore_index=True)
        sections = {each.title: each for each in _scaling(replace(reading, runs=runs))}
        assert sections["Scaling"].record is not None
        assert {"contestant", "seed"} <= {*sections["Scaling"].record.columns}
        table = sections["Scaling"].table
        columns = [name for name in ("contestant", "seed") if name in table]
        return [(*columns,), *table[columns].itertuples(index=False, name=None)]

    assert names() == [(), (), ()]
    assert names(contestant="tabu") == [("contestant",), ("auto",), ("tabu",)]
    assert names(seed=1) == [("seed",), (0,), (1,)]


@pytest.mark.parametrize("forged", ["text", [1], {"build_seconds": "fast"}])
def test_costs_that_are_none_exclude_the_run(
    answer: dict[str, Any], tmp_path: Path, forged: object
) -> None:
    result = {**answer["result"], "cost": forged}
    path = write(tmp_path / "a.sqlite", {**answer, "result": result})
    reading = read_store(path, None, load_registry())
    assert "does not hold" in reading.runs.failure[0]
    assert costs(reading).empty


def test_exponents_are_those_of_powers() -> None:
    nodes = np.array([8, 64, 128, 256, 512])
    assert exponent(nodes, 3e-4 * nodes**2.5) == pytest.approx(2.5)
    lines = [
        {"family": "f", "nodes": n, **dict.fromkeys(MEASURES, 0.001 * n**1.5)} for n in nodes[1:]
    ]
    assert growth(DataFrame(lines)).iloc[0]["build s"] == "1.5"
    assert growth(DataFrame(lines[:2])).iloc[0]["build s"] == ""  # two points are too few


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of processes")
def test_the_memory_of_all_processes_below_counts() -> None:
    code = "import subprocess, sys; x = bytearray(60 << 20); sys.stdin.read()"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    with (
        CostMeter() as meter,
        subprocess.Popen([sys.executable, "-c", outer], stdin=subprocess.PIPE) as process,
    ):
        own = proportional_memory(os.getpid()) / (1 << 20)
        end = time.monotonic() + 20
        while (meter.peak_mib or 0) < own + 60 and time.monotonic() < end:
            time.sleep(0.05)
        process.stdin.close()
    assert meter.peak_mib >= own + 60
    assert meter.processes >= 3
