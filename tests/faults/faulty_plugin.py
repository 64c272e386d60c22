"""Engines that harm what is around them, and note what they have done; see tests.faulty_engines.

The note is in the event log: by it a test proves that the fault took place.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model.schedule import steps_to_json
from cchybrid.plugin import EngineInfo, NoOptions, Run, Stop, hookimpl
from cchybrid.plugin.conformance.subject import serial_schedule
from cchybrid.problem import Problem
from cchybrid.toolkit.kernels.first_fit import first_fit

SLEEPER = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
GIGABYTES = 2
FORKS = 60
OFFERS = 1_000_000


def note(run: Run, **figures: float) -> None:
    """Note figures, and wait until the next note is not dropped."""
    run.note(**figures)
    time.sleep(0.15)


def wait(run: Run) -> Stop:
    while not run.should_stop():
        time.sleep(0.02)
    return Stop.LIMIT


DELETABLE = "CCHYBRID_TEST_DELETABLE"
"""Environment variable with the folder whose files may be deleted, and a file in that folder."""


class Base:
    Options: type = NoOptions

    def __init__(self, options: object) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        raise NotImplementedError


class Good(Base):
    """One schedule, then nothing until the end."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        return wait(run)


class Scatter(Base):
    """Leave children in sessions of their own: one with, one without any environment."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        kept = subprocess.Popen(SLEEPER, start_new_session=True)
        bare = subprocess.Popen(SLEEPER, start_new_session=True, env={})
        run.offer(first_fit(problem, run.seed))
        note(run, kept=kept.pid, bare=bare.pid)
        return wait(run)


class Daemon(Base):
    """Leave a daemon: another session, no parent, no environment, no open files."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        script = "import os, sys; os.fork() and os._exit(0); os.setsid(); "
        script += "os.execve(sys.executable, [sys.executable, '-S', '-c', "
        script += "'import os,time; print(os.getpid(),flush=True); time.sleep(600)'], {})"
        with subprocess.Popen(
            [sys.executable, "-S", "-c", script], stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            number = int(child.stdout.readline())
        run.offer(first_fit(problem, run.seed))
        note(run, daemon=number)
        return wait(run)


class Bomb(Base):
    """Fork processes that go on forking, each in a session of its own, up to a limit."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        count, put = os.pipe()
        if os.fork() == 0:
            _multiply(put)
        seen = 0
        while seen < FORKS:
            seen += len(os.read(count, FORKS))
        note(run, forked=seen)
        return wait(run)


def _multiply(put: int) -> NoReturn:
    for left in range(FORKS, 0, -1):
        os.setsid()
        os.write(put, b"x")
        if left == 1 or os.fork():
            break
    while True:
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.2)


class Gigabytes(Base):
    """Write gigabytes to standard output and standard error."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        block, written = b"x" * (1 << 22), 0
        while written < GIGABYTES << 30 and not run.should_stop():
            for stream in (1, 2):
                written += os.write(stream, block)
        note(run, written=written)
        return wait(run)


class Wanderer(Base):
    """Change environment and folder, and delete all files of a temporary folder of the test."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        folder, deleted = Path(os.environ[DELETABLE]), 0
        # Nothing but the folder that the test has made for this, never that of the system.
        if not (folder / DELETABLE).is_file() or Path(tempfile.gettempdir()) != folder:
            raise RuntimeError(f"{folder} is not the temporary folder of a test")
        os.environ.clear()
        os.chdir(folder)
        for path in folder.iterdir():
            deleted += 1
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        run.offer(first_fit(problem, run.seed))
        note(run, deleted=deleted)
        return wait(run)


class Million(Base):
    """Offer the same schedule a million times."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        offered, steps = 0, serial_schedule(problem)
        while offered < OFFERS and not run.should_stop():
            run.offer(steps)
            offered += 1
            if offered == 1_000:
                run.note(offered=offered)
        return wait(run)


class Long(Base):
    """Send lines of 100 MB that are events, but hold nothing of use."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        note(run, long=100.0)
        for _ in range(3):
            out = run._out  # type: ignore[attr-defined]
            out.write(b'{"event":"note","metrics":{"x":1' + b" " * 100_000_000 + b"}}\n")
            out.flush()
        note(run, sent=3.0)
        return wait(run)


class Early(Base):
    """Claim a bound that is too high before anything else."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.bound(1_000)
        note(run, claimed=1_000)
        return wait(run)


class Foreign(Base):
    """Offer a schedule of another instance."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        found = first_schedule(cchybrid.instance("ring-bi-6", "AAS"))
        assert found is not None
        note(run, foreign=1.0)
        run.send("offer", steps=steps_to_json(found), spent=0, how="")  # type: ignore[attr-defined]
        return wait(run)


class Never(Base):
    """Never stop, whatever the signal, and show it."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        note(run, deaf=1.0)
        while True:
            time.sleep(600)


class Grow(Base):
    """Take more and more memory, as resident pages."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        kept: list[bytearray] = []
        while not run.should_stop():
            kept.append(bytearray(b"x") * (64 << 20))
            note(run, grown=64.0 * len(kept))
        return Stop.LIMIT


ENGINES = (
    Good, Scatter, Daemon, Bomb, Gigabytes, Wanderer, Million, Long, Early, Foreign, Never, Grow,
)  # fmt: skip


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    again = EngineInfo("grow-too", f"{__name__}:Grow", "")
    return [again] + [
        EngineInfo(
            kind.__name__.lower(), f"{__name__}:{kind.__name__}", kind.__doc__ or "",
            kind="exact" if kind is Early else "heuristic",
        )
        for kind in ENGINES
    ]  # fmt: skip
