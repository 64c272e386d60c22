"""The process that ends all workers of a run if the host is killed.

``CleanupProcess`` starts it as ``python -m cchybrid.system.cleanup``. It reads lines from standard
input: first the mark of all processes of the run, later processes that may have lost it. When the
input ends, or its parent does, the host has ended; then it ends what is left of the run.
"""

import contextlib
import os
import select
import signal
import subprocess
from collections.abc import Iterable, Iterator

from cchybrid.system.process_tree import Process, end, marked
from cchybrid.system.processes import start_module

POLL_SECONDS = 0.5
"""Seconds between two checks of the parent: another process may hold the pipe open."""


class CleanupProcess:
    """The host's side of the process.

    Parameters
    ----------
    mark
        The beginning of a variable in the environment of all processes of the run.
    """

    def __init__(self, mark: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._known: set[Process] = set()
        if not os.path.isdir("/proc/self"):  # no process could be found
            return
        with contextlib.suppress(OSError):  # too few processes or files: workers end with the host
            self._process = start_module(__name__, discard_output=True)
            self._write(f"{mark}\n")

    def watch(self, processes: Iterable[Process]) -> None:
        """Let these processes be ended, too."""
        for process in set(processes) - self._known:
            self._known.add(process)
            self._write(f"{process.number} {process.started}\n")

    def _write(self, text: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.write(text.encode())
                self._process.stdin.flush()

    def close(self) -> None:
        """End the process, and what is left of the run."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                process.communicate(timeout=5)


def main() -> None:
    """Wait for the end of the host, and end the processes of the run."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    parent, received = os.getppid(), b""
    while os.getppid() == parent:
        if select.select([0], [], [], POLL_SECONDS)[0]:
            data = os.read(0, 1 << 16)
            if not data:
                break
            received += data
    mark, *lines = received.decode().split("\n")[:-1] or [""]
    known = [Process(*map(int, line.split())) for line in lines]

    def left() -> Iterator[Process]:
        yield from known
        yield from marked((mark,))

    if mark:
        end(left)


if __name__ == "__main__":
    main()
