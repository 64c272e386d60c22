"""The worker's side of the pipes: sends events to the host, receives news, counts the budget.

``serve`` is the main function of a worker process. The main thread does the job, a second one reads
news, and a third one watches the search.
"""

import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from cchybrid.host.wire import Line, encode
from cchybrid.model.errors import InputError, PluginError
from cchybrid.model.json_fields import parse_json
from cchybrid.model.text import error_line, one_line
from cchybrid.plugin.engine import Budget, Stop, read_options
from cchybrid.plugin.records import load_target
from cchybrid.system.process_tree import adopt_orphans
from cchybrid.system.processes import die_with_parent, limit_memory
from cchybrid.system.working_time import WorkingTime, tree_usage

TICK_SECONDS = 0.1
"""Seconds between two checks of the engine. On a busy machine ticks are delayed as much as the
engine, so a number of ticks measures time that the engine had."""
MAX_SILENT_TICKS = 30
"""Ticks without a call of ``Run`` after which the engine is reported as silent. The contract asks
for a few calls per second; these are 3 seconds."""
STOP_SHARE = 0.6
"""Share of the seconds until SIGTERM, without those of waiting for a processor, after which a
worker reports that its engine does not return when asked to stop, and ends itself."""
MIN_NOTE_SECONDS = 0.1
"""Shortest time between two notes, or two reports of progress; those between are dropped."""


class WorkerLink:
    """The calls and the budget that runs of engines and of designers share.

    Attributes
    ----------
    settings
        What the task of the run tells its engine, beside the options.
    stop_requested, grace
        Whether the host has asked the worker to stop, and the seconds until SIGTERM.
    working
        Whether the search has begun and has not ended.
    calls
        How often the search has called the run.
    """

    def __init__(self, job: Line, out: IO[bytes]) -> None:
        self.seed: int = job["seed"]
        self.settings: Line = job.get("settings", {})
        self.budget = Budget(**job["budget"])
        self._out = out
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._extension = 0.0
        # The extension of the run that the seconds of the budget contain already.
        self._known_extension: float = job.get("extension", 0.0)
        self.stop_requested = False
        self.grace = 0.0
        self._spent = 0
        self._last_note = 0.0
        self.working = False
        self.calls = 0

    def receive(self, line: Line) -> None:
        """Apply a line of news from the host."""
        if "stop" in line:
            self.stop_requested, self.grace = True, line["stop"]
        if "extension" in line:
            self._extension = line["extension"] - self._known_extension

    def send(self, event: str, **content: Any) -> None:
        """Send one event to the host."""
        self.calls += 1
        line = encode({"event": event, **content})
        with self._lock:
            self._out.write(line)
            self._out.flush()

    @property
    def is_sending(self) -> bool:
        """Whether an event is being sent: a busy host reads a large one only after seconds."""
        return self._lock.locked()

    def note(self, **metrics: float) -> None:
        """See ``Run.note``."""
        now = time.monotonic()
        if now - self._last_note >= MIN_NOTE_SECONDS:
            self._last_note = now
            # JSON cannot represent infinity.
            finite = {key: float(v) for key, v in metrics.items() if math.isfinite(float(v))}
            self.send("note", metrics=finite)

    def remark(self, text: str) -> None:
        """Report a line for the user."""
        self.send("remarked", text=text)

    def left(self) -> float:
        """Return the seconds left of the time limit, infinite without one."""
        seconds = math.inf if self.budget.seconds is None else self.budget.seconds
        return seconds + self._extension - (time.monotonic() - self._started)

    def spend(self, evaluations: int) -> None:
        """See ``Run.spend``."""
        self.calls += 1
        self._spent += evaluations

    def should_stop(self) -> bool:
        """See ``Run.should_stop``."""
        self.calls += 1
        evaluations = self.budget.evaluations
        spent = evaluations is not None and self._spent >= evaluations
        return self.stop_requested or self.left() <= 0 or spent

    def end_figures(self) -> dict[str, Any]:
        """Return further fields of the event ``end``."""
        return {}

    def send_end(self, stop: Stop) -> None:
        """Send why the search returned and what it has spent, once."""
        if not self.working:  # the watching thread has sent it
            return
        self.working = False
        self.send("end", stop=stop.value, evaluations=self._spent, **self.end_figures())


class RefusedError(Exception):
    """The engine rejects its options."""


def read_engine(job: Line, command: str) -> tuple[Any, Any]:
    """Return the class of the engine and its options, or raise a ``RefusedError``.

    ``command`` is the one that lists engines of this kind, such as ``engines``.
    """
    engine_class = load_target(job["target_name"])
    try:
        listing = f"cchybrid {command} {job['engine']}"
        return engine_class, read_options(
            job["engine"], engine_class.Options, job["options"], listing
        )
    except InputError as error:
        raise RefusedError(str(error)) from None


def serve(start: Callable[[Line, IO[bytes]], tuple[WorkerLink, Callable[[], None]]]) -> None:
    """Read the job, do it and report how it ended.

    ``start(job, out)`` returns the run, which writes to ``out``, and the function that does the
    job; it is called before lines of news are read.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()
    adopt_orphans()  # so that the host finds all that an engine starts
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    job = parse_json(sys.stdin.buffer.readline().decode())
    memory = job["budget"]["memory"]
    limit_memory(memory)
    run, do_job = start(job, out)
    threading.Thread(target=_listen, args=(run,), daemon=True).start()
    threading.Thread(target=_watch, args=(run,), daemon=True).start()
    try:
        do_job()
    except RefusedError as error:
        run.send("refused", text=str(error))
    except MemoryError:
        run.send("failed", text=f"ran out of its {memory} MiB of memory")
    except PluginError as error:  # its text names the plugin's fault
        run.send("failed", text=one_line(str(error)))
        traceback.print_exc()
    except BaseException as error:  # SystemExit, too
        run.send("failed", text=error_line(error))
        traceback.print_exc()
    finally:
        sys.stdout.flush()
    # Threads that an engine left running must not keep the process alive.
    os._exit(0)


def _watch(run: WorkerLink) -> None:
    """Report an engine that does not call ``Run``; end the process if it does not stop."""
    calls = silent = 0
    stopping: WorkingTime | None = None
    while True:
        time.sleep(TICK_SECONDS)
        silent = silent + 1 if run.calls == calls and run.working and not run.is_sending else 0
        if silent == MAX_SILENT_TICKS:
            run.send("silent", lasted=MAX_SILENT_TICKS * TICK_SECONDS)
        calls = run.calls
        # A worker whose engine has not started is ended by the host.
        if stopping is None and run.stop_requested and run.working:
            stopping = WorkingTime(partial(tree_usage, os.getpid()))
        if stopping is not None and stopping.seconds() > STOP_SHARE * run.grace:
            run.send("overdue")
            run.send_end(Stop.LIMIT)
            os._exit(0)


def _listen(run: WorkerLink) -> None:
    for raw in sys.stdin.buffer:
        run.receive(parse_json(raw.decode()))
    # End of input: the host has ended, and no other process would end this process group.
    os.killpg(os.getpgrp(), signal.SIGKILL)
