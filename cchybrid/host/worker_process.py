"""One worker process as the host sees it: start, talk, stop, kill; never an orphan."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Iterator

from cchybrid.host.events import Event, Exited, Garbled
from cchybrid.host.wire import Line, LineReader, WireError, encode
from cchybrid.system.processes import start_module

GRACE_SECONDS = 1.0
"""Between asking a worker to stop and SIGTERM; a worker ends itself after less (``worker``)."""
LAST_GRACE_SECONDS = 0.3
"""Between SIGTERM and SIGKILL."""
MARK = "CCHYBRID_RUN"
"""Environment variable by which processes that left the worker's group are found."""


class WorkerProcess:
    """A worker in a session of its own.

    Parameters
    ----------
    job
        The first line that the worker reads.
    run_id
        Marks all processes of one run.

    Attributes
    ----------
    paused
        It is halted until it is resumed.
    closed
        Descriptors that it has closed.
    garbled
        It has sent something that is no event; nothing is read any more.
    """

    def __init__(self, job: Line, run_id: str) -> None:
        self.paused = False
        self.garbled = False
        self.closed: set[int] = set()
        self._started = False
        self._to_halt = False
        self._terminated = False
        self._killed = False
        self._reader = LineReader()
        self._tail: deque[bytes] = deque(maxlen=16)
        self._unsent = bytearray()
        self._held: dict[tuple[str, int], Line] = {}
        self._asked: float | None = None
        self._term: float | None = None
        self._grace = GRACE_SECONDS
        self._process = start_module("cchybrid.host.worker", {MARK: run_id, "PYTHONHASHSEED": "0"})
        self.stdin, self.stdout, self.stderr = (
            stream.fileno()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream is not None
        )
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        self.send(job)

    def mark_started(self) -> None:
        """Record that its engine works: from now on it can be halted."""
        self._started = True
        self._halt()

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; ``None`` while the worker lives."""
        return self._process.poll()

    @property
    def exited(self) -> Exited:
        """How it ended."""
        code = self._process.poll() or 0
        if self._killed or self._terminated:
            return Exited("killed" if self._killed else "terminated")
        lines = b"".join(self._tail).decode(errors="replace").strip().splitlines()
        words = lines[-1].strip()[:200] if lines else ""
        return Exited("signal" if code < 0 else "exit", abs(code), words)

    def send(self, line: Line) -> None:
        """Send news; what does not fit into the pipe waits for ``flush``.

        A halted worker gets only the newest of each kind, when it is resumed.
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

    def read(self) -> Iterator[Event]:
        """Yield what has arrived; ``Garbled``, and nothing more, where that is no event."""
        yield from self._read(self._take(self.stdout))

    def _read(self, data: bytes) -> Iterator[Event]:
        if self.garbled:
            return
        try:
            yield from self._reader.feed(data)
        except WireError as error:
            self.garbled = True
            yield Garbled(str(error))

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
        """Halt the whole process group until ``resume``, as soon as its engine has started.

        What comes before that, such as building the Problem, has to be done in any case.
        """
        self._to_halt = True
        self._halt()

    def _halt(self) -> None:
        if self._to_halt and self._started and not self.paused:
            self.paused = self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a halted process group go on."""
        self._to_halt = False
        if self.paused:
            self.paused = False
            self._signal(signal.SIGCONT)
            held, self._held = self._held, {}
            for line in held.values():
                self.send(line)

    def ask_to_stop(self, grace: float = GRACE_SECONDS) -> None:
        """Ask it to stop; ``enforce`` sends SIGTERM after ``grace`` seconds."""
        self.resume()
        self._grace = grace
        if self._asked is None:
            self._asked = time.monotonic()
            self.send({"stop": grace})

    def terminate(self) -> None:
        """Send SIGTERM to the whole process group now."""
        self.resume()
        if self._term is None:
            self._asked = self._asked or time.monotonic()
            self._term = time.monotonic()
            if self._signal(signal.SIGTERM):
                self._terminated = True

    def enforce(self) -> None:
        """After asking: SIGTERM, then SIGKILL to the group, when they are due."""
        now = time.monotonic()
        if self._asked is not None and self._term is None and now - self._asked > self._grace:
            self.terminate()
        late = self._term is not None and now - self._term > LAST_GRACE_SECONDS
        if late and self.returncode is None:
            self._killed = True
            self._signal(signal.SIGKILL)

    def kill(self) -> None:
        """End the whole process group at once, and wait for it."""
        self._signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)

    def close(self) -> list[Event]:
        """End what is left of the group; return what was still in the pipe."""
        self.kill()
        events: list[Event] = []
        while data := self._take(self.stdout):
            events.extend(self._read(data))
        self.drain()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if stream:
                    stream.close()
        return events

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
