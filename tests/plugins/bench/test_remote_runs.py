"""Runs of other machines are verified before they are stored: what does not hold is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.job import work
from cchybrid_plugins.bench.runner import (
    Task,
    digests,
    job_of,
    run_of,
    run_suite,
    tasks_of,
    verified,
)
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import Suite

from cchybrid.host.local_executor import LocalExecutor
from cchybrid.model.errors import InputError
from cchybrid.plugin.executor import ExecutorSettings, JobAnswer, run_job
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import COLOURING, suite_of

SUITE = """
name = "two"
[[rows]]
topology = ["ring-bi-6", "./path.edges"]
collective = "AAS"
"""
KIND = load_registry().benchmark("schedules")


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    folder = tmp_path_factory.mktemp("two")
    (folder / "path.edges").write_text("0 1\n1 2\n")
    return suite_of(folder, SUITE, "two")


@pytest.fixture(scope="module")
def answered(suite: Suite) -> tuple[Task, str, dict[str, Any]]:
    """A task, the digest of its instance, and the answer of a real run."""
    registry = load_registry()
    task = tasks_of(suite, [COLOURING], [0])[0]
    answer = run_job(job_of(task, "1", KIND, registry))
    return task, digests(suite, registry)[task.row.name], json.loads(answer.output)


def drop_a_transfer(content: dict[str, Any]) -> None:
    del content["schedule"]["steps"][0][0]


@pytest.mark.slow
@pytest.mark.parametrize("change", [drop_a_transfer, lambda content: content.update(schedule=None)])
def test_a_forged_answer_becomes_a_failed_run(
    answered: tuple[Task, str, dict[str, Any]], change: Callable[[dict[str, Any]], object]
) -> None:
    task, digest, content = answered

    def answer(content: dict[str, Any]) -> Run:
        return run_of(task, JobAnswer("1", json.dumps(content).encode()))

    honest = answer(content)
    assert verified(honest, task.row, KIND, digest) == honest
    forged = json.loads(json.dumps(content))
    change(forged)
    run = verified(answer(forged), task.row, KIND, digest)
    assert run.failure.startswith("does not hold: ")
    assert (run.result, run.record) == ({}, None)


@pytest.mark.parametrize(
    "output", [b"", b"no JSON", b"[1]", b'{"result": 3}', b'{"result": {"steps": NaN}}']
)
def test_an_answer_that_is_no_result_is_a_failed_run(
    answered: tuple[Task, str, dict[str, Any]], output: bytes
) -> None:
    assert run_of(answered[0], JobAnswer("1", output)).failure == "gave an answer that is no result"


def test_what_settings_an_engine_refuses_ends_the_suite(
    answered: tuple[Task, str, dict[str, Any]],
) -> None:
    output = json.dumps({"refused": "no option", "where": "colouring", "hint": "drop it"})
    with pytest.raises(InputError, match="no option"):
        run_of(answered[0], JobAnswer("1", output.encode()))


class Forger(LocalExecutor):
    """Machines that run the jobs, but change the schedule of the first answer."""

    forged = False

    def poll(self, seconds: float) -> list[JobAnswer]:
        answers = super().poll(seconds)
        if answers and not self.forged:
            self.forged = True
            content = json.loads(answers[0].output)
            drop_a_transfer(content)
            answers[0] = JobAnswer(answers[0].key, json.dumps(content).encode())
        return answers


@pytest.mark.long
def test_a_forged_run_is_refused_and_done_again_by_the_next_command(
    suite: Suite, tmp_path: Path
) -> None:
    registry = load_registry()
    known = digests(suite, registry)
    shown: list[str] = []

    def watch(progress: Any) -> None:
        shown.append(progress.run.failure)

    with Store(tmp_path / "two.sqlite", write=True) as store:
        for _ in range(2):
            executor = Forger(ExecutorSettings(jobs=1))
            executor.forged = bool(shown)
            assert run_suite(
                suite, tasks_of(suite, [COLOURING], [0]), known, store, executor, watch, registry,
                verify=True,
            )  # fmt: skip
        assert [bool(failure) for failure in shown] == [True, False, False]
        assert "the schedule is invalid" in shown[0]
        assert {run.result["digest"] for run in store.runs()} == {*known.values()}


@pytest.mark.slow
def test_the_instance_of_a_file_goes_with_its_job(suite: Suite) -> None:
    """Other machines do not have the file."""
    jobs = [job_of(task, "1", KIND, load_registry()) for task in tasks_of(suite, [COLOURING], [0])]
    named, of_a_file = (json.loads(job.content) for job in jobs)
    assert "instance" not in named["row"]
    assert of_a_file["row"]["instance"]["network"]["nodes"] == 3
    of_a_file["row"]["question"]["topology"] = "/not/on/this/machine.edges"
    assert work(of_a_file)["result"]["status"] == "optimal"
