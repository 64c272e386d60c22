"""Shards: together all runs, each once; merged they are the store of one run."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.merging import merge
from cchybrid_plugins.bench.runner import tasks_of
from cchybrid_plugins.bench.shards import Shard, read_shard
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import read_suite

from cchybrid.cli.app import run as command
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import COLOURING, fill, made, suite_of
from tests.plugins.bench.small_suites import changed
from tests.plugins.bench.test_runner import COMMAND, HALF, content


@pytest.mark.parametrize("count", [1, 3, 7])
def test_shards_are_disjoint_equally_large_and_everything_together(count: int) -> None:
    tasks = tasks_of(read_suite("smoke"), [COLOURING, Contestant(("umda",))], [0, 1, 2])
    parts = [Shard(index, count).of(tasks) for index in range(1, count + 1)]
    keys = [task.key for part in parts for task in part]
    assert sorted(keys) == sorted(task.key for task in tasks)
    assert len({*keys}) == len(keys)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    # The order of the rows in the suite decides nothing.
    for part, index in zip(parts, range(1, count + 1), strict=True):
        other = Shard(index, count).of(tasks[::-1])
        assert {task.key for task in other} == {task.key for task in part}


def test_shards_of_machines_with_other_software_are_parts_of_one_suite() -> None:
    """A plugin more, or a newer version: a row would be in two parts, and another in none."""
    suite, count = read_suite("smoke"), 4
    parts = []
    for index in range(1, count + 1):
        engines = (replace(COLOURING, software=f"{index}"), Contestant(("umda",), software="x"))
        parts += Shard(index, count).of(tasks_of(suite, engines, [0, 1]))
    found = {(task.row.name, task.contestant.name, task.seed) for task in parts}
    assert len(found) == len(parts) == 4 * len(suite.rows)


@pytest.mark.parametrize(
    "text", ["", "0/3", "4/3", "1", "1/0", "a/b", "-1/3", "1/9999999", "1/2/3"]
)
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no shard"):
        read_shard(text)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of each row."""
    folder = tmp_path_factory.mktemp("whole")
    suite = suite_of(folder, HALF, "six")
    made_runs = (made("schedules", row, COLOURING) for row in suite.rows)
    return fill(folder / "whole.sqlite", suite, made_runs)


def runs(path: Path) -> list[Run]:
    with Store(path) as store:
        return list(store.runs())


def store_of(whole: Path, path: Path, kept: list[Run]) -> Path:
    """Write a store with the suite of another one and these runs."""
    return fill(path, read_suite(str(whole.parent / "six.toml")), kept)


@pytest.fixture
def three(whole: Path) -> list[Run]:
    found = runs(whole)
    assert len(found) == 3
    return found


@pytest.mark.slow
def test_merged_parts_are_the_whole_each_run_once(whole: Path, three: list[Run], tmp_path: Path):
    failed = replace(three[2], failure="exit 1: ", result={}, record=None)
    first = store_of(whole, tmp_path / "1.sqlite", [three[0], failed])
    second = store_of(whole, tmp_path / "2.sqlite", [three[0], three[1], three[2]])
    with Store(tmp_path / "all.sqlite", write=True) as store:
        merged = merge([first, second], store, load_registry())
        # A run takes the place of the failed one, which is no new run then.
        assert (merged.added, merged.known, merged.refused) == (3, 2, [])
    assert content(tmp_path / "all.sqlite") == content(whole)
    with Store(tmp_path / "all.sqlite", write=True) as store:
        again = merge([second, first], store, load_registry())
        assert (again.added, again.known, again.refused) == (0, 5, [])
    assert content(tmp_path / "all.sqlite") == content(whole)


def test_a_failed_run_of_the_store_that_is_replaced_is_one_new_run(
    whole: Path, three: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = replace(three[0], failure="exit 1: ", result={}, record=None)
    parts = store_of(whole, tmp_path / "1.sqlite", [failed]), whole
    output = tmp_path / "all.sqlite"
    for given, words in (
        (parts[:1], "1 runs, 1 of them new"),
        (parts[1:], "3 runs, 3 of them new"),  # the failed one is replaced
        (parts, "3 runs, 0 of them new; 4 were there already"),
    ):
        assert command(["bench", "merge", *map(str, given), "-o", str(output)]) == 0
        assert capsys.readouterr().out == f"{output}: {words}\n"
    output.unlink()
    assert command(["bench", "merge", *map(str, parts), "-o", str(output)]) == 0
    assert "3 runs, 3 of them new; 1 were there already" in capsys.readouterr().out


def test_of_two_runs_that_hold_the_measured_one_is_kept(
    whole: Path, three: list[Run], tmp_path: Path
) -> None:
    measured = replace(three[0], result={**three[0].result, "cost": {"processes": 1}})
    stores = [
        store_of(whole, tmp_path / f"{number}.sqlite", [run])
        for number, run in enumerate((measured, three[0]))
    ]
    for name, order in (("a.sqlite", stores), ("b.sqlite", stores[::-1])):
        with Store(tmp_path / name, write=True) as store:
            merge(order, store, load_registry())
            (kept,) = store.runs()
            assert kept.result["cost"] == {"processes": 1}


def forged(run: Run) -> Run:
    """Return the run with a schedule that lacks a transfer."""
    return changed(run, lambda result, record: record["steps"][0].pop(0))


def test_what_does_not_hold_is_left_out(
    whole: Path, three: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stray = replace(three[1], row="no such row")
    part = store_of(whole, tmp_path / "part.sqlite", [forged(three[0]), three[1], stray])
    status = command(["bench", "merge", str(part), "-o", str(tmp_path / "all.sqlite")])
    shown = capsys.readouterr()
    assert status == 1
    assert "1 runs, 1 of them new; 2 do not hold and were left out" in shown.out
    named = f"left out: {three[0].row} [colouring, seed 0]: does not hold: the schedule is invalid"
    assert named in shown.err
    assert (
        "left out: no such row [colouring, seed 0]: no suite of its store has such a row"
        in shown.err
    )
    assert [run.key for run in runs(tmp_path / "all.sqlite")] == [three[1].key]


def test_a_merge_that_the_disk_ends_leaves_no_file(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(store: Store, run: Run) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(Store, "put", full)
    output = tmp_path / "all.sqlite"
    assert command(["bench", "merge", str(whole), "-o", str(output)]) == 2
    assert "the store cannot be written: No space left on device" in capsys.readouterr().err
    assert not output.exists()


def test_a_run_that_holds_by_the_rows_of_its_own_store_stays(
    whole: Path, three: list[Run], tmp_path: Path
) -> None:
    later = suite_of(tmp_path, HALF.replace(', "OAB"', "").replace('"six"', '"later"'), "later")
    rowless = fill(tmp_path / "later.sqlite", later, three)  # OAB lost its row after its run
    with Store(tmp_path / "all.sqlite", write=True) as store:
        merged = merge([whole, rowless], store, load_registry())
    assert (merged.added, merged.known, merged.refused) == (3, 3, [])
    assert content(tmp_path / "all.sqlite") == content(whole)


def script(folder: Path, *words: str) -> str:
    (folder / "six.toml").write_text(HALF)
    once = COMMAND[:-2] if "--threads" in words else COMMAND  # its last option is --threads
    words = ("six.toml", *once, *words)
    assert command(["bench", "run", *words, "--slurm", "six.slurm", "--shards", "2"]) == 0
    return (folder / "six.slurm").read_text()


def test_the_slurm_script_is_valid_and_asks_for_what_its_runs_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = script(tmp_path, "--jobs", "3", "--threads", "2", "--time-limit", "100")
    assert subprocess.run(["bash", "-n", "six.slurm"], check=False).returncode == 0
    settings = dict(
        line.removeprefix("#SBATCH --").split("=")
        for line in text.splitlines()
        if line.startswith("#SBATCH") and "=" in line
    )
    assert settings["array"] == "1-2"
    assert settings["cpus-per-task"] == "6"
    # Three runs in two jobs with three at a time: one after another there is one.
    assert settings["time"] == "00:07:00"
    [line] = [line for line in text.splitlines() if line.startswith("exec ")]
    assert "--engine colouring" in line
    assert "--time-limit 100.0" in line
    assert not (tmp_path / "six.sqlite").exists()
    assert "written to six.slurm: 3 runs in 2 jobs" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--first-schedule", "--no-first-schedule"])
def test_the_slurm_script_repeats_a_flag_as_it_was_given(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = script(tmp_path, option).split()
    assert words[words.index(option) + 1].startswith("--")


@pytest.mark.long
def test_the_jobs_of_the_slurm_script_merge_to_the_whole(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    script(tmp_path, "--jobs", "1")
    tool = tmp_path / "cchybrid"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cchybrid "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for task in ("1", "2", "2"):  # a job that is submitted again does nothing
        subprocess.run(
            ["sh", "six.slurm"], check=True, env={**environment, "SLURM_ARRAY_TASK_ID": task}
        )
    done = subprocess.run(["sh", "six.slurm"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "SLURM_ARRAY_TASK_ID" in done.stderr
    parts = sorted(str(path) for path in tmp_path.glob("six-*-of-2.sqlite"))
    assert len(parts) == 2
    assert command(["bench", "merge", *parts, "-o", "all.sqlite"]) == 0
    assert content(tmp_path / "all.sqlite") == content(whole)


def test_a_run_of_the_store_that_does_not_hold_keeps_out_no_other(
    whole: Path, three: list[Run], tmp_path: Path
) -> None:
    wrong = forged(three[0])
    path = store_of(whole, tmp_path / "old.sqlite", [wrong])
    with Store(path, write=True) as store:
        merged = merge([whole], store, load_registry())
    assert content(path) == content(whole)
    assert merged.added == 3
    (line,) = merged.refused
    assert line.startswith(f"{wrong.row} [colouring, seed 0]: does not hold: ")
