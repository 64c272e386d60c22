"""Executors: every job has one answer, whichever worker dies, and none is left behind."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dask
import distributed
import pytest

from cchybrid.host.cluster.dask_executor import MAX_TRIES, DaskExecutor
from cchybrid.host.cluster.local import LocalExecutor
from cchybrid.host.cluster.opening import executor_name, opened
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.executor import Executor, ExecutorSettings, Job, JobAnswer, run_job
from cchybrid.plugin.registry import load_registry
from tests.host.cluster.dask_processes import command, dask_processes, wait_for

WAITING = """
import os, pathlib, sys, time
name = sys.stdin.read()
folder = pathlib.Path(__file__).parent
with open(folder / f"{name}.starts", "a") as file:
    file.write(f"{os.getpid()}\\n")
while not (folder / "go").exists():
    time.sleep(0.02)
print(name)
"""
"""A module that says that it has started, waits for a file, and answers."""


DEADLY = """
import os, pathlib, signal, sys
name = sys.stdin.read()
with open(pathlib.Path(__file__).parent / f"{name}.starts", "a") as file:
    file.write(f"{os.getpid()}\\n")
os.kill(os.getppid(), signal.SIGKILL)
"""
"""A module that says that it has started, and kills the worker that runs it."""


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "waits_for_a_file.py").write_text(WAITING)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def waiting_job(key: str, seconds: float | None = None) -> Job:
    return Job(key, "waits_for_a_file", key.encode(), seconds=seconds)


def starts(folder: Path, key: str) -> list[int]:
    file = folder / f"{key}.starts"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def is_running(process: int) -> bool:
    return b"waits_for_a_file" in command(process)


def answers(executor: Executor, count: int) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    wait_for(lambda: count == len(found) or take(executor, found), "an answer is missing")
    return found


def take(executor: Executor, found: dict[str, bytes]) -> bool:
    for answer in executor.poll(0.1):
        assert answer.key not in found, "a second answer"
        assert answer.failure == ""
        found[answer.key] = answer.output.strip()
    return False


@contextmanager
def closing(executor: Executor) -> Iterator[Executor]:
    try:
        yield executor
    finally:
        executor.close()


def test_a_job_s_output_is_its_answer_and_a_failure_its_last_line() -> None:
    good = run_job(Job("a", "json.tool", b"[1]"))
    assert (json.loads(good.output), good.failure) == ([1], "")
    bad = run_job(Job("b", "json.tool", b"[1"))
    assert bad.output == b""
    assert bad.failure.startswith("exit 1: ")
    assert run_job(Job("c", "no.such.module", b"")).failure.startswith("exit 1: ")


def test_a_process_that_reads_late_gets_more_than_a_pipe_holds(waiting: Path) -> None:
    (waiting / "late.py").write_text(
        "import sys, time\ntime.sleep(1)\nprint(len(sys.stdin.read()))"
    )
    assert run_job(Job("a", "late", b"x" * 1_000_000, seconds=120)) == JobAnswer("a", b"1000000\n")
    early = run_job(Job("b", "this", b"x" * 1_000_000, seconds=120))
    assert early.failure == "", "a process need not read its input"


def test_a_job_ends_at_its_limit_and_when_it_is_stopped(waiting: Path) -> None:
    assert run_job(waiting_job("late", 0.5)).failure == "gave no answer within 0 s"
    stopped = run_job(waiting_job("stopped"), lambda: bool(starts(waiting, "stopped")))
    assert stopped.failure == "interrupted"
    for key in ("late", "stopped"):
        assert not any(map(is_running, starts(waiting, key)))


def test_the_local_executor_answers_each_job_once_and_leaves_no_process(waiting: Path) -> None:
    with closing(LocalExecutor(ExecutorSettings(jobs=2))) as executor:
        assert executor.slots(4) == 2
        for key in "abc":
            executor.submit(waiting_job(key))
        wait_for(lambda: starts(waiting, "a") and starts(waiting, "b"), "no start")
        assert executor.poll(0.0) == []
        assert starts(waiting, "c") == [], "only two at a time"
        (waiting / "go").touch()
        assert answers(executor, 3) == {"a": b"a", "b": b"b", "c": b"c"}
        (waiting / "go").unlink()
        executor.submit(waiting_job("d"))
        wait_for(lambda: starts(waiting, "d"), "no start")
    assert not any(map(is_running, starts(waiting, "d")))


@pytest.mark.long
def test_dask_runs_jobs_again_whose_workers_are_killed(waiting: Path) -> None:
    with closing(DaskExecutor(ExecutorSettings(jobs=2))) as executor:
        assert isinstance(executor, DaskExecutor)
        wait_for(lambda: executor.slots(1) == 2, "no workers")
        executor.submit(waiting_job("a"))
        executor.submit(waiting_job("b"))
        wait_for(lambda: starts(waiting, "a") and starts(waiting, "b"), "no start")
        for nanny in executor._cluster.workers.values():
            os.kill(nanny.pid, signal.SIGKILL)
        for key in "ab":
            wait_for(lambda key=key: len(starts(waiting, key)) == 2, "not run again")
        (waiting / "go").touch()
        assert answers(executor, 2) == {"a": b"a", "b": b"b"}
        # What still runs when the executor is closed is ended.
        (waiting / "go").unlink()
        executor.submit(waiting_job("c"))
        wait_for(lambda: starts(waiting, "c"), "no start")
    wait_for(lambda: not any(map(is_running, starts(waiting, "c"))), "a process is left")


@pytest.mark.long
def test_a_job_whose_workers_always_die_fails_in_the_end(waiting: Path) -> None:
    (waiting / "deadly.py").write_text(DEADLY)
    found: list[JobAnswer] = []
    # Dask gives a task up after its first death, so that the test takes a minute less.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        closing(DaskExecutor(ExecutorSettings(jobs=1))) as executor,
    ):
        executor.submit(Job("a", "deadly", b"a"))
        wait_for(lambda: found.extend(executor.poll(0.1)) or found, "no answer")
    assert [answer.failure for answer in found] == [
        "its workers died again and again, perhaps of its memory"
    ]
    assert len(starts(waiting, "a")) == MAX_TRIES


@pytest.mark.long
def test_without_its_scheduler_a_run_ends_in_one_line_and_its_jobs_end(
    waiting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(waiting), os.environ["PYTHONPATH"]]))
    # As the jobs of cchybrid do: with its scheduler the worker ends, too.
    ending = "from cchybrid.system.processes import die_with_parent\ndie_with_parent()\n"
    (waiting / "waits_for_a_file.py").write_text(ending + WAITING)
    with (
        dask_processes(waiting, 1) as cluster,
        closing(DaskExecutor(ExecutorSettings(str(cluster.file)))) as executor,
    ):
        wait_for(lambda: executor.slots(1) == 1, "no worker")
        executor.submit(waiting_job("a"))
        wait_for(lambda: starts(waiting, "a"), "no start")
        cluster.scheduler.kill()
        with pytest.raises(InputError, match="the scheduler is gone"):
            wait_for(lambda: executor.poll(0.1), "no error")
        wait_for(lambda: not any(map(is_running, starts(waiting, "a"))), "a process is left")


def test_dask_gives_a_job_as_many_processors_as_it_needs(waiting: Path) -> None:
    said: list[str] = []
    settings = {"dashboard_address": ":0", "silence_logs": 60, "processes": False}
    room = {"n_workers": 1, "threads_per_worker": 4, "resources": {"processors": 4}}
    with distributed.LocalCluster(**room, **settings) as cluster:
        address = cluster.scheduler_address
        with closing(DaskExecutor(ExecutorSettings(address, say=said.append))) as executor:
            assert executor.slots(1) == 4
            assert executor.slots(2) == 2
            with pytest.raises(InputError, match="no worker has 5 processors, but at most 4"):
                executor.slots(5)
            for key in "abc":
                executor.submit(Job(key, "waits_for_a_file", key.encode(), threads=2))
            wait_for(lambda: sum(bool(starts(waiting, key)) for key in "abc") == 2, "no start")
            time.sleep(0.3)
            assert sum(bool(starts(waiting, key)) for key in "abc") == 2, "4 threads, 2 for each"
            (waiting / "go").touch()
            assert answers(executor, 3) == {"a": b"a", "b": b"b", "c": b"c"}
            cluster.scale(0)
            wait_for(lambda: executor.slots(1) == 0, "still workers")
    assert said == [f"waiting for workers of {address}"]


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("no/such/file.json", "there is no file no/such/file.json"),
        ("nonsense://x", "the scheduler cannot be used"),
    ],
)
def test_an_address_without_a_scheduler_is_one_line(address: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        DaskExecutor(ExecutorSettings(address))
    assert "\n" not in str(caught.value)


def test_the_executor_of_a_plugin_runs_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.full_plugin")
    with opened(load_registry(), "Threads", None, 1, 1, print) as executor:
        executor.submit(Job("a", "json.tool", b"1"))
        assert answers(executor, 1) == {"a": b"1"}


def test_an_executor_is_chosen_by_its_name_or_by_an_address() -> None:
    assert executor_name(None, None) == "local"
    assert executor_name(None, "tcp://x:1") == "dask"
    assert executor_name("Local", None) == "local"
    registry = load_registry()
    with opened(registry, "local", None, 3, 1, print) as executor:
        assert executor.slots(1) == 3
    for name, address, complaint in (
        ("dusk", None, "no executor is called dusk; did you mean dask"),
        ("local", "tcp://x:1", "this machine has no address"),
    ):
        with (
            pytest.raises(InputError, match=complaint),
            opened(registry, name, address, 1, 1, print),
        ):
            pass


def test_a_broken_executor_of_a_plugin_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torn.py").write_text(
        "from cchybrid.plugin import ExecutorInfo, hookimpl\n"
        "@hookimpl\ndef cchybrid_executors():\n"
        "    return [ExecutorInfo('torn', 'torn:Missing', 'none'), 3]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "torn")
    registry = load_registry()
    [warning] = registry.warnings
    assert "the executor 3 is of type int, not ExecutorInfo" in warning
    with (
        pytest.raises(PluginError, match="plugin torn: executor torn"),
        opened(registry, "torn", None, 1, 1, print),
    ):
        pass
