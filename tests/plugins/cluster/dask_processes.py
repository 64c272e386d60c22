"""A Dask scheduler and workers as processes of their own, as on a real cluster."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.host.running_jobs import command, wait_for


@dataclass
class DaskProcesses:
    """The processes of a cluster, and the file by which clients find it."""

    folder: Path
    file: Path
    scheduler: subprocess.Popen[bytes] = field(init=False)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        with open(self.folder / "dask.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words, "--scheduler-file", str(self.file)],
                cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def start_worker(self) -> None:
        words = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(self.folder))
        self.workers.append(self.start("worker", *words))

    def preempt(self, number: int) -> None:
        """End a worker with all its processes at once, as if its machine were taken away."""
        kill_group(self.workers[number])

    def kill_worker_process(self, number: int) -> None:
        """End only the process in which a worker works; Dask's nanny starts another one."""
        # With setproctitle installed, Dask gives the process another title: all other children are
        # known instead.
        nanny = self.workers[number].pid
        found = [child for child in children(nanny) if b"resource_tracker" not in command(child)]
        assert len(found) == 1, found
        os.kill(found[0], signal.SIGKILL)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process, its children in groups of their own, and its group."""
    for child in children(process.pid):
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


def children(process: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            if entry.name.isdigit():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == process:
                    found.append(int(entry.name))
    return found


@contextmanager
def dask_processes(folder: Path, workers: int) -> Iterator[DaskProcesses]:
    cluster = DaskProcesses(folder, folder / "scheduler.json")
    cluster.scheduler = cluster.start("scheduler", "--port", "0", "--no-dashboard")
    try:
        wait_for(cluster.file.exists, "no scheduler")
        for _ in range(workers):
            cluster.start_worker()
        yield cluster
    finally:
        for process in (*cluster.workers, cluster.scheduler):
            kill_group(process)
