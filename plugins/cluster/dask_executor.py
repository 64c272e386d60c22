"""The executor ``dask``: jobs as tasks of a Dask cluster.

Every worker runs a job in a process of its own (``run_job``), so that a crash of an engine ends no
worker. Each thread of a worker is room for one job; where workers declare the resource
``processors``, a job also takes as many of them as it needs. No more jobs are submitted than there
is room for: a worker that dies takes along only the jobs that it is running, and they are run again
elsewhere.
"""

import asyncio
import queue
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from cchybrid.model.errors import InputError
from cchybrid.model.text import error_line
from cchybrid.plugin.executor import ExecutorSettings, Job, JobAnswer, run_job

RESOURCE = "processors"
"""The resource that workers may declare: ``dask worker --resources processors=8``."""
PREFIX = "cchybrid-"
"""The beginning of the keys of all tasks."""
MAX_TRIES = 5
"""Times that a job is submitted whose workers die, each time until Dask gives it up: after four
deaths unless the cluster is configured otherwise. Then its failure is reported."""
WORKERS_SECONDS = 2.0
"""Seconds between two looks at the workers of the cluster."""
CONNECT_SECONDS = 20.0
"""Longest wait for the scheduler."""
RESTART_SECONDS = 600.0
"""Longest wait for the restart of a worker of this machine."""
FETCH_SECONDS = 5.0
"""Longest wait for an answer that a worker has: the worker may die before it is fetched."""


@dataclass
class _Submitted:
    """A job in the cluster, its future, and how often it was submitted."""

    job: Job
    future: Any
    tries: int = 1


class DaskExecutor:
    """Runs jobs on the workers of a Dask scheduler, or of a cluster of its own on this machine.

    Parameters
    ----------
    settings
        The address: ``tcp://HOST:PORT``, or the scheduler's file. Without one a cluster with a
        worker for each job is started on this machine.

    Raises
    ------
    InputError
        Dask is not installed, or the scheduler cannot be reached.
    """

    def __init__(self, settings: ExecutorSettings) -> None:
        try:
            import dask
            import distributed
        except ImportError:
            raise InputError(
                "Dask is not installed",
                where="--cluster",
                hint="run: pip install 'cchybrid[cluster]'",
            ) from None
        self._settings = settings
        self._where = settings.address or "the cluster of this machine"
        self._submitted: dict[str, _Submitted] = {}
        self._ready: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._workers: dict[str, tuple[int, float | None]] = {}
        self._next_look = 0.0
        self._waiting = False
        self._cluster: Any = None
        self._client: Any = None
        try:
            if settings.address is None:
                # The cluster would give up workers that a busy machine does not restart in 15 s.
                dask.config.set({"distributed.deploy.lost-worker-timeout": RESTART_SECONDS})
                self._cluster = distributed.LocalCluster(  # type: ignore[no-untyped-call]
                    n_workers=settings.jobs,
                    threads_per_worker=1,
                    memory_limit=0,
                    dashboard_address=":0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=60,  # what it would log is dealt with here
                )
            self._client = distributed.Client(  # type: ignore[no-untyped-call]
                **self._scheduler(), timeout=CONNECT_SECONDS
            )
        except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
            self.close()
            raise self._error(
                f"the scheduler cannot be used: {error_line(error)}",
                "start one with: dask scheduler",
            ) from None
        except BaseException:
            self.close()
            raise

    def _error(self, what: str, hint: str) -> InputError:
        return InputError(what, where=f"--cluster {self._where}", hint=hint)

    def _scheduler(self) -> dict[str, Any]:
        """Return how a client finds the scheduler."""
        address = self._settings.address
        if address is None:
            return {"address": self._cluster, "set_as_default": False}
        if address.endswith(".json"):
            if not Path(address).is_file():
                raise ValueError(f"there is no file {address}")
            return {"scheduler_file": address, "set_as_default": False}
        return {"address": address, "set_as_default": False}

    def slots(self, threads: int) -> int:
        """Return how many jobs the workers that are connected can run."""
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + WORKERS_SECONDS
            self._check_connection()
            self._look_at_workers()
        if self._has_resource:
            rooms = [(jobs, int((has or 0) // threads)) for jobs, has in self._workers.values()]
        else:
            rooms = [(jobs, jobs) for jobs, _ in self._workers.values()]
        found = sum(map(min, rooms))
        if self._workers and not found:
            maximum = int(max(has or 0 for _, has in self._workers.values()))
            raise self._error(
                f"no worker has {threads} {RESOURCE}, but at most {maximum}",
                f"use --threads {maximum}, or start workers with --resources {RESOURCE}=N",
            )
        if not found and not self._waiting:
            self._settings.say(f"waiting for workers of {self._where}")
        self._waiting = not found
        return found

    def _look_at_workers(self) -> None:
        """Note the threads of every worker, and the processors that it declares."""
        if self._client.status == "running":
            with suppress(OSError, asyncio.TimeoutError):
                workers = self._client.scheduler_info(n_workers=-1)["workers"]
                self._workers = {
                    address: (worker["nthreads"], worker["resources"].get(RESOURCE))
                    for address, worker in workers.items()
                }

    @property
    def _has_resource(self) -> bool:
        """Whether any worker declares its processors; then only such workers get jobs."""
        return any(has is not None for _, has in self._workers.values())

    def submit(self, job: Job) -> None:
        """Submit a job as a task of its own."""
        self._submitted[job.key] = _Submitted(job, self._start(job))

    def _start(self, job: Job) -> Any:
        self._check_connection()
        # Dask would read an argument that is a key as the result of that task, so the name is cut.
        name = f"{job.key}-{uuid4().hex}"
        future = self._client.submit(
            run_task,
            job,
            name,
            key=f"{PREFIX}{name}",
            pure=False,
            resources={RESOURCE: job.threads} if self._has_resource else None,
        )
        future.add_done_callback(lambda done: self._ready.put((job.key, done)))
        return future

    def poll(self, seconds: float) -> list[JobAnswer]:
        """Return new answers; wait for the first up to this many seconds."""
        self._check_connection()
        answers = []
        with suppress(queue.Empty):
            key, future = self._ready.get(timeout=max(0.0, seconds))
            while True:
                answer = self._answer(key, future)
                if answer is not None:
                    answers.append(answer)
                key, future = self._ready.get_nowait()
        return answers

    def _answer(self, key: str, future: Any) -> JobAnswer | None:
        """Return the answer of a task that is done, or submit its job again."""
        from distributed import CancelledError, KilledWorker

        task = self._submitted.get(key)
        if task is None or task.future is not future:
            return None  # of an earlier try
        try:
            answer = future.result(timeout=FETCH_SECONDS)
        except TimeoutError:  # its worker is dead: Dask runs the task again
            future.add_done_callback(lambda done: self._ready.put((key, done)))
            return None
        except CancelledError:  # the connection was lost for a while
            task.future = self._start(task.job)
            return None
        except KilledWorker:
            if task.tries < MAX_TRIES:
                task.tries += 1
                task.future = self._start(task.job)
                return None
            answer = JobAnswer(key, b"", "its workers died again and again, perhaps of its memory")
        except Exception as error:
            raise self._error(
                f"a worker cannot run jobs: {error_line(error)}",
                "install the same version of cchybrid there",
            ) from None
        del self._submitted[key]
        return answer  # type: ignore[no-any-return]

    def _check_connection(self) -> None:
        if self._client.status not in ("running", "connecting"):
            raise self._error("the scheduler is gone", "start it again; finished runs are kept")

    def cancel(self) -> None:
        """End all jobs: workers end the process of a task that is cancelled."""
        with suppress(Exception):
            self._client.cancel([task.future for task in self._submitted.values()], force=True)
        self._submitted.clear()

    def close(self) -> None:
        """End all jobs, leave the cluster, and end it if it is one of this executor."""
        if self._client is not None:
            self.cancel()
        for opened in (self._client, self._cluster):
            with suppress(Exception):
                if opened is not None:
                    opened.close(timeout=CONNECT_SECONDS)


def run_task(job: Job, name: str) -> JobAnswer:
    """Run a job on a worker, until its task of this name is cancelled."""
    from distributed import get_worker

    worker = get_worker()

    def cancelled() -> bool:
        task = worker.state.tasks.get(f"{PREFIX}{name}")
        return task is None or task.state in ("cancelled", "released", "forgotten")

    return run_job(job, cancelled)
