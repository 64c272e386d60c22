"""A plugin whose engines break every rule that the host has to survive; and one that is sound."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cchybrid.plugin.conformance.subject import serial_schedule
from cchybrid.plugin.engine import EngineInfo, NoOptions, Run, Stop
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.problem import Problem
from cchybrid.toolkit.kernels.first_fit import first_fit

SLEEPER = "import time; time.sleep(600)"


def wait(run: Run) -> Stop:
    """Do nothing until the run is over."""
    while not run.should_stop():
        time.sleep(0.02)
    return Stop.LIMIT


class Faulty:
    """The base of engines in tests; it finds nothing."""

    Options: type = NoOptions

    def __init__(self, options: object) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        return Stop.STALLED


class Sound(Faulty):
    """First fit once: a valid schedule, nothing more."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(first_fit(problem, run.seed))
        return Stop.STALLED


class Restless(Faulty):
    """Says its seed, finds nothing, and never has enough."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.note(seed=run.seed)
        return wait(run)


class Crowd(Faulty):
    """Offers one message a step, and goes on."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.offer(serial_schedule(problem))
        return wait(run)


class Crash(Faulty):
    def solve(self, problem: Problem, run: Run) -> Stop:
        os.kill(os.getpid(), signal.SIGSEGV)
        return Stop.STALLED


class Raise(Faulty):
    def solve(self, problem: Problem, run: Run) -> Stop:
        raise RuntimeError("the engine broke\nin two lines")


class Vanish(Faulty):
    def solve(self, problem: Problem, run: Run) -> Stop:
        os._exit(0)


class Hang(Faulty):
    """Ignores SIGTERM and has a child that does so too."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-c", SLEEPER])
        while True:
            time.sleep(600)


class Deaf(Faulty):
    """Never looks at should_stop, but dies of SIGTERM."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        time.sleep(600)
        return Stop.STALLED


class Liar(Faulty):
    """Offers everything in one step, whatever the capacities."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        sound = first_fit(problem, run.seed)
        run.offer(replace(sound, step=np.where(sound.step >= 0, 0, -1).astype(np.int32)))
        time.sleep(600)
        return Stop.STALLED


class Boast(Faulty):
    """Claims an absurd bound, then offers a schedule that refutes it."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.bound(10**6)
        run.offer(first_fit(problem, run.seed))
        time.sleep(600)
        return Stop.STALLED


class Forge(Faulty):
    """Gives evidence for less than it says."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.bound(999, {"kind": "linear", "steps": 1})
        time.sleep(600)
        return Stop.STALLED


class Babble(Faulty):
    """Writes into the host's pipe."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run._out.write(b"this is no event\n")  # type: ignore[attr-defined]
        run._out.flush()  # type: ignore[attr-defined]
        time.sleep(600)
        return Stop.STALLED


class Picky(Faulty):
    def unsupported(self, problem: Problem) -> str | None:
        return "it likes no problem at all"


@dataclass(frozen=True)
class TunedOptions:
    rounds: int = 3
    rate: float = 0.5
    loud: bool = False
    word: str = "yes"

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ValueError(f"rounds is {self.rounds}; use at least 1")


class Tuned(Sound):
    Options = TunedOptions


class Infinite(Faulty):
    def solve(self, problem: Problem, run: Run) -> Stop:
        run._out.write(b'{"event":"note","metrics":{"x":1e999}}\n')  # type: ignore[attr-defined]
        run._out.flush()  # type: ignore[attr-defined]
        return wait(run)


ENGINES = (
    Sound, Crowd, Restless, Crash, Raise, Vanish, Hang, Deaf, Liar, Boast, Forge, Babble,
    Picky, Tuned, Infinite,
)  # fmt: skip


def described(engine: type[Faulty], name: str = "", **more: Any) -> EngineInfo:
    """Return the record of an engine, by default under the name of its class."""
    target = f"{engine.__module__}:{engine.__name__}"
    return EngineInfo(name or engine.__name__.lower(), target, engine.__doc__ or "", **more)


@hookimpl
def cchybrid_engines() -> tuple[EngineInfo, ...]:
    return tuple(
        described(engine, kind="exact" if engine is Boast else "heuristic") for engine in ENGINES
    )
