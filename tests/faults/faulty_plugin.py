"""Engines that harm what is around them, and note what they have done; see tests.faulty_engines.

The note is in the event log: by it a test proves that the fault took place.
"""

import math
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
from cchybrid.host.wire import encode
from cchybrid.model.schedule import steps_to_json
from cchybrid.plugin import EngineInfo, Run, Stop, hookimpl
from cchybrid.plugin.conformance.subject import serial_schedule
from cchybrid.problem import Problem
from cchybrid.system.processes import private_memory
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.faults.processes import OWN
from tests.faulty_engines import Faulty, Sound, described, wait

FORKS = 60
DELETABLE = "CCHYBRID_TEST_DELETABLE"
"""Environment variable with the folder whose files may be deleted, and a file in that folder."""


def note(run: Run, **figures: float) -> None:
    """Note figures, and wait until the next note is not dropped."""
    run.note(**figures)
    time.sleep(0.15)


def send(run: Run, lines: bytes) -> None:
    """Send lines of its own making to the host."""
    out = run._out  # type: ignore[attr-defined]
    out.write(lines)
    out.flush()


def sleeper() -> list[str]:
    """Return a command that does nothing, and by whose words the test finds it."""
    return [sys.executable, "-S", "-c", "import time; time.sleep(600)", os.environ[OWN]]


class Good(Faulty):
    """One schedule, then the harm of the subclasses, and then nothing until the end."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        self.harm(run)
        return wait(run)

    def harm(self, run: Run) -> None:
        """Do no harm."""


class Beating(Faulty):
    """One schedule, then a note five times a second."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        beats = 0
        while not run.should_stop():
            beats += 1
            run.note(beats=beats)
            time.sleep(0.2)
        return Stop.LIMIT


class Scatter(Good):
    """Leave a child in a session of its own."""

    def harm(self, run: Run) -> None:
        child = subprocess.Popen(sleeper(), start_new_session=True)
        note(run, kept=child.pid)


class Daemon(Good):
    """Leave a daemon: another session, no parent, no environment, no open files."""

    def harm(self, run: Run) -> None:
        script = "import os, sys; os.fork() and os._exit(0); os.setsid(); "
        script += "print(os.getpid(), flush=True); os.closerange(0, 3); "
        script += "os.execve(sys.argv[1], sys.argv[1:], {})"
        words = [sys.executable, "-S", "-c", script, *sleeper()]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            number = int(child.stdout.readline())
        time.sleep(1.5)  # the host looks for processes twice a second
        note(run, daemon=number)


class Bomb(Good):
    """Fork processes that go on forking, each in a session of its own, up to a limit."""

    def harm(self, run: Run) -> None:
        count, put = os.pipe()
        if os.fork() == 0:
            _multiply(put)
        seen = 0
        while seen < FORKS:
            seen += len(os.read(count, FORKS))
            run.note(forking=seen)
        time.sleep(0.15)
        note(run, forked=seen)


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
        time.sleep(1.0)


class Copies(Good):
    """Fork processes that share much memory with it, and wait for them."""

    def harm(self, run: Run) -> None:
        kept = bytearray(b"x") * (256 << 20)
        children = [os.getpid()]
        for _ in range(6):
            children.append(os.fork())
            if children[-1] == 0:
                time.sleep(600)
        note(run, apiece=sum(map(private_memory, children)) >> 20)
        for _ in range(10):  # the host measures twice a second
            time.sleep(0.2)
        note(run, measured=len(kept))


class Gigabytes(Good):
    """Write gigabytes to standard output and standard error."""

    BYTES: float = 2 << 30

    def harm(self, run: Run) -> None:
        note(run, begun=1.0)
        block, written = b"x" * (1 << 22), 0
        while written < self.BYTES:
            for stream in (1, 2):
                written += os.write(stream, block)
        note(run, written=written)


class Flood(Gigabytes):
    """Write to both streams without end."""

    BYTES = math.inf


class Wanderer(Faulty):
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


class Million(Faulty):
    """Offer the same schedule a million times, as fast as the host reads; note it now and then."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        steps = steps_to_json(problem.lift(serial_schedule(problem)).steps)
        lines = encode({"event": "offer", "steps": steps, "spent": 0, "how": ""}) * 100
        for block in range(1, 10_001):
            send(run, lines)
            run.note(offered=100 * block)
        return wait(run)


class Long(Good):
    """Send lines of 100 MB that are events, but hold nothing of use."""

    def harm(self, run: Run) -> None:
        for _ in range(2):
            send(run, b'{"event":"note","metrics":{"x":1' + b" " * 100_000_000 + b"}}\n")
        note(run, sent=2.0)


class Early(Faulty):
    """Claim a bound that is too high before anything else."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.bound(1_000)
        note(run, claimed=1_000)
        return wait(run)


class Foreign(Faulty):
    """Offer a schedule of another instance."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        found = first_schedule(cchybrid.instance("ring-bi-6", "AAS"))
        assert found is not None
        note(run, foreign=1.0)
        run.send("offer", steps=steps_to_json(found), spent=0, how="")  # type: ignore[attr-defined]
        return wait(run)


class Never(Good):
    """Never stop, whatever the signal, and show it."""

    def harm(self, run: Run) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        note(run, deaf=1.0)
        while True:
            time.sleep(600)


class Grow(Good):
    """Take more and more memory, as resident pages, up to a limit."""

    def harm(self, run: Run) -> None:
        kept: list[bytearray] = []
        while len(kept) < 13 and not run.should_stop():
            kept.append(bytearray(b"x") * (64 << 20))
            note(run, grown=64.0 * len(kept))


ENGINES = (
    Beating, Scatter, Daemon, Bomb, Copies, Gigabytes, Flood, Wanderer, Million, Long, Foreign,
    Never,
)  # fmt: skip
SEVERAL = (Good, Grow, Sound)
"""Engines that are there several times, as good-1, good-2 and so on."""


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    several = [
        described(engine, f"{engine.__name__.lower()}-{number}")
        for engine in SEVERAL for number in range(1, 7)
    ]  # fmt: skip
    return [*map(described, ENGINES), *several, described(Early, kind="exact")]
