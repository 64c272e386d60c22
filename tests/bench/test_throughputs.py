"""Suites of throughputs: rows, jobs, the store, and a report that checks every record again."""

from __future__ import annotations

import json
import zlib
from fractions import Fraction
from pathlib import Path

import pytest

from cchybrid.bench.contestant import Contestant
from cchybrid.bench.merging import merge
from cchybrid.bench.report.reading import check_suite, stored_suite
from cchybrid.bench.report.sections import Report
from cchybrid.bench.report.throughputs import throughput_report
from cchybrid.bench.runner import digests, run_suite, verified
from cchybrid.bench.store import Run, Store
from cchybrid.bench.suite import Suite, read_suite
from cchybrid.bench.throughput_row import ThroughputRow
from cchybrid.cli.app import run as command
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.bench.local_runs import local

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
    registry, path = load_registry(), tmp_path / "mine.sqlite"
    with Store(path, write=True) as store:
        store.put_suite(suite)
        for row in suite.throughputs:
            answer = row.work(registry)
            packed = zlib.compress(json.dumps(answer["schedule"]).encode())
            store.put(Run(row.name, Contestant(), 0, "", answer["result"], packed))
    return path


def test_the_suite_that_ships() -> None:
    suite = read_suite("forestcoll")
    assert not suite.rows
    assert [ThroughputRow.from_json(row.to_json()) for row in suite.throughputs] == list(
        suite.throughputs
    )
    assert set(digests(suite, load_registry())) == {row.name for row in suite.all_rows}


def test_the_job_runs_in_a_process_of_its_own(suite: Suite, tmp_path: Path) -> None:
    registry, seen = load_registry(), []
    few = Suite("few", "", (), throughputs=suite.throughputs[:1])
    for _ in range(2):  # the second time nothing is left to do
        with Store(tmp_path / "few.sqlite", write=True) as store:
            assert run_suite(
                few,
                digests(few, registry),
                store,
                [Contestant()],
                [0],
                local(1),
                seen.append,
                registry,
            )
    assert [progress.run.result["rounds_per_chunk"] for progress in seen] == ["3/2"]


def test_a_report_compares_with_what_was_published(store: Path) -> None:
    table = report_of(store).rows
    assert list(table.verdict) == ["equal", "better", "impossible", "new"]
    assert list(table.ours) == ["3/2", "2", "7/6", "3/2"]
    assert set(table.proof) == {"yes"}


def report_of(store: Path) -> Report:
    return throughput_report(check_suite(store, stored_suite(store, None), load_registry()), "")


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
    assert len(report.rows) == 3
    assert [line.split(":")[0] for each in report.sections for line in each.lines] == [
        run.row, f"{run.row}, seed 0",
    ]  # fmt: skip


def test_a_coordinator_stores_no_forged_throughput(suite: Suite) -> None:
    registry, row = load_registry(), suite.throughputs[0]
    digest = row.instance(registry).digest
    answer = row.work(registry)
    packed = zlib.compress(json.dumps(answer["schedule"]).encode())
    sound = Run(row.name, Contestant(), 0, "", answer["result"], packed)
    assert verified(sound, row, digest) is sound
    forged = Run(row.name, Contestant(), 0, "", {**answer["result"], "bound": "1"}, packed)
    assert "does not hold" in verified(forged, row, digest).failure


def test_stores_of_throughputs_are_merged(store: Path, tmp_path: Path) -> None:
    with Store(tmp_path / "all.sqlite", write=True) as output:
        assert merge([store], output, load_registry()).refused == []
    assert list(report_of(tmp_path / "all.sqlite").rows.proof) == ["yes"] * 4


def test_a_row_that_was_not_run_is_named(store: Path) -> None:
    with Store(store, write=True) as opened:
        run, *_ = opened.runs()
        opened.put(Run(run.row, run.contestant, 0, "no room", {}))
    assert [line for each in report_of(store).sections for line in each.lines] == [
        f"{run.row}: no run counts", f"{run.row}, seed 0: no room",
    ]  # fmt: skip


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


def test_throughputs_stand_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(TABLE)
    text = '[[throughputs]]\nfile = "mine.csv"\n[[rows]]\ntopology = "ring-bi-4"\n'
    (tmp_path / "mixed.toml").write_text(text + 'collective = "AAB"\n')
    with pytest.raises(InputError, match="beside other rows"):
        read_suite(str(tmp_path / "mixed.toml"))


def test_commands(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["bench", "report", str(store), "-o", str(tmp_path / "out")]) == 0
    assert "7/6" in (tmp_path / "out" / "report.md").read_text()
    assert command(["bench", "report", str(store), "--pages"]) == 2
    assert command(["bench", "run", "forestcoll", "--engine", "tabu"]) == 2
    assert "need no engines" in capsys.readouterr().err
