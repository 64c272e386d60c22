"""Suites of designs: rows, jobs, the store, and a report that checks every network again."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.checking import check
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.pages import write_report
from cchybrid_plugins.bench.store import Run
from cchybrid_plugins.bench.suite import Suite, read_suite
from cchybrid_plugins.design.benchmark.row import DesignRow, compared, figures_of
from cchybrid_plugins.design.network.designer import DesignRun
from cchybrid_plugins.design.network.task import DesignTask

from cchybrid.checker import EvidenceError
from cchybrid.model.errors import InputError
from cchybrid.plugin.benchmark import Checked, CheckedSuite
from cchybrid.plugin.benchmark_report import Report
from cchybrid.plugin.engine import Stop
from cchybrid.plugin.records import DesignerInfo
from cchybrid.plugin.registry import Registry, load_registry
from tests.plugins.bench.local_runs import answer_of, made
from tests.plugins.bench.small_suites import changed
from tests.plugins.design.faulty_designers import Faulty, cost_of, path, ring

TABLE = """name,network,nodes,degree,layout,max_wire,latency,max-latency,bisection,source
ring,ring-bi-16,16,2,,,4.00,8,3,table A
wired,,8,3,backplane,3,1.438,3,,table A
cube,hypercube-8,8,3,,,,,4,table B
"""
FILE = '[[designs]]\nfile = "mine.csv"\n'
WITH = f"{FILE}only = {{ name = 'wired' }}\nwith = "
EVALUATIONS = Contestant(time_limit=None, evaluations=3000)
KIND = load_registry().benchmark("designs")
Change = Callable[[dict[str, Any], Any], object]
STEPS_TOML = """[[designs]]
nodes = 5
degree = [2, 3]
collective = "AAS"
weights = "latency=1"
designers = "exhaustive"
"""


def read(folder: Path, toml: str, table: str = TABLE) -> Suite:
    (folder / "mine.csv").write_text(table)
    (folder / "mine.toml").write_text(toml)
    return read_suite(str(folder / "mine.toml"))


@pytest.fixture(name="suite", scope="module")
def _suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return read(tmp_path_factory.mktemp("designs"), f'about = "x"\n{FILE}')


@pytest.fixture(name="runs", scope="module")
def _runs(suite: Suite) -> list[Run]:
    """Return a run of every row, made in this process."""
    return [made("designs", row, EVALUATIONS) for row in suite.rows]


@pytest.fixture(name="steps_suite", scope="module")
def _steps_suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Return a suite with two designs for a collective."""
    return read(tmp_path_factory.mktemp("steps"), STEPS_TOML)


@pytest.fixture(name="steps_runs", scope="module")
def _steps_runs(steps_suite: Suite) -> list[Run]:
    contestant = Contestant(time_limit=60, evaluations=None)
    return [made("designs", row, contestant) for row in steps_suite.rows]


def report_of(suite: Suite, runs: list[Run]) -> Report:
    checked = {run.row: [checked_run(suite, run)] for run in runs}
    return KIND.report(CheckedSuite(Path("x"), "mine", suite.rows, checked), None, load_registry())


def checked_run(suite: Suite, run: Run) -> Checked:
    row = next(row for row in suite.rows if row.name == run.row)
    return check(run, row, KIND, row.digest)


@pytest.mark.parametrize("name", ["gappin", "order-degree", "fewest-steps"])
def test_suites_of_designs_that_ship(name: str) -> None:
    suite = read_suite(name)
    published = [row for row in suite.rows if not row.collective]
    assert all(row.published and row.source for row in published)
    assert len(published) == (0 if name == "fewest-steps" else len(suite.rows))


def test_the_tables_of_gappin_are_designed_by_its_own_designer_too() -> None:
    rows = read_suite("gappin").rows
    own = {row.name: row for row in rows if row.designers == ("gappin",)}
    others = [row for row in rows if not row.network and row.name not in own]
    assert len(own) == len(others) == 18
    for row in others:
        twin = own[f"{row.name}, by gappin"]
        assert (twin.task(), twin.published, twin.source) == (
            row.task(), row.published, row.source,
        )  # fmt: skip


def test_a_table_may_be_repeated_for_other_designers(tmp_path: Path) -> None:
    suite = read(tmp_path, f'{WITH}{{ designers = ["gappin", "annealing gappin"] }}\n')
    assert [(row.name, row.designers) for row in suite.rows] == [
        ("wired, by gappin", ("gappin",)),
        ("wired, by annealing and gappin", ("annealing", "gappin")),
    ]


class Idle(Faulty):
    """Offers a path late; its subclass offers a ring at once."""

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        time.sleep(0.2)
        run.offer(path(task.nodes), cost_of(task, path(task.nodes)))
        return Stop.STALLED


class Quick(Idle):
    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        run.offer(ring(task.nodes), cost_of(task, ring(task.nodes)))
        return Stop.STALLED


def test_seconds_to_the_best_network_count_from_the_start_of_the_first_designer() -> None:
    infos = [
        DesignerInfo(each.__name__, f"{__name__}:{each.__name__}", "x") for each in (Idle, Quick)
    ]
    registry = Registry(designers={info.name.lower(): info for info in infos})
    row = DesignRow("x", 6, 2, weights=(("latency", 1.0),), designers=("idle", "quick"))
    result, _ = KIND.work(row.to_json(), EVALUATIONS.to_solve(), 0, registry)
    assert 0.2 <= result["seconds_to_best"] <= result["seconds"]


def test_a_report_counts_designers_apart(suite: Suite, runs: list[Run]) -> None:
    rows = [*suite.rows, replace(suite.rows[1], name="twin", designers=("gappin",))]
    found = Suite("mine", "x", tuple(rows))
    report = report_of(found, [*runs, made("designs", rows[-1], EVALUATIONS)])
    table = next(section.table for section in report.sections if section.title == "Summary")
    assert table is not None
    assert [(line["networks"], line["rows"]) for line in table] == [
        ("designed by annealing", 1), ("designed by gappin", 1), ("evaluated", 2),
    ]  # fmt: skip
    assert {record["row"]: record["designers"] for record in report.table} == {
        "ring": "", "wired": "annealing", "cube": "", "twin": "gappin",
    }  # fmt: skip


def test_the_suite_of_fewest_steps_has_every_combination() -> None:
    rows = read_suite("fewest-steps").rows
    assert {(row.nodes, row.degree, row.collective) for row in rows} == {
        (nodes, degree, collective)
        for nodes in range(8, 25)
        for degree in (3, 4)
        for collective in ("AAS", "AAB", "OAB")
    }
    assert rows[0].name == "8 nodes, degree 3, AAS"
    assert all(row.task().collective == row.collective for row in rows)


@pytest.mark.long
def test_named_networks_of_the_paper_are_as_published_or_explained() -> None:
    """Every latency of the rings, trees, tori and hypercubes is exact where no note explains it."""
    for row in read_suite("gappin").rows:
        if row.network and row.network != "full-tree-63":
            values = figures_of(row, row.named_links())
            differing = {
                n for n, p in row.published.items() if compared(n, values[n], p) != "equal"
            }
            assert bool(differing) == bool(row.note), row.name
            assert "max-latency" not in differing


def test_a_report_puts_own_and_published_values_side_by_side(
    suite: Suite, runs: list[Run], tmp_path: Path
) -> None:
    files = write_report(report_of(suite, runs), tmp_path / "out", "mine", [])
    assert [file.name for file in files] == ["report.md", "report.csv", "report.html"]
    table = list(csv.DictReader(files[1].read_text().splitlines()))
    verdicts = {(line["row"], line["column"]): line["verdict"] for line in table}
    assert verdicts == {
        ("ring", "latency"): "equal", ("ring", "max-latency"): "equal",
        ("ring", "bisection"): "other definition", ("wired", "latency"): "equal",
        ("wired", "max-latency"): "equal", ("cube", "bisection"): "equal",
    }  # fmt: skip
    text = files[0].read_text()
    assert "| ring | 4.00 | 4 | 8 | 8 | 3 | 2 (!) |" in text
    assert "3000 evaluations, 1 thread each" in text
    assert "heuristic" not in text  # all divisions of 16 nodes are counted


def test_a_report_says_that_bisections_of_many_nodes_may_be_too_high(tmp_path: Path) -> None:
    large = TABLE.replace("ring-bi-16,16", "ring-bi-18,18")
    suite = read(tmp_path, FILE, large)
    sections = report_of(suite, [made("designs", row, EVALUATIONS) for row in suite.rows]).sections
    assert "a bisection is the least that a heuristic finds" in sections[0].text


CHANGES: list[tuple[str, str, Change]] = [
    ("wired", "total distance|not connected", lambda result, record: record["links"].pop()),
    ("wired", "too long", lambda result, record: record.update(max_wire=1)),
    ("wired", "redundant|links", lambda result, record: record["links"].append([0, 1])),
    ("wired", "latency is", lambda result, record: result["design"].update(latency="1.2")),
    ("wired", "max-latency", lambda result, record: result["design"].pop("max-latency")),
    ("AAS", "not valid", lambda result, record: record["schedule"]["steps"].pop()),
    ("AAS", "none of the network|distance|diameter",
     lambda result, record: record["design"]["links"].pop()),
    ("AAS", "steps bound is",
     lambda result, record: record["design"]["claims"].update(steps_bound=4)),
    ("AAS", "key is missing", lambda result, record: record.update(schedule={})),
    ("AAS", "steps is 3", lambda result, record: result["design"].update(steps="2.0")),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("row", "message", "change"), CHANGES)
def test_what_was_changed_is_found(
    suite: Suite, runs: list[Run], steps_suite: Suite, steps_runs: list[Run],
    row: str, message: str, change: Change,
) -> None:  # fmt: skip
    found, run = (suite, runs[1]) if row == "wired" else (steps_suite, steps_runs[0])
    assert re.search(message, checked_run(found, changed(run, change)).failure)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bisection", "bisect", "a design has no 'bisect'"),
        ("4.00", "four", "'four' is no number"),
        ("ring-bi-16,16", "ring-bi-16,15", "ring-bi-16 has 16 nodes"),
        ("ring-bi-16,16", "ring-uni-16,16", "from 0 to 1 without an equal one back"),
        ("ring-bi-16,16", "fat-tree-4,20", "has switches or endpoints"),
        ("ring-bi-16,16", "ring-bi-16,inf", "nodes: 'inf' is no whole number"),
        (",8,3,backplane,3", ",8,2.5,backplane,3", "degree: '2.5' is no whole number"),
        ("cube", "ring", "two rows are called ring"),
        (",8,3,backplane,3", ",8,3,,3", "needs positions"),
        ("wired", "", "a design without a name"),
        ("table A\nwired", "table A,1\nwired", "too many or too few values"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, FILE, TABLE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (f'[[rows]]\ntopology = "ring-bi-8"\ncollective = "AAS"\n{FILE}', "beside designs"),
        ("[[designs]]", "a table without a file"),
        (f"{FILE}with = {{ degree = 3 }}", "only designers can be changed"),
        (f"{WITH}{{ degree = 4, designers = 'gappin' }}", "only designers can be changed"),
        (f"{WITH.replace('wired', 'ring')}{{ designers = 'gappin' }}", "ring-bi-16 is not desig"),
        ("designs = 3", "no list of tables"),
        ("[[designs]]\nnodes = [8, 8]\ndegree = 3\nweights = 'latency=1'", "two rows are called"),
        ("[[designs]]\nnodes = [8, 9]\ndegree = 3\nname = 'x'\nweights = 'latency=1'", "called x"),
        ("[[designs]]\nnodes = 8\ndegre = 3", "a design has no 'degre'"),
        ("[[designs]]\nnodes = [8, 9]\ndegree = 3", "no cost term"),
    ],
)
def test_bad_suites_are_refused(tmp_path: Path, toml: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, f"{toml}\n")


def test_a_network_that_is_none_of_the_task_has_no_figures(suite: Suite) -> None:
    wired = suite.rows[1]
    with pytest.raises(EvidenceError, match="too long"):
        figures_of(wired, tuple((node, (node + 1) % 8) for node in range(8)))


def test_the_report_of_designs_for_a_collective(
    steps_suite: Suite, steps_runs: list[Run], tmp_path: Path
) -> None:
    files = write_report(report_of(steps_suite, steps_runs), tmp_path / "out", "mine", [])
    lines = list(csv.DictReader(files[1].read_text().splitlines()))
    columns = ("row", "column", "ours", "bound", "proven", "certified", "verdict")
    assert [tuple(line[key] for key in columns) for line in lines] == [
        ("5 nodes, degree 2, AAS", "steps", "3", "3", "by a bound", "yes", "new"),
        ("5 nodes, degree 3, AAS", "steps", "2", "2", "by a bound", "yes", "new"),
    ]
    text = files[0].read_text()
    assert "| AAS | 2 | 5 | 3 | 3 | by a bound | yes |" in text


def test_what_was_not_proven_is_not_reported_as_proven(
    steps_suite: Suite, steps_runs: list[Run]
) -> None:
    """Lost evidence is not certified; a bound that is met proves the network all the same."""
    bare = [
        changed(run, lambda _, record: record["schedule"].pop("lower_bound")) for run in steps_runs
    ]
    table = report_of(steps_suite, bare).table
    assert [(line["certified"], line["proven"]) for line in table] == [("no", "by a bound")] * 2


def test_designs_for_a_collective_need_a_time_limit() -> None:
    values = {"name": "x", "nodes": "8", "degree": "3", "collective": "AAS", "steps": "3"}
    row = DesignRow.from_text({**values, "weights": "latency=1"})
    assert "--time-limit" in answer_of("designs", row, EVALUATIONS)["hint"]
    for change, message in (
        ({"collective": ""}, "steps of no collective"),
        ({"network": "hypercube-8"}, "is not designed"),
        ({"collective": "multicast"}, "not designed for"),
    ):
        with pytest.raises(InputError, match=message):
            DesignRow.from_text({**values, "weights": "latency=1", **change})


def test_designers_that_do_not_exist_and_tasks_that_none_can_do() -> None:
    values = {"name": "x", "nodes": "30", "degree": "3", "latency": "3"}
    for designers, message in (
        ("anneal", "no designer is called"),
        ("cpsat-design exhaustive", "no designer found a network for x"),
    ):
        row = DesignRow.from_text({**values, "designers": designers})
        assert message in answer_of("designs", row, EVALUATIONS)["failure"]


@pytest.mark.parametrize(
    ("name", "value", "published", "verdict"),
    [
        ("latency", 3.944, "3.94", "equal"), ("latency", 3.946, "3.94", "worse"),
        ("latency", 3.9, "3.94", "better"), ("max-latency", 7.0, "7", "equal"),
        ("bisection", 6.0, "5", "better"), ("connectivity", 2.0, "3", "worse"),
        ("random-faults", float("inf"), "inf", "equal"), ("random-faults", 5.0, "inf", "better"),
        ("latency", 1.04, "1.0", "equal"), ("latency", 0.4, "1e-3", "worse"),
        ("latency", 15.0004, "1.5e1", "equal"), ("latency", 1.0, "0e400", "equal"),
    ],
)  # fmt: skip
def test_values_are_compared_to_the_precision_of_the_published_one(
    name: str, value: float, published: str, verdict: str
) -> None:
    assert compared(name, value, published) == verdict


def test_a_published_value_beyond_all_floats_is_refused():
    values = {"nodes": "4", "degree": "2"}
    assert DesignRow.from_text({**values, "latency": "-inf"}).published == {"latency": "-inf"}
    for key, text in (("latency", "1e400"), ("max_wire", "9" * 400), ("weights", "latency=1e999")):
        with pytest.raises(InputError, match="is too large"):
            DesignRow.from_text({**values, "latency": "1", "weights": "latency=1", key: text})
