"""Suites of throughputs: rows, jobs, the store, and a report that checks every record again."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from cchybrid_plugins.bench.checking import check_suite, stored_suite
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.runner import digests, verified
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import Suite, read_suite

from cchybrid.cli.app import run as command
from cchybrid.library.topologies import network
from cchybrid.model.errors import InputError
from cchybrid.plugin.benchmark_report import Report
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import made

if "throughputs" not in load_registry().benchmarks:
    pytest.skip("no plugin has throughputs", allow_module_level=True)

KIND = load_registry().benchmark("throughputs")
TABLE = """topology,collective,rounds_per_chunk,source,note
ring-bi-4,allgather,3/2,a paper,
ring-bi-4,AAS,3,a paper,too many
dgx-1,AAB,1,a paper,too few
mesh-2x2,AAB,,,
"""


@pytest.fixture(name="suite")
def _suite(tmp_path: Path) -> Suite:
    (tmp_path / "mine.csv").write_text(TABLE)
    (tmp_path / "mine.toml").write_text('about = "x"\n[[throughputs]]\nfile = "mine.csv"\n')
    return read_suite(str(tmp_path / "mine.toml"))


@pytest.fixture(name="store")
def _store(suite: Suite, tmp_path: Path) -> Path:
    """Return a store with a run of every row."""
    path = tmp_path / "mine.sqlite"
    with Store(path, write=True) as store:
        store.put_suite(suite)
        for row in suite.rows:
            store.put(made("throughputs", row, Contestant()))
    return path


def test_the_suite_that_ships() -> None:
    suite = read_suite("forestcoll")
    assert suite.kind == "throughputs"
    assert tuple(KIND.from_json(row.to_json()) for row in suite.rows) == suite.rows
    assert set(digests(suite, load_registry())) == {row.name for row in suite.rows}


def test_files_are_those_of_their_names_beside_the_suite(tmp_path: Path) -> None:
    for file, name in (("Net.json", "mesh-1x3"), ("net.json", "complete-3")):
        record = {"format": "cchybrid-network/1", "network": network(name).to_json()}
        (tmp_path / file).write_text(json.dumps(record))
    (tmp_path / "mine.toml").write_text(
        '[[throughputs]]\ntopology = "./Net.json"\ncollective = "AAB"\n'
    )
    [row] = read_suite(str(tmp_path / "mine.toml")).rows
    assert row.name == "Net.json AAB throughput"
    assert len(row.instance(load_registry()).network.channels) == 4


def test_a_report_compares_with_what_was_published(store: Path) -> None:
    table = report_of(store).table
    assert [line["verdict"] for line in table] == ["equal", "better", "impossible", "new"]
    assert [line["ours"] for line in table] == ["3/2", "2", "7/6", "3/2"]
    assert {line["proof"] for line in table} == {"yes"}


def report_of(store: Path) -> Report:
    registry = load_registry()
    checked = check_suite(store, stored_suite(store, None, registry), registry)
    return KIND.report(checked, None, registry)


@pytest.mark.parametrize("change", ["ratio", "instance", "trees", "text"])
def test_a_forged_record_does_not_count(store: Path, change: str) -> None:
    with Store(store, write=True) as opened:
        run, other, *_ = opened.runs()
        record, result = json.loads(zlib.decompress(run.record or b"")), dict(run.result)
        if change == "ratio":
            result["rounds_per_chunk"] = str(Fraction(result["rounds_per_chunk"]) / 2)
        elif change == "instance":
            result["digest"] = other.result["digest"]
        elif change == "trees":
            record["trees"][0]["chunks"] += 1
        packed = b"x" if change == "text" else zlib.compress(json.dumps(record).encode())
        opened.put(Run(run.row, run.contestant, 0, "", result, packed))
    report = report_of(store)
    assert len(report.table) == 3
    assert [line.split(":")[0] for each in report.sections for line in each.lines] == [
        run.row, f"{run.row}, seed 0",
    ]  # fmt: skip


def test_a_coordinator_stores_no_forged_throughput(suite: Suite) -> None:
    row = suite.rows[0]
    digest = KIND.digest(row, load_registry())
    sound = made("throughputs", row, Contestant())
    assert verified(sound, row, KIND, digest) is sound
    forged = replace(sound, result={**sound.result, "bound": "1"})
    assert "does not hold" in verified(forged, row, KIND, digest).failure
    # The progress rests on what is checked alone.
    open_one = {**sound.result, "rounds_per_chunk": "9", "certified": True}
    assert KIND.words(open_one) == f"9 rounds per chunk, at least {sound.result['bound']}"


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ("topology,collective,chunks\na,b,3", "has no 'chunks'"),
        ("topology,collective\nring-bi-4,", "without a collective"),
        ("topology,collective,rounds_per_chunk\nring-bi-4,AAB,1.5", "no fraction"),
        ("topology,collective,rounds_per_chunk\nring-bi-4,AAB,1/0", "no fraction"),
        ("topology,collective\nring-bi-4,AAB\nring-bi-4,allgather", "two rows"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, table: str, error: str) -> None:
    (tmp_path / "bad.csv").write_text(table)
    (tmp_path / "bad.toml").write_text('[[throughputs]]\nfile = "bad.csv"\n')
    with pytest.raises(InputError, match=error):
        read_suite(str(tmp_path / "bad.toml"))


def test_commands(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bench", "report", str(store), "-o", str(tmp_path / "out")]) == 0
    assert "7/6" in (tmp_path / "out" / "report.md").read_text()
    assert command(["bench", "report", str(store), "--pages"]) == 2
    assert command(["bench", "run", "forestcoll", "--engine", "tabu"]) == 2
    assert "need no engines" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--seeds", "--time-limit", "--threads"])
def test_throughputs_have_no_budget(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bench", "run", "forestcoll", option, "3"]) == 2
    assert f"{option}: the rows of forestcoll have no budget" in capsys.readouterr().err
