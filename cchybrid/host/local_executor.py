"""The executor ``local``: jobs as processes of this machine."""

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from cchybrid.plugin.executor import ExecutorSettings, Job, JobAnswer, run_job


class LocalExecutor:
    """Runs jobs on this machine; each is started, read and ended by one thread of a pool."""

    def __init__(self, settings: ExecutorSettings) -> None:
        self._jobs = settings.jobs
        self._pool = ThreadPoolExecutor(max_workers=settings.jobs)
        self._running: set[Future[JobAnswer]] = set()
        self._stopped = threading.Event()

    def slots(self, threads: int) -> int:
        """Return the number of jobs that the user asked for."""
        return self._jobs

    def submit(self, job: Job) -> None:
        """Start a job as soon as a thread is free."""
        self._running.add(self._pool.submit(run_job, job, self._stopped.is_set))

    def poll(self, seconds: float) -> list[JobAnswer]:
        """Return new answers; wait for the first up to this many seconds."""
        ready, self._running = wait(self._running, seconds, FIRST_COMPLETED)
        return [future.result() for future in ready]

    def cancel(self) -> None:
        """End all jobs."""
        self._stopped.set()

    def close(self) -> None:
        """End all jobs and their threads."""
        self.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
