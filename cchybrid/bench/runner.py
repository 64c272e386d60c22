"""Run a suite: every job in a process of its own, every finished run stored at once."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from cchybrid.bench.contestant import Contestant
from cchybrid.bench.store import Run, Store
from cchybrid.bench.suite import AnyRow, Suite
from cchybrid.library.instance_spec import resolve
from cchybrid.model.errors import InputError, with_context
from cchybrid.plugin.registry import Registry
from cchybrid.system.processes import start_module

OVERTIME_SECONDS = 300.0
"""Seconds beyond its time limit after which a job is killed; it also verifies and certifies."""
_GRACE_SECONDS = 5.0
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Task:
    """One run to do."""

    row: AnyRow
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
        for row in suite.all_rows
        for seed in seeds
        for contestant in contestants
    ]


def digests(suite: Suite, registry: Registry) -> dict[str, str]:
    """Return, by the name of the row, the digest of the instance that it names.

    Raises
    ------
    InputError
        A row names no instance; the error names the row.
    """
    found = {row.name: row.digest for row in suite.designs}
    for row in suite.rows:
        with with_context(f"row {row.name}"):
            found[row.name] = resolve(row.spec, registry).digest
    for each in suite.throughputs:
        with with_context(f"row {each.name}"):
            found[each.name] = each.instance(registry).digest
    return found


def run_suite(
    suite: Suite,
    instances: Mapping[str, str],
    store: Store,
    contestants: Sequence[Contestant],
    seeds: Sequence[int],
    jobs: int,
    watch: Callable[[Progress], None],
    registry: Registry | None = None,
) -> bool:
    """Do the runs that the store lacks, and store each one as soon as it is finished.

    Parameters
    ----------
    instances
        Result of ``digests``: a run with another digest is repeated.
    jobs
        Runs at the same time.
    watch
        Called after every finished run.
    registry
        Knows the former names of engines, under which the store may hold finished runs.

    Returns
    -------
    bool
        Whether everything was done; ``False`` after an interrupt. Finished runs are stored.

    Raises
    ------
    InputError
        An engine refuses the settings.
    """
    store.put_suite(suite)
    tasks = tasks_of(suite, contestants, seeds)
    finished = store.finished()
    if registry is not None:
        finished = {
            (row, Contestant.from_key(key).renamed(registry).key, seed): digest
            for (row, key, seed), digest in finished.items()
        }
    waiting = [task for task in tasks if finished.get(task.key) != instances[task.row.name]]
    done, begun, started = len(tasks) - len(waiting), len(waiting), time.monotonic()
    processes = _JobProcesses()
    pool = ThreadPoolExecutor(max_workers=jobs)
    running: set[Future[Run]] = set()
    try:
        waiting.reverse()
        while waiting or running:
            while waiting and len(running) < jobs:
                running.add(pool.submit(processes.carry_out, waiting.pop()))
            ready, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in ready:
                run = future.result()
                store.put(run)
                running.discard(future)
                done += 1
                left = len(waiting) + len(running)
                spent = time.monotonic() - started
                watch(Progress(done, len(tasks), run, spent / (begun - left) * left))
    except KeyboardInterrupt:
        return False
    finally:
        # A second Ctrl-C is ignored, so that every process is ended.
        previous = _ignore_interrupts()
        try:
            with contextlib.suppress(sqlite3.Error):  # the first error is reported already
                for future in running:
                    if future.done() and future.exception() is None:
                        store.put(future.result())  # finished before the interrupt
        finally:
            processes.dismiss()
            pool.shutdown(wait=True, cancel_futures=True)
            _restore_interrupts(previous)
    return True


class _JobProcesses:
    """The running job processes; each is started, read and ended by one thread of the pool."""

    def __init__(self) -> None:
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._closed = False

    def carry_out(self, task: Task) -> Run:
        """Run one task; a failure of its process becomes a failed run."""
        job = {**task.row.to_job(task.contestant.to_solve()), "seed": task.seed}
        limit = task.contestant.time_limit
        answer = self._answer(
            json.dumps(job).encode(), None if limit is None else limit + OVERTIME_SECONDS
        )
        if "refused" in answer:
            raise InputError(answer["refused"], where=answer["where"], hint=answer["hint"])
        schedule = answer.get("schedule")
        packed = None
        if schedule is not None:
            text = json.dumps(schedule, separators=(",", ":"))
            packed = zlib.compress(text.encode(), 6)
        failure = str(answer.get("failure", ""))
        return Run(
            task.row.name, task.contestant, task.seed, failure, answer.get("result", {}), packed
        )

    def _answer(self, job: bytes, timeout: float | None) -> dict[str, Any]:
        with self._lock:
            if self._closed:
                return {"failure": "interrupted"}
            process = start_module("cchybrid.bench.job")
            self._processes.add(process)
        try:
            output, errors = process.communicate(job, timeout)
        except subprocess.TimeoutExpired:
            self._end(process)
            return {"failure": f"gave no answer within {timeout:.0f} s"}
        finally:
            with self._lock:
                self._processes.discard(process)
        try:
            answer = json.loads(output)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            words = errors.decode(errors="replace").strip().splitlines()[-1:]
            return {"failure": f"exit {process.returncode}: {' '.join(words)[:200]}"}
        return answer

    def dismiss(self) -> None:
        """End every process and start no further one."""
        with self._lock:
            self._closed = True
            processes = list(self._processes)
        for process in processes:
            with contextlib.suppress(OSError):
                process.send_signal(signal.SIGTERM)
        end = time.monotonic() + _GRACE_SECONDS
        while time.monotonic() < end and any(p.poll() is None for p in processes):
            time.sleep(0.02)
        for process in processes:
            self._end(process)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _ignore_interrupts() -> Any:
    if threading.current_thread() is not threading.main_thread():
        return None
    return [signal.signal(number, signal.SIG_IGN) for number in _INTERRUPTS]


def _restore_interrupts(previous: Any) -> None:
    for number, handler in zip(_INTERRUPTS, previous or (), strict=False):
        signal.signal(number, handler)
