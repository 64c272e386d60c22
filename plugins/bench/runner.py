"""Run a suite: every job in a process of its own, every finished run stored at once."""

import contextlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cchybrid.library.instance_spec import no_note
from cchybrid.model.errors import InputError, with_context
from cchybrid.plugin.benchmark import Benchmark
from cchybrid.plugin.executor import Executor, Job, JobAnswer
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.system.interrupts import interrupts_ignored

from .checking import check, refuse_other_tasks
from .contestant import Contestant
from .store import Run, Store
from .suite import Suite

OVERTIME_SECONDS = 300.0
"""Seconds beyond its time limit after which a job is killed; it also verifies and certifies."""
POLL_SECONDS = 1.0
"""Longest wait for an answer before the machines are looked at again."""
JOB_MODULE = "cchybrid_plugins.bench.job"
"""The module that does one run."""


@dataclass(frozen=True)
class Task:
    """One run to do."""

    row: Any
    contestant: Contestant
    seed: int

    @property
    def key(self) -> tuple[str, str, int]:
        """The key of the run in the store."""
        return self.row.name, self.contestant.key, self.seed


@dataclass(frozen=True)
class Progress:
    """Progress of a benchmark after a run; ``seconds_left`` is an estimate."""

    done: int
    total: int
    run: Run
    seconds_left: float


def tasks_of(suite: Suite, contestants: Sequence[Contestant], seeds: Sequence[int]) -> list[Task]:
    """Return all runs of a suite, row by row, so that contestants run under similar conditions."""
    return [
        Task(row, contestant, seed)
        for row in suite.rows
        for seed in seeds
        for contestant in contestants
    ]


def digests(
    suite: Suite,
    registry: Registry,
    note: Callable[[str], None] = no_note,
    entries: Iterable[Contestant] = (),
) -> dict[str, str]:
    """Return, by the name of the row, the digest of the instance that it names.

    ``note`` is called with a line on what a row does not use of its file.

    Raises
    ------
    InputError
        A row names no instance, or one that contestants cannot solve; the error names the row.
    """
    kind, found = registry.benchmark(suite.kind), {}
    settings = [each.to_solve() for each in entries]
    for row in suite.rows:
        with with_context(f"row {row.name}"):
            found[row.name] = kind.digest(row, registry)
            for each in settings:
                kind.check_settings(row, each, registry)
    for line in kind.notes:
        note(line)
    return found


def run_suite(
    suite: Suite,
    tasks: Sequence[Task],
    instances: Mapping[str, str],
    store: Store,
    executor: Executor,
    watch: Callable[[Progress], None],
    registry: Registry | None = None,
    *,
    verify: bool = False,
) -> bool:
    """Do the runs that the store lacks, and store each one as soon as it is finished.

    Parameters
    ----------
    tasks
        The runs of the suite, or those of a shard.
    instances
        Result of ``digests``: a run that does not hold for this instance is repeated.
    executor
        Carries out the runs; it is closed at the end.
    watch
        Called after every finished run.
    registry
        The plugins; it also knows the former names of engines, under which the store may hold
        finished runs.
    verify
        Whether every run is checked before it is stored, as it comes from another machine. A run
        that does not hold is stored as failed, with the reason.

    Returns
    -------
    bool
        Whether everything was done; ``False`` after an interrupt. Finished runs are stored.

    Raises
    ------
    InputError
        An engine refuses the settings, or the machines cannot be used.
    """
    registry = load_registry() if registry is None else registry
    kind = registry.benchmark(suite.kind)
    refuse_other_tasks(store, suite, registry)
    store.put_suite(suite)
    done_before = finished(tasks, instances, store, kind, registry)
    waiting = [task for task in tasks if task.key not in done_before]
    done, begun, started = len(tasks) - len(waiting), len(waiting), time.monotonic()
    running: dict[str, Task] = {}
    ready: list[JobAnswer] = []

    def keep(answer: JobAnswer) -> Run | None:
        task = running.get(answer.key)
        if task is None:  # stored already
            return None
        run = run_of(task, answer)
        if verify:
            run = verified(run, task.row, kind, instances[task.row.name])
        store.put(run)
        del running[answer.key]
        return run

    try:
        waiting.reverse()
        while waiting or running:
            while waiting and len(running) < executor.slots(waiting[-1].contestant.threads):
                task = waiting.pop()
                key = str(begun - len(waiting))
                running[key] = task
                executor.submit(job_of(task, key, kind, registry))
            ready += executor.poll(POLL_SECONDS)
            while ready:
                run = keep(ready[0])
                del ready[0]
                if run is None:
                    continue
                done += 1
                left = len(waiting) + len(running)
                spent = time.monotonic() - started
                watch(Progress(done, len(tasks), run, spent / (begun - left) * left))
    except KeyboardInterrupt:
        return False
    finally:
        # A second Ctrl-C is ignored, so that every process is ended.
        with interrupts_ignored():
            # What was finished before the interrupt is kept; the first error is reported already.
            with contextlib.suppress(sqlite3.Error, InputError):
                for answer in [*ready, *executor.poll(0.0)]:
                    keep(answer)
            executor.close()
    return True


def finished(
    tasks: Sequence[Task],
    instances: Mapping[str, str],
    store: Store,
    kind: Benchmark[Any],
    registry: Registry,
) -> set[tuple[str, str, int]]:
    """Return the keys of the tasks of which the store has a run that holds and has not failed."""
    rows, found = {task.key: task.row for task in tasks}, set()
    for run in store.runs(damaged=lambda line: None):  # reports name it
        key = run.row, run.contestant.renamed(registry).key, run.seed
        if key in rows and not check(run, rows[key], kind, instances[run.row]).failure:
            found.add(key)
    return found


def job_of(task: Task, key: str, kind: Benchmark[Any], registry: Registry) -> Job:
    """Return the job of a run."""
    content = {
        "kind": kind.info.name,
        "row": kind.job(task.row, registry),
        "solve": task.contestant.to_solve(),
        "seed": task.seed,
    }
    limit = task.contestant.time_limit
    seconds = None if limit is None else limit + OVERTIME_SECONDS
    return Job(key, JOB_MODULE, json.dumps(content).encode(), task.contestant.threads, seconds)


def run_of(task: Task, answer: JobAnswer) -> Run:
    """Return the run of an answer; a failure of its process makes a failed run.

    Raises
    ------
    InputError
        An engine refuses the settings.
    """
    failure = answer.failure
    content: Any = {}
    if not failure:
        try:
            content = json.loads(answer.output, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict) or not isinstance(content.get("result", {}), dict):
            failure, content = "gave an answer that is no result", {}
    if "refused" in content:
        refused = {key: str(content.get(key, "")) for key in ("refused", "where", "hint")}
        raise InputError(refused["refused"], where=refused["where"], hint=refused["hint"])
    packed = None
    if content.get("schedule") is not None:
        text = json.dumps(content["schedule"], separators=(",", ":"))
        packed = zlib.compress(text.encode(), 6)
    failure = failure or str(content.get("failure", ""))
    return Run(
        task.row.name, task.contestant, task.seed, failure, content.get("result", {}), packed
    )


def _no_constant(name: str) -> float:
    raise ValueError(name)  # NaN, which SQLite does not read


def verified(run: Run, row: Any, kind: Benchmark[Any], digest: str) -> Run:
    """Return the run if it holds for its row, else a failed run with the reason.

    Parameters
    ----------
    digest
        That of the task of the row.
    """
    failure = check(run, row, kind, digest).failure
    if failure and not run.failure:
        return replace(run, failure=failure, result={}, record=None)
    return run
