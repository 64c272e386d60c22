"""One worker process as the host sees it: start, talk, stop, kill; never an orphan."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping

from cchybrid.host.wire import GarbledError, Line, LineReader, encode

GRACE = 1.0
"""Seconds between asking a worker to stop and SIGTERM."""
LAST_GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
MARK = "CCHYBRID_RUN"
"""Environment variable by which processes that left the worker's group are found."""


def start_module(module: str, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a module of ours, its streams piped, in a session of its own.

    It finds the same modules as this process, but none that happen to lie in the current folder.
    """
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, **environment, "PYTHONPATH": path},
    )


class WorkerProcess:
    """A worker in a session of its own.

    Parameters
    ----------
    name
        The engine's name, or ``bounds``.
    job
        The first line that the worker reads.
    run_id
        Marks all processes of one run.

    Attributes
    ----------
    heard
        It has said something since its engine started to work.
    ended
        It said goodbye; whatever comes afterwards is no crash.
    quarantined
        It broke its contract; whatever it still says is ignored.
    terminated, overdue, killed
        It was sent SIGTERM; it was although it had been asked and had time to stop; it was sent
        SIGKILL because it outlived SIGTERM.
    paused
        It stands still until it is resumed.
    closed
        Descriptors that it has closed.
    remarkable
        Whether people are told when it has nothing to do here.
    garbled
        What it sent that is no line of the protocol, or "".
    """

    def __init__(self, name: str, job: Line, run_id: str) -> None:
        self.name = name
        self._ready = False
        self.heard = False
        self.ended = False
        self.quarantined = False
        self.terminated = False
        self.overdue = False
        self.killed = False
        self.paused = False
        self._halts = False
        self.garbled = ""
        self.closed: set[int] = set()
        self._reader = LineReader()
        self._tail: deque[bytes] = deque(maxlen=16)
        self._unsent = bytearray()
        self._held: dict[tuple[str, int], Line] = {}
        self.remarkable = job.get("view") != "quotients"
        self._asked: float | None = None
        self._term: float | None = None
        self._process = start_module("cchybrid.host.worker", {MARK: run_id, "PYTHONHASHSEED": "0"})
        self.stdin, self.stdout, self.stderr = (
            stream.fileno()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream is not None
        )
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        self.send(job)

    @property
    def ready(self) -> bool:
        """Whether its engine has started to work."""
        return self._ready

    @ready.setter
    def ready(self, ready: bool) -> None:
        self._ready = ready
        self._halt()

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; ``None`` while the worker lives."""
        return self._process.poll()

    @property
    def last_words(self) -> str:
        """The last line that the worker wrote to standard error."""
        lines = b"".join(self._tail).decode(errors="replace").strip().splitlines()
        return lines[-1].strip()[:200] if lines else ""

    def send(self, line: Line) -> None:
        """Send news; what does not fit into the pipe waits for ``flush``.

        To a worker that stands still only the newest of each kind is sent, when it goes on.
        """
        if self.paused:
            kind = next(key for key in ("best", "draft", "lower", *line) if key in line)
            self._held[kind, line["draft"] if kind == "draft" else 0] = line
            return
        self._unsent += encode(line)
        self.flush()

    def flush(self) -> None:
        """Send what waits, as far as the pipe takes it."""
        while self._unsent:
            try:
                sent = os.write(self.stdin, self._unsent[: 1 << 20])
            except BlockingIOError:
                return
            except OSError:
                self._unsent.clear()
                return
            del self._unsent[:sent]

    def read(self) -> Iterator[Line]:
        """Yield the lines that have arrived; raise ``GarbledError`` for anything else."""
        yield from self._reader.feed(self._take(self.stdout))

    def drain(self) -> None:
        """Read standard error and keep its tail, so that a flood neither blocks nor grows."""
        data = self._take(self.stderr)
        if data:
            self._tail.append(data[-2000:])

    def _take(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, 1 << 20)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data:
            self.closed.add(descriptor)
        return data

    def pause(self) -> None:
        """Halt the whole process group until ``resume``, as soon as it has started to work.

        What comes before that, such as compiling, has to be done in any case.
        """
        self._halts = True
        self._halt()

    def _halt(self) -> None:
        if self._halts and self._ready and not self.paused:
            self.paused = self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process group go on."""
        self._halts = False
        if self.paused:
            self.paused = False
            self._signal(signal.SIGCONT)
            held, self._held = self._held, {}
            for line in held.values():
                self.send(line)

    def ask_to_stop(self) -> None:
        """Ask politely; ``press`` follows up."""
        self.resume()
        if self._asked is None:
            self._asked = time.monotonic()
            self.send({"stop": True})

    def terminate(self) -> None:
        """Send SIGTERM to the whole process group now."""
        self.resume()
        if self._term is None:
            self._asked = self._asked or time.monotonic()
            self._term = time.monotonic()
            if self._signal(signal.SIGTERM):
                self.terminated = True

    def press(self) -> None:
        """After asking: SIGTERM, then SIGKILL to the group, when their time has come."""
        now = time.monotonic()
        if self._asked is not None and self._term is None and now - self._asked > GRACE:
            self.overdue = self.ready
            self.terminate()
        if self._term is not None and now - self._term > LAST_GRACE and self.returncode is None:
            self.killed = True
            self._signal(signal.SIGKILL)

    def kill(self) -> None:
        """End the whole process group at once, and wait for it."""
        self._signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    def close(self) -> list[Line]:
        """End what is left of the group; return the lines that were still in the pipe."""
        self.kill()
        lines: list[Line] = []
        with contextlib.suppress(GarbledError):
            while data := self._take(self.stdout):
                lines.extend(self._reader.feed(data))
        self.drain()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        return lines

    def _signal(self, number: signal.Signals) -> bool:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def kill_strays(run_id: str) -> None:
    """End processes of a run that left their worker's process group (where /proc tells)."""
    for _ in range(40):
        strays = list(_strays(f"{MARK}={run_id}".encode()))
        if not strays:
            return
        for process in strays:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.05)


def _strays(mark: bytes) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError), open(f"{entry.path}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        yield int(entry.name)
