"""One worker process, seen from the host: start, send and read lines, pause, stop, kill."""

import contextlib
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from functools import partial

from cchybrid.host.events import Event, Exited, Garbled, Spent
from cchybrid.host.wire import Line, LineReader, WireError, encode
from cchybrid.system.process_tree import Process, children, descendants, end, marked
from cchybrid.system.processes import memory_of_all, private_memory, start_module
from cchybrid.system.stopwatch import Stopwatch
from cchybrid.system.working_time import SAMPLE_SECONDS, WorkingTime, tree_usage, usage

GRACE_SECONDS = 1.0
"""Seconds between the request to stop and SIGTERM; a worker ends itself before (``worker``)."""
SIGTERM_GRACE_SECONDS = 0.3
"""Seconds between SIGTERM and SIGKILL, without those in which a worker waits for a processor."""
MAX_SIGTERM_SECONDS = 3.0
"""Wall-clock seconds between SIGTERM and SIGKILL on a busy machine."""
MODULE = "cchybrid.host.worker"
"""The module that every worker runs."""
MARK = "CCHYBRID_RUN"
"""Environment variable that marks all processes of a worker, also those outside its group."""


class WorkerProcess:
    """A worker process in its own session and process group.

    Parameters
    ----------
    job, instance
        The first two lines that the worker reads; the instance is encoded once for all workers, or
        empty if the job names its files.
    mark
        Marks all processes of the worker.
    descriptors
        Open files that it inherits.

    Attributes
    ----------
    paused
        Whether it is paused (SIGSTOP).
    memory
        The resident bytes of all its processes when last measured, without mapped files.
    closed
        Descriptors that it has closed.
    clock
        The time that it and its descendants had since its start.
    garbled
        Whether it has sent a line that is no event; then no more lines are read.
    """

    def __init__(
        self, job: Line, instance: bytes, mark: str, descriptors: Collection[int] = ()
    ) -> None:
        self._mark = mark
        self.paused = False
        self.garbled = False
        self.memory = 0
        self._outside: set[Process] = set()
        self._tree: tuple[int, ...] = ()
        self.closed: set[int] = set()
        self._started = False
        self._pause_requested = False
        self._terminated = False
        self._killed = False
        self._reader = LineReader()
        self._tail: deque[bytes] = deque(maxlen=16)
        self._unsent = bytearray()
        self._pending_news: dict[tuple[object, ...], Line] = {}
        self._stop_since: float | None = None
        self._since_term: WorkingTime | None = None
        self._grace = GRACE_SECONDS
        environment = {MARK: mark, "PYTHONHASHSEED": "0"}
        self._process = start_module(MODULE, environment, descriptors=descriptors)
        self.stdin, self.stdout, self.stderr = (
            stream.fileno()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr)
            if stream is not None
        )
        for descriptor in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
        self.clock = WorkingTime(partial(tree_usage, self._process.pid), interval=SAMPLE_SECONDS)
        self._stopwatch = Stopwatch()
        self._start_seconds: tuple[float, float] | None = None
        self.send(job, encode(job) + instance)

    def mark_started(self) -> None:
        """Record that its engine has started: from now on it can be paused."""
        self._started = True
        self._update_stopwatch()
        self._start_seconds = self._stopwatch.processor, self._stopwatch.wall
        self._pause_if_started()

    @property
    def returncode(self) -> int | None:
        """The exit status, negative for a signal; ``None`` while the process runs."""
        if self._process.returncode is None:  # afterwards the system knows nothing of it
            self._stopwatch.update(usage(self._process.pid))
        return self._process.poll()

    def _update_stopwatch(self) -> None:
        if self._process.returncode is None:
            self._stopwatch.update(tree_usage(self._process.pid))

    @property
    def spent(self) -> Spent:
        """The event that has its seconds until the last ``close``."""
        whole = self._stopwatch.processor, self._stopwatch.wall
        start = self._start_seconds or whole
        return Spent(
            *(round(each, 3) for each in (*start, whole[0] - start[0], whole[1] - start[1]))
        )

    def measure(self, tree: Mapping[int, list[Process]]) -> list[Process]:
        """Measure its memory, and return its descendants outside its process group.

        ``tree`` has the running children of all processes.
        """
        found = descendants(self._process.pid, tree)
        self._tree = (self._process.pid, *(process.number for process in found))
        self.memory = sum(map(private_memory, self._tree))
        outside = [process for process in found if not self._in_group(process)]
        self._outside.update(outside)
        return outside

    def measure_again(self) -> None:
        """Measure its memory again, with what its forked processes share counted once."""
        if len(self._tree) > 1:
            self.memory = memory_of_all(self._tree)

    def _in_group(self, process: Process) -> bool:
        with contextlib.suppress(OSError):
            return os.getpgid(process.number) == self._process.pid
        return True  # it has ended

    @property
    def exited(self) -> Exited:
        """The event that describes its end."""
        code = self._process.poll() or 0
        if self._killed or self._terminated:
            return Exited("killed" if self._killed else "terminated")
        lines = b"".join(self._tail).decode(errors="replace").strip().splitlines()
        words = lines[-1].strip()[:200] if lines else ""
        return Exited("signal" if code < 0 else "exit", abs(code), words)

    @property
    def has_unsent(self) -> bool:
        """Whether bytes wait for ``flush``."""
        return bool(self._unsent)

    def send(self, line: Line, data: bytes | None = None) -> None:
        """Send a line of news; bytes that do not fit into the pipe wait for ``flush``.

        A paused worker gets only the newest line of each kind, when it is resumed. ``data`` is the
        line encoded, if it is sent to several workers.
        """
        if self.paused:
            # A line of news has one of these keys, or is of a kind of its own; near-solutions are
            # kept as on the blackboard.
            kind = next(key for key in ("best", "draft", "lower", *line) if key in line)
            of = (line["draft"], line["by"], line["number"]) if kind == "draft" else ()
            self._pending_news[kind, *of] = line
            return
        self._unsent += encode(line) if data is None else data
        self.flush()

    def flush(self) -> None:
        """Write waiting bytes, as many as the pipe takes."""
        while self._unsent:
            try:
                sent = os.write(self.stdin, self._unsent[: 1 << 16])
            except BlockingIOError:
                return
            except OSError:
                self._unsent.clear()
                return
            del self._unsent[:sent]

    def read(self) -> Iterator[Event]:
        """Yield the events that have arrived; ``Garbled`` is the last if a line is no event."""
        data = self._take(self.stdout)
        if self.garbled:
            return
        try:
            yield from self._reader.feed(data)
        except WireError as error:
            self.garbled = True
            yield Garbled(str(error))

    def drain(self) -> None:
        """Read standard error and keep its last bytes, so that the pipe never fills up."""
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
        """Pause the process group until ``resume``, as soon as its engine has started.

        The work before that, such as building the Problem, is needed in any case.
        """
        self._pause_requested = True
        self._pause_if_started()

    def _pause_if_started(self) -> None:
        if self._pause_requested and self._started and not self.paused:
            self._stopwatch.pause(tree_usage(self._process.pid))
            self.paused = self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue a paused process group, and send it the news since then."""
        self._pause_requested = False
        if self.paused:
            self.paused = False
            self._stopwatch.resume()
            self._signal(signal.SIGCONT)
            held, self._pending_news = self._pending_news, {}
            for line in held.values():
                self.send(line)

    def ask_to_stop(self, grace: float = GRACE_SECONDS) -> None:
        """Request a stop; ``enforce`` sends SIGTERM after ``grace`` seconds."""
        self.resume()  # a stopped process would not act on it
        self._grace = grace
        if self._stop_since is None:
            self._stop_since = time.monotonic()
            self.send({"stop": grace})

    def terminate(self) -> None:
        """Send SIGTERM to the process group now."""
        self.resume()  # a stopped process would not act on it
        if self._since_term is None:
            self._stop_since = self._stop_since or time.monotonic()
            self._since_term = WorkingTime(partial(usage, self._process.pid))
            if self._signal(signal.SIGTERM):
                self._terminated = True
            self._signal(signal.SIGCONT)  # others may have stopped it

    def enforce(self) -> None:
        """Send SIGTERM, and later SIGKILL, if the worker did not stop when asked.

        A worker that only waits for a processor does not ignore SIGTERM.
        """
        stop, term = self._stop_since, self._since_term
        if stop is not None and term is None and time.monotonic() - stop > self._grace:
            self.terminate()
        if term is None or self.returncode is not None:
            return
        ignored = term.seconds() > SIGTERM_GRACE_SECONDS
        if ignored or term.wall > MAX_SIGTERM_SECONDS:
            self._killed = ignored
            self._signal(signal.SIGKILL)

    def processes(self, tree: Mapping[int, list[Process]]) -> Iterator[Process]:
        """Yield its descendants; ``tree`` has the running children of all processes."""
        yield from self._outside
        if self._process.poll() is None:  # otherwise another may have its number
            yield from descendants(self._process.pid, tree)

    def close(self) -> list[Event]:
        """Close the pipes of a killed worker; return the events that were still in them."""
        # Once: a pipe holds no more, and a process that was not found might go on writing.
        events = list(self.read())
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


def kill(workers: Collection[WorkerProcess]) -> None:
    """Send SIGKILL to all processes of these workers, and wait for the end of the workers.

    All at once: the end of a process that holds much memory takes a while.
    """
    marks = tuple(f"{MARK}={worker._mark}" for worker in workers)

    def find() -> Iterator[Process]:
        tree = children()
        for worker in workers:
            yield from worker.processes(tree)
        yield from marked(marks)

    for worker in workers:
        worker._signal(signal.SIGSTOP)
        worker._update_stopwatch()
    end(find)
    for worker in workers:
        worker._signal(signal.SIGKILL)
    for worker in workers:
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker._process.wait(timeout=5)
