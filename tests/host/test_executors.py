"""Jobs, the executor of this machine, and executors that the user names."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest

import cchybrid
from cchybrid.host.executors import executor_name, opened
from cchybrid.host.local_executor import LocalExecutor
from cchybrid.model.errors import InputError, PluginError
from cchybrid.plugin.executor import ExecutorSettings, Job, JobAnswer, run_job
from cchybrid.plugin.records import ExecutorInfo
from cchybrid.plugin.registry import load_registry
from tests.host.running_jobs import answers, closing, is_running, starts, wait_for, waiting_job


def test_a_job_s_output_is_its_answer_and_a_failure_its_last_line():
    good = run_job(Job("a", "json.tool", b"[1]"))
    assert (json.loads(good.output), good.failure) == ([1], "")
    bad = run_job(Job("b", "json.tool", b"[1"))
    assert bad.output == b""
    assert bad.failure.startswith("exit 1: ")
    assert run_job(Job("c", "no.such.module", b"")).failure.startswith("exit 1: ")


def test_a_job_that_is_killed_says_so(tmp_path, monkeypatch):
    (tmp_path / "ends_itself.py").write_text("import os\nos.kill(os.getpid(), 9)")
    monkeypatch.syspath_prepend(tmp_path)
    assert run_job(Job("d", "ends_itself", b"")).failure == "killed by signal 9 (Killed)"


def test_a_job_ends_at_its_limit_and_when_it_is_stopped(waiting):
    assert run_job(waiting_job("late", 0.5)).failure == "gave no answer within 0 s"
    stopped = run_job(waiting_job("stopped"), lambda: bool(starts(waiting, "stopped")))
    assert stopped.failure == "interrupted"
    for key in ("late", "stopped"):
        assert not any(map(is_running, starts(waiting, key)))


def test_the_local_executor_answers_each_job_once_and_leaves_no_process(waiting):
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


def test_the_executor_of_a_plugin_runs_jobs(monkeypatch):
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.full_plugin")
    with opened(load_registry(), "Threads", None, 1, 1, print) as executor:
        executor.submit(Job("a", "json.tool", b"1"))
        assert answers(executor, 1) == {"a": b"1"}


def test_an_executor_is_chosen_by_its_name_or_by_an_address():
    registry = load_registry()
    assert executor_name(registry, None, None) == "local"
    assert executor_name(registry, "Local", None) == "local"
    alone = replace(registry, executors={"local": registry.executors["local"]})
    with pytest.raises(InputError, match="--cluster: no plugin works on other machines"):
        executor_name(alone, None, "tcp://x:1")
    executor = LocalExecutor(ExecutorSettings())
    with pytest.raises(InputError, match="executor: no plugin works on other machines"):
        cchybrid.solve("ring-bi-4", "AAB", executor=executor, registry=alone)
    with opened(registry, "local", None, 3, 1, print) as executor:
        assert executor.slots(1) == 3
    for words, complaint in (
        (("locl", None), "no executor is called locl; did you mean local"),
        (("local", "tcp://x:1"), "this machine has no address"),
    ):
        with pytest.raises(InputError, match=complaint), opened(registry, *words, 1, 1, print):
            pass


def test_a_broken_executor_of_a_plugin_is_named(tmp_path, monkeypatch):
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
    torn = opened(registry, "torn", None, 1, 1, print)
    with pytest.raises(PluginError, match="plugin torn: executor torn"), torn:
        pass


class Broken:
    """An executor that does what its address says."""

    def __init__(self, settings: ExecutorSettings) -> None:
        self.kind = settings.address

    def slots(self, threads: int) -> Any:
        if self.kind == "raise":
            raise RuntimeError("lost")
        return "many" if self.kind == "slots" else 2

    def poll(self, seconds: float) -> Any:
        return {"answer": [3], "list": 3, "output": [JobAnswer("a", None)]}[str(self.kind)]

    def close(self) -> None:
        raise RuntimeError("still open")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("raise", "RuntimeError: lost"),
        ("slots", "'many' is no number of jobs"),
        ("answer", "3 is no answer of a job"),
        ("list", "TypeError: 'int' object is not iterable"),
        ("output", "is no answer of a job"),
    ],
)
def test_what_an_executor_does_wrong_is_one_line_with_its_plugin(kind, words):
    said: list[str] = []
    registry = copy.deepcopy(load_registry())
    registry.executors["broken"] = ExecutorInfo("broken", f"{__name__}:Broken", "-")
    registry.provider["executor", "broken"] = "liar"
    with (
        pytest.raises(PluginError, match=f"plugin liar: executor broken: .*{words}"),
        opened(registry, "broken", kind, 1, 1, said.append) as executor,
    ):
        executor.slots(1) if kind in ("raise", "slots") else executor.poll(0.0)
    assert said == ["plugin liar: executor broken: RuntimeError: still open"]
