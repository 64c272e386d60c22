"""The executor of Dask clusters: a job has one answer, whichever worker dies; none is left."""

import os
import signal
import time

import dask
import distributed
import pytest
from cchybrid_plugins.cluster.dask_executor import MAX_TRIES, DaskExecutor

from cchybrid.host.executors import executor_name
from cchybrid.model.errors import InputError
from cchybrid.plugin.executor import ExecutorSettings, Job, JobAnswer
from cchybrid.plugin.registry import load_registry
from tests.host.running_jobs import (
    WAITING,
    answers,
    closing,
    is_running,
    starts,
    wait_for,
    waiting_job,
)
from tests.plugins.cluster.dask_processes import dask_processes

DEADLY = """
import os, pathlib, signal, sys
name = sys.stdin.read()
with open(pathlib.Path(__file__).parent / f"{name}.starts", "a") as file:
    file.write(f"{os.getpid()}\\n")
os.kill(os.getppid(), signal.SIGKILL)
"""
"""A module that says that it has started, and kills the worker that runs it."""


@pytest.mark.long
def test_dask_runs_jobs_again_whose_workers_are_killed(waiting):
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
def test_a_job_whose_workers_always_die_fails_in_the_end(waiting):
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
def test_without_its_scheduler_a_run_ends_in_one_line_and_its_jobs_end(waiting, monkeypatch):
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


def test_dask_gives_a_job_as_many_processors_as_it_needs(waiting):
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
def test_an_address_without_a_scheduler_is_one_line(address, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        DaskExecutor(ExecutorSettings(address))
    assert "\n" not in str(caught.value)


def test_an_address_alone_means_dask():
    assert executor_name(load_registry(), None, "tcp://x:1") == "dask"
