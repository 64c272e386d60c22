"""Compilation of the kernels of engines in the background, before their first use.

Kernels are compiled once per installation, which takes seconds of processor time. ``pending``
returns the engines with kernels to compile, without importing them or numba. ``WarmUp`` compiles
them in a child process of low priority, one engine after another, and never blocks:

>>> warm_up = WarmUp(pending(engines))
>>> warm_up.start()
>>> while warm_up.running:
...     for compiled in warm_up.poll():
...         print(compiled.engine, compiled.seconds, compiled.error)
...     time.sleep(0.1)

It may be stopped or killed at any time and may run several times at once: an engine is marked as
compiled only when all its kernels are, and processes that need the same kernels wait for one
another. If an engine ends the child process or takes longer than ``MAX_PREPARE_SECONDS``, a new
process compiles the kernels of the others. On a machine that is too busy, the rest is ``late``: it
is compiled in the first run that needs it.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from cchybrid.model.text import error_line
from cchybrid.plugin.records import DesignerInfo, EngineInfo, load_target
from cchybrid.system.kernel_cache import compiling, needs_compiling
from cchybrid.system.processes import die_with_parent, start_module
from cchybrid.system.working_time import SAMPLE_SECONDS, WorkingTime, tree_usage

__all__ = ["Compiled", "WarmUp", "pending"]

NICENESS = 10
"""Niceness beside a run, so that its searches are not slowed down."""
MAX_PREPARE_SECONDS = 120.0
"""Seconds, without those of waiting for a processor, after which an engine counts as failed; those
of cchybrid take about fifteen."""
MAX_WAIT_SECONDS = 600.0
"""Wall-clock seconds for one engine after which it and the others are late."""


@dataclass(frozen=True)
class Compiled:
    """The report of one engine's compilation.

    Parameters
    ----------
    engine
        The engine's name.
    seconds
        Wall-clock seconds.
    error
        The error, or "". An engine that failed stays ``pending``.
    late
        Whether the machine was too busy. Such an engine stays ``pending``, too.
    """

    engine: str
    seconds: float
    error: str = ""
    late: bool = False


def pending(engines: Iterable[EngineInfo | DesignerInfo]) -> list[EngineInfo | DesignerInfo]:
    """Return the engines and designers whose kernels are not compiled yet.

    Engines without a priority come last, after heuristics: other engines need only the kernels of
    greedy schedules, which take a few seconds to compile. Within a kind, engines of higher
    priority come first.
    """
    found = [info for info in engines if info.prepares and needs_compiling(info.target)]
    return sorted(
        found, key=lambda info: (info.priority <= 0, info.kind == "heuristic", -info.priority)
    )


class WarmUp:
    """A compilation of the kernels of engines in one child process, in the order given.

    Parameters
    ----------
    engines
        The engines and designers, as ``pending`` returns them.
    niceness
        Niceness of the child process after the first engine, which is not delayed: a run usually
        waits for the kernels of greedy schedules alone.
    """

    def __init__(
        self, engines: Sequence[EngineInfo | DesignerInfo], niceness: int = NICENESS
    ) -> None:
        self._targets = {info.name: info.target for info in engines}
        self._niceness = niceness
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""
        self._clock: WorkingTime | None = None
        self._refused = ""

    @property
    def left(self) -> tuple[str, ...]:
        """The names of the engines that are not reported yet; the first is being compiled."""
        return tuple(self._targets)

    @property
    def running(self) -> bool:
        """Whether the process was started and some engine is not reported yet."""
        return self._process is not None and bool(self._targets)

    def start(self) -> None:
        """Start the child process, unless there is nothing to compile."""
        if not self._targets or self._process is not None:
            return
        self._unread = b""
        try:
            self._process = start_module("cchybrid.plugin.warm_up")
        except OSError as error:  # too few processes or open files
            self._refused = str(error.strerror)
            return
        self._start_clock()
        jobs = json.dumps([self._niceness, list(self._targets.items())])
        if self._process.stdin is not None:
            with self._process.stdin as stream, contextlib.suppress(OSError):
                stream.write(jobs.encode())
        os.set_blocking(self.fileno(), False)

    def _start_clock(self) -> None:
        """Let the time of the next engine begin."""
        if self._process is not None:
            read = partial(tree_usage, self._process.pid)
            self._clock = WorkingTime(read, interval=SAMPLE_SECONDS)

    def fileno(self) -> int:
        """Return a descriptor for selectors, readable when ``poll`` has reports."""
        if self._process is None or self._process.stdout is None:
            raise ValueError("the warm-up has not been started")
        return self._process.stdout.fileno()

    def poll(self) -> list[Compiled]:
        """Return the reports since the last call, without waiting."""
        if self._refused:
            refused = [Compiled(name, 0.0, self._refused) for name in self._targets]
            self._targets.clear()
            return refused
        if self._process is None or self._clock is None or not self._targets:
            return []
        ended = self._process.poll() is not None
        with contextlib.suppress(BlockingIOError):
            self._unread += os.read(self.fileno(), 65536)
        *lines, self._unread = self._unread.split(b"\n")
        found = [Compiled(*json.loads(line)) for line in lines]
        for compiled in found:
            del self._targets[compiled.engine]
            self._start_clock()
        worked, seconds = self._clock.seconds(), self._clock.wall
        late = not ended and seconds > MAX_WAIT_SECONDS
        if ended or late or worked > MAX_PREPARE_SECONDS or not self._targets:
            self._end_process()
            error = "the process was ended" if ended else f"not ready after {worked:.0f} seconds"
            for name in self.left if late else self.left[:1]:
                del self._targets[name]
                found.append(Compiled(name, round(seconds, 3), "" if late else error, late))
            self.start()
        return found

    def wait(self, seconds: float = 0.1) -> list[Compiled]:
        """Wait for reports up to this many seconds; return them."""
        end = time.monotonic() + seconds
        while not (found := self.poll()) and self.running and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def stop(self) -> None:
        """Kill the child process; finished compilations are kept."""
        self._targets.clear()
        self._end_process()

    def _end_process(self) -> None:
        if self._process is None:
            return
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process = None


def _compile_all(niceness: int, jobs: Sequence[tuple[str, str]]) -> None:
    """Compile the kernels of engines; write a line with the fields of ``Compiled`` for each."""
    die_with_parent()
    out = os.fdopen(os.dup(1), "w")
    for stream in (1, 2):  # output of engines is discarded
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    for number, (name, target) in enumerate(jobs):
        if number == 1:
            with contextlib.suppress(OSError):
                os.nice(niceness)
        begun, error = time.monotonic(), ""
        try:
            with compiling(target) as missing:
                if missing:
                    engine = load_target(target)
                    engine(engine.Options()).prepare()
        except BaseException as raised:  # SystemExit, too
            error = error_line(raised)
        print(json.dumps([name, round(time.monotonic() - begun, 3), error]), file=out, flush=True)


if __name__ == "__main__":
    _compile_all(*json.load(sys.stdin))
