"""The worker process: does one job of a run.

The host starts it as ``python -m cchybrid.host.worker`` (``worker_process``).

1. The first line on standard input is the job; if that names no files of the instance, the second
   line is the instance, or whatever the run works on (``shared_instance``). Later lines are news.
   Events go to the original standard output, one JSON object per line. What an engine prints goes
   to standard error.
2. The main thread does the job: it constructs the run that the job names (``Task.run_class``) and
   calls its ``work``.
3. A second thread reads news. When standard input ends, the host has ended, and the thread kills
   the worker's process group.
4. A third thread reports an engine that does not call its run, and ends the process if the engine
   does not return when asked to stop.
"""

import sys
from collections.abc import Callable
from typing import IO

from cchybrid.host.shared_instance import ReceivedInstance
from cchybrid.host.wire import Line
from cchybrid.host.worker_link import WorkerLink, serve
from cchybrid.plugin.records import load_target


def start(job: Line, out: IO[bytes]) -> tuple[WorkerLink, Callable[[], None]]:
    """Return the run of a job and the function that does it."""
    received = ReceivedInstance(job.get("files", {}), sys.stdin.buffer.readline)
    run = load_target(job["run"])(job, out)
    return run, lambda: run.work(job, received)


if __name__ == "__main__":
    serve(start)
