"""A kind of benchmarks that only a plugin knows: read, run, merged, checked and reported."""

import csv
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from cchybrid_plugins.bench.store import Store

from cchybrid.cli.app import run as command
from cchybrid.plugin import BenchmarkKind, hookimpl
from cchybrid.plugin.registry import MODULES_VARIABLE, load_registry

ROOT = Path(__file__).parents[3]
SUITE = """
[[sums]]
numbers = ["1 2 3", "2 2", "nothing"]
published = 5
[[sums]]
file = "more.csv"
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODULES_VARIABLE, "tests.plugins.bench.fourth_kind")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SUITE)
    Path("more.csv").write_text("numbers,published\n7 8,15\n")


@pytest.mark.slow
def test_it_is_run_merged_checked_and_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["bench", "run", "mine.toml", "--time-limit", "9"]) == 1
    shown = capsys.readouterr()
    assert "sum of 1 2 3 [auto, seed 0]: the sum is 6" in shown.err
    assert "sum of nothing [auto, seed 0]: failed" in shown.err
    with Store("mine.sqlite", write=True) as store:
        runs = {run.key[::2]: run for run in store.runs()}
        good, other = runs["sum of 2 2", 0], runs["sum of 7 8", 0]
        store.put(replace(good, seed=5, result={**good.result, "sum": 5}))
        store.put(replace(other, row="sum of 2 2", seed=6))
        store.put(replace(good, seed=7, record=b"x"))
    assert command(["bench", "merge", "mine.sqlite", "-o", "all.sqlite"]) == 1
    assert "all.sqlite: 4 runs, 4 of them new; 3 do not hold" in capsys.readouterr().out
    assert command(["bench", "report", "mine.sqlite"]) == 0
    lines = list(csv.DictReader(Path("mine-report/report.csv").read_text().splitlines()))
    assert [(line["row"], line["sum"], line["published"]) for line in lines] == [
        ("sum of 1 2 3", "6.0", "5"), ("sum of 2 2", "4.0", "5"), ("sum of 7 8", "15.0", "15"),
    ]  # fmt: skip
    text = Path("mine-report/report.md").read_text()
    assert "cchybrid bench run mine.toml --time-limit 9 --threads 1 --seeds 0,5-7" in text
    assert "- sum of 2 2, seed 5: does not hold: ValueError: it is another sum" in text
    assert "- sum of 2 2, seed 6: does not hold: its instance differs" in text
    assert "- sum of 2 2, seed 7: does not hold: ValueError: the packed record" in text
    assert "- sum of nothing: no run counts" in text
    assert command(["bench", "report", "mine.sqlite", "mine.sqlite"]) == 2
    assert "reports of sums compare no stores" in capsys.readouterr().err
    monkeypatch.delenv(MODULES_VARIABLE)
    assert command(["bench", "report", "mine.sqlite"]) == 2
    assert "no plugin registers the kind of the suite mine" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "toml", "line"),
    [
        ("--engine tabu", SUITE, "the rows of mine need no engines"),
        ("", "[[sums]]\nnumber = 3\n", "a sum has no such column"),
        ("", "[[sums]]\nnumbers = [3, 3]\n", "two rows are called sum of 3"),
        ("", SUITE + "[[rows]]\ntopology = 'ring-bi-4'\n", "sums beside schedules"),
        ("", SUITE + "[[contestants]]\nengine = 'tabu'\n", "sums beside contestants"),
        ("", SUITE + "[[products]]\nnumbers = 3\n", "the suite has no 'products'"),
    ],
)
def test_what_it_does_not_have_is_refused(
    words: str, toml: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine.toml").write_text(toml)
    assert command(["bench", "run", "mine.toml", *words.split()]) == 2
    assert line in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "trouble"),
    [
        (BenchmarkKind("rows", "a:B", "x"), "its key rows is that of benchmark schedules"),
        (BenchmarkKind("own", "a:B", "x", key="question"), "its key question is that of benchmark"),
        (BenchmarkKind("schedules", "a:B", "x", tables=("y",), key="y"), "already provided"),
        (BenchmarkKind("own", "a", "x"), "does not name module:object"),
    ],
)
def test_a_kind_that_clashes_is_a_trouble(
    kind: BenchmarkKind, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @hookimpl
    def cchybrid_benchmarks() -> Iterable[BenchmarkKind]:
        return (kind,)

    plugin = SimpleNamespace(cchybrid_benchmarks=cchybrid_benchmarks)
    monkeypatch.setitem(__import__("sys").modules, "clashing", plugin)
    monkeypatch.setenv(MODULES_VARIABLE, "clashing")
    (warning,) = load_registry().warnings
    assert trouble in warning


def test_a_kind_that_cannot_be_imported_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.plugins.bench.fourth_kind.__name__", "no.such.module")
    assert command(["bench", "run", "mine.toml"]) == 2
    shown = capsys.readouterr().err
    assert "plugin tests.plugins.bench.fourth_kind: benchmark sums: ModuleNotFoundError" in shown
    assert shown.count("\n") == 1
