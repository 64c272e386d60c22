"""Benchmark runs: nothing is lost, nothing is done twice, whatever ends them."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.runner import Progress, digests, run_suite, tasks_of
from cchybrid_plugins.bench.schedule_checks import stored_schedule
from cchybrid_plugins.bench.store import Store
from cchybrid_plugins.bench.suite import Suite, read_suite

from cchybrid.cli.app import run as command
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import COLOURING, fill, local, suite_of

SUITE = """
name = "six"
[[rows]]
topology = ["ring-bi-6", "mesh-2x3"]
collective = ["AAS", "AAB", "OAB"]
"""
HALF = SUITE.replace(', "mesh-2x3"', "")
COMMAND = ("--engine", "colouring", "--evaluations", "20", "--seeds", "1", "--threads", "1")


def bench(folder: Path, *words: str, store: str = "s.sqlite") -> subprocess.Popen[str]:
    (folder / "six.toml").write_text(SUITE)
    return subprocess.Popen(
        [sys.executable, "-m", "cchybrid", "bench", "run", "six.toml", "--store", store,
         *(words or COMMAND)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def ran(
    suite: Suite, store: Store, watch: Callable[[Progress], None], *, jobs: int = 2,
    contestant: Contestant = COLOURING, changed: Mapping[str, str] = MappingProxyType({}),
) -> bool:  # fmt: skip
    """Run a suite with one contestant and seed, as if the digests of some rows had changed."""
    instances = {**digests(suite, load_registry()), **changed}
    tasks = tasks_of(suite, [contestant], [0])
    return run_suite(suite, tasks, instances, store, local(jobs), watch)


CLOCK_TIMES = (
    "seconds", "seconds_to_best", "start_seconds", "search_seconds", "overrun", "times",
)  # fmt: skip


def content(path: Path) -> dict[tuple[str, str, int], object]:
    """Return what a store says, without what no two runs have in common: times."""
    with Store(path) as store:
        found = {}
        for run in store.runs():
            schedule = stored_schedule(run)
            kept = {key: value for key, value in run.result.items() if key not in CLOCK_TIMES}
            kept["contributions"] = [
                {**each, "seconds": None} for each in kept.get("contributions", ())
            ]
            # Runs made in this process have no software in their contestants.
            key = (run.row, replace(run.contestant, software="").key, run.seed)
            found[key] = (run.failure, kept, schedule and schedule.steps)
        return found


def jobs_at_work(folder: Path) -> list[int]:
    """Return the processes of cchybrid whose working folder this is."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and Path(os.readlink(entry / "cwd")) == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def wait_until_gone(folder: Path) -> None:
    end = time.monotonic() + 10
    while jobs_at_work(folder) and time.monotonic() < end:
        time.sleep(0.05)
    assert jobs_at_work(folder) == []


@pytest.mark.long
def test_killed_and_resumed_it_equals_an_undisturbed_run(tmp_path):
    calm = bench(tmp_path, *COMMAND, "--jobs", "2", store="calm.sqlite")
    said = calm.communicate(timeout=240)
    assert calm.returncode == 0, said
    undisturbed = content(tmp_path / "calm.sqlite")
    assert len(undisturbed) == 6
    dice = random.Random(4)
    done = 0
    for _ in range(10):
        process = bench(tmp_path, *COMMAND, "--jobs", "2")
        time.sleep(dice.uniform(0.1, 1.6))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        wait_until_gone(tmp_path)
        if (tmp_path / "s.sqlite").exists() and (tmp_path / "s.sqlite").stat().st_size:
            found = content(tmp_path / "s.sqlite")
            assert len(found) >= done, "a finished run was lost"
            assert found.items() <= undisturbed.items()
            done = len(found)
    process = bench(tmp_path, *COMMAND, "--jobs", "2")
    shown = process.communicate(timeout=240)[1]
    assert process.returncode == 0, shown
    # What was finished is not done again: one line for each run that was missing.
    assert sum(line.startswith("[") for line in shown.splitlines()) == 6 - done
    assert content(tmp_path / "s.sqlite") == undisturbed


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process_behind_and_goes_on(tmp_path, number):
    process = bench(tmp_path, "--engine", "umda", "--time-limit", "30", "--jobs", "2")
    end = time.monotonic() + 30
    while len(jobs_at_work(tmp_path)) < 4:  # itself, two runs and a worker
        assert time.monotonic() < end
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(process.pid, number)
    shown = process.communicate(timeout=30)[1]
    assert process.returncode == 1
    assert "interrupted; the same command continues" in shown
    wait_until_gone(tmp_path)
    with Store(tmp_path / "s.sqlite") as store:
        assert all(not run.failure for run in store.runs())


@pytest.mark.long
def test_failed_runs_are_kept_and_done_again(tmp_path, monkeypatch):
    suite = suite_of(tmp_path, HALF.replace(', "OAB"', ""), "six")
    broken = replace(COLOURING, options={"colouring": {"nonsense": "1"}})
    seen = []
    with Store(tmp_path / "s.sqlite", write=True) as store:
        # Settings that an engine refuses would fail in every row.
        with pytest.raises(InputError, match="nonsense"):
            ran(suite, store, seen.append, contestant=broken)
        assert seen == list(store.runs()) == []
        # A process that breaks down costs its own run.
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", "/bin/false")
            assert ran(suite, store, seen.append, jobs=1)
        assert [progress.done for progress in seen] == [1, 2]
        assert [run.failure for run in store.runs()] == ["exit 1"] * 2
        assert ran(suite, store, seen.append)
        assert [run.failure for run in store.runs()] == ["", ""]


@pytest.mark.slow
def test_what_was_finished_when_the_interrupt_came_is_kept(tmp_path, monkeypatch):
    suite = suite_of(tmp_path, SUITE, "six")
    started = []
    submit = ThreadPoolExecutor.submit

    def watched(*words):
        started.append(submit(*words))
        return started[-1]

    monkeypatch.setattr(ThreadPoolExecutor, "submit", watched)

    def interrupt(progress: Progress) -> None:
        end = time.monotonic() + 60
        while not all(future.done() for future in started):  # the other job ends meanwhile
            assert time.monotonic() < end
            time.sleep(0.05)
        raise KeyboardInterrupt

    with Store(tmp_path / "s.sqlite", write=True) as store:
        assert not ran(suite, store, interrupt)
        assert [run.failure for run in store.runs()] == ["", ""]


@pytest.mark.long
def test_another_instance_under_the_same_name_is_run_again(tmp_path):
    suite = suite_of(tmp_path, HALF.replace(', "OAB"', ""), "six")
    with Store(tmp_path / "s.sqlite", write=True) as store:
        seen = []
        assert ran(suite, store, seen.append)
        assert ran(suite, store, seen.append)
        assert len(seen) == 2
        assert ran(suite, store, seen.append, changed={"ring-bi-6 AAS": "another"})
        assert [progress.run.row for progress in seen[2:]] == ["ring-bi-6 AAS"]


@pytest.mark.long
def test_a_full_disk_leaves_no_process_behind(tmp_path, monkeypatch):
    """Not even where the store fails a second time while the run is ended."""
    suite = suite_of(tmp_path, SUITE, "six")

    def full(self: Store, run: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.chdir(tmp_path)
    before = signal.getsignal(signal.SIGINT)
    with Store(tmp_path / "s.sqlite", write=True) as store:
        monkeypatch.setattr(Store, "put", full)
        with pytest.raises(sqlite3.OperationalError):
            ran(suite, store, print)
    assert signal.getsignal(signal.SIGINT) is before
    assert [pid for pid in jobs_at_work(tmp_path) if pid != os.getpid()] == []


def test_rows_are_run_by_all_contestants_one_after_another():
    suite = read_suite("smoke")
    two = [Contestant(("umda",)), Contestant(("cpsat",))]
    tasks = tasks_of(suite, two, [3, 4])
    assert len(tasks) == 4 * len(suite.rows)
    assert [(task.seed, task.contestant) for task in tasks[:4]] == [
        (3, two[0]), (3, two[1]), (4, two[0]), (4, two[1]),
    ]  # fmt: skip


def test_a_job_does_not_import_the_kernels_of_designs():
    """The kernels take a second to load, longer than many schedules take."""
    code = (
        "import sys, cchybrid_plugins.bench.job; print([m for m in sys.modules if 'design' in m])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_two_files_of_one_name_do_not_share_a_store(tmp_path, capsys, monkeypatch):
    """The rows have one name, so that runs of one would take the place of the other's."""
    monkeypatch.chdir(tmp_path)
    for name, links in (("a", "0 1\n1 2\n2 3\n3 0\n"), ("b", "0 1\n1 2\n2 0\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.edges").write_text(links)
        toml = f'name = "{name}"\n[[rows]]\ntopology = "./{name}/net.edges"\ncollective = "AAS"\n'
        fill(tmp_path / f"{name}.sqlite", suite_of(tmp_path, toml, name), [])
    assert command(["bench", "run", "b.toml", *COMMAND, "--store", "a.sqlite"]) == 2
    line = "a.sqlite: the row net.edges AAS of its suite a is another task than that of b"
    assert line in capsys.readouterr().err
    assert command(["bench", "merge", "a.sqlite", "b.sqlite", "-o", "m.sqlite"]) == 2
    assert "is another task than that of b; name another store" in capsys.readouterr().err
