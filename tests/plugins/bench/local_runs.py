"""Runs of rows made in this process, and the executor of this machine."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from cchybrid_plugins.bench import job
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import Suite, read_suite

from cchybrid.host.local_executor import LocalExecutor
from cchybrid.plugin.executor import ExecutorSettings


def local(jobs: int) -> LocalExecutor:
    return LocalExecutor(ExecutorSettings(jobs=jobs))


def suite_of(folder: Path, toml: str, name: str = "mine") -> Suite:
    """Write a suite to a folder and read it."""
    (folder / f"{name}.toml").write_text(toml)
    return read_suite(str(folder / f"{name}.toml"))


def fill(path: Path, suite: Suite, runs: Iterable[Run]) -> Path:
    """Write a suite and runs to a store."""
    with Store(path, write=True) as store:
        store.put_suite(suite)
        for run in runs:
            store.put(run)
    return path


def packed(record: Any) -> bytes:
    """Return a JSON object as a store has it."""
    return zlib.compress(json.dumps(record).encode())


def with_seed(run: Run, seed: int) -> Run:
    """Return the run as if it had been made with another seed."""
    own = {"seed": seed} if "seed" in run.result else {}
    return replace(run, seed=seed, result=run.result | own)


def stored_under(run: Run, contestant: Contestant) -> Run:
    """Return the run as if it had been made with other settings."""
    settings = json.loads(json.dumps(contestant.to_solve()))
    return replace(run, contestant=contestant, result={**run.result, "settings": settings})


COLOURING = Contestant(("colouring",), time_limit=None, evaluations=20)
"""The contestant of most runs, so that tests share them."""


def answer_of(kind: str, row: Any, contestant: Contestant, seed: int = 0) -> dict[str, Any]:
    """Return the answer of the job of a row."""
    record = row.to_json()
    if "published" in record:  # does not decide about the run
        record["published"] = {}
    content = {"kind": kind, "row": record, "solve": contestant.to_solve(), "seed": seed}
    found: dict[str, Any] = json.loads(_answer(json.dumps(content)))
    return found


@cache
def _answer(content: str) -> str:
    return json.dumps(job.work(json.loads(content)))


def made(kind: str, row: Any, contestant: Contestant, seed: int = 0) -> Run:
    """Return a real run of a row."""
    answer = answer_of(kind, row, contestant, seed)
    record = answer["schedule"]
    found = None if record is None else packed(record)
    return Run(row.name, contestant, seed, "", answer["result"], found)
