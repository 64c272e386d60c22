"""Executors: they run jobs, each in a process of its own, on this machine or on others."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Protocol

from cchybrid.system.processes import start_module

STOP_CHECK_SECONDS = 0.2
"""Longest time for which a running job does not see that it is to stop."""
GRACE_SECONDS = 5.0
"""Seconds between SIGTERM and SIGKILL for a job that is to stop."""
MAX_ERROR = 200
"""Characters that are kept of the last line of a failed process."""


@dataclass(frozen=True)
class Job:
    """A process to be run: ``python -m module`` with JSON on its input and its output.

    Parameters
    ----------
    key
        A name that no other job of the executor has.
    module
        The module, which the machine that runs the job must have.
    content
        What the process reads from its standard input.
    threads
        Processors that it uses.
    seconds
        Seconds after which it is ended; ``None``: never.
    """

    key: str
    module: str
    content: bytes
    threads: int = 1
    seconds: float | None = None


@dataclass(frozen=True)
class JobAnswer:
    """The output of a job, or why there is none.

    Parameters
    ----------
    key
        The name of the job.
    output
        What the process wrote to its standard output.
    failure
        Why there is no output, in one line; "" if there is.
    """

    key: str
    output: bytes
    failure: str = ""


@dataclass(frozen=True)
class ExecutorSettings:
    """The settings of an executor.

    Parameters
    ----------
    address
        Where the machines are found; ``None``: this machine.
    jobs, threads
        Jobs at the same time on this machine, and the processors of each.
    say
        Called with a line for the user, such as why it waits.
    """

    address: str | None = None
    jobs: int = 1
    threads: int = 1
    say: Callable[[str], None] = print


class Executor(Protocol):
    """An executor, made from ``ExecutorSettings``; all calls come from one thread.

    A job whose machine fails is run again elsewhere: an answer with a failure means that the job
    itself failed, or that it was tried several times. What an answer states is checked by the
    caller.

    Raises
    ------
    InputError
        In any call, if the machines cannot be used at all.
    """

    def slots(self, threads: int) -> int:
        """Return how many jobs of ``threads`` each can run at present, running ones included.

        The caller submits no more.
        """

    def submit(self, job: Job) -> None:
        """Start a job, or keep it until there is room for it."""

    def poll(self, seconds: float) -> list[JobAnswer]:
        """Return new answers, one for each job; wait for the first up to this many seconds."""

    def cancel(self) -> None:
        """End all jobs; only ``close`` is called afterwards."""

    def close(self) -> None:
        """End all jobs whose processes still run, wait for their end, and release everything.

        It may be called twice.
        """


def run_job(job: Job, stopped: Callable[[], bool] = lambda: False) -> JobAnswer:
    """Run a job in a process of this machine, and return its answer.

    Parameters
    ----------
    stopped
        Called a few times a second; a true value ends the process.
    """
    if stopped():
        return JobAnswer(job.key, b"", "interrupted")
    process = start_module(job.module)
    end = None if job.seconds is None else time.monotonic() + job.seconds
    # A thread writes the input: ``communicate`` would write no more of it after its first timeout.
    stream, process.stdin = process.stdin, None
    threading.Thread(target=_write, args=(stream, job.content), daemon=True).start()
    while True:
        try:
            output, errors = process.communicate(timeout=STOP_CHECK_SECONDS)
            break
        except subprocess.TimeoutExpired:
            pass
        if end is not None and time.monotonic() > end:
            _end(process, 0.0)
            return JobAnswer(job.key, b"", f"gave no answer within {job.seconds:.0f} s")
        if stopped():
            _end(process, GRACE_SECONDS)
            return JobAnswer(job.key, b"", "interrupted")
    if process.returncode == 0:
        return JobAnswer(job.key, output)
    code, words = process.returncode, errors.decode(errors="replace").strip().splitlines()[-1:]
    why = f"exit {code}" if code > 0 else f"killed by signal {-code} ({signal.strsignal(-code)})"
    return JobAnswer(job.key, b"", ": ".join([why, *words])[:MAX_ERROR])


def _write(stream: IO[bytes], content: bytes) -> None:
    with contextlib.suppress(OSError), stream:  # the process may have ended
        stream.write(content)


def _end(process: subprocess.Popen[bytes], grace: float) -> None:
    """End a process: by SIGTERM, and after the time of grace by SIGKILL with its group."""
    with contextlib.suppress(OSError):
        process.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(None, grace)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
