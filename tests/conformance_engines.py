"""Engines that break one rule of the contract each, to test the conformance suite."""

import itertools
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cchybrid.plugin.engine import EngineInfo, Run, Stop
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from tests.faulty_engines import Faulty

RELEASE = threading.Event()
"""Set at the end of the tests: engines that never return, return then."""


class Sound(Faulty):
    """One first-fit schedule; every engine below spoils it in one way."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        if next(run.targets(), None) is not None:
            run.offer(first_fit(problem, run.seed))
            run.spend(1)
        return Stop.STALLED


class NoOptionsAtAll(Sound):
    Options = None  # type: ignore[assignment]


@dataclass
class Thawed:
    rounds: int = 1


class ThawedOptions(Sound):
    Options = Thawed


@dataclass(frozen=True)
class Bare:
    rounds: int


class BareOptions(Sound):
    Options = Bare


class Unbuildable(Sound):
    def __init__(self) -> None:  # takes no options
        super().__init__(None)


class RaisesInUnsupported(Sound):
    def unsupported(self, problem: Problem) -> str | None:
        raise KeyError("no such thing")


class SupportsNothing(Sound):
    def unsupported(self, problem: Problem) -> str | None:
        return "not today"


class RaisesInSolve(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        raise IndexError("list index out of range")


class ReturnsNothing(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        super().solve(problem, run)
        return None  # type: ignore[return-value]


class OffersNothing(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        return Stop.STALLED


class AllAtOnce(Sound):
    """Offers everything in one step."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        sound = first_fit(problem, run.seed)
        run.offer(replace(sound, step=np.minimum(sound.step, 0)))
        return Stop.STALLED


class WrongOption(Sound):
    """Numbers the options of every delivery from 0."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        sound = first_fit(problem, run.seed)
        run.offer(replace(sound, option=np.minimum(sound.option, 0)))
        return Stop.STALLED


class WrongShape(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        sound = first_fit(problem, run.seed)
        run.offer(Assignment(sound.option[1:], sound.step[1:]))
        return Stop.STALLED


class WrongType(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        sound = first_fit(problem, run.seed)
        run.suggest(Assignment(sound.option, sound.step.astype(float)))  # type: ignore[arg-type]
        return Stop.STALLED


class NotesText(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        run.note(state="fine")  # type: ignore[arg-type]
        return super().solve(problem, run)


class ClaimsTooMuch(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        if problem.complete and next(run.targets(), None) is not None:
            run.bound(first_fit(problem, run.seed).steps + 1)
        return super().solve(problem, run)


class ClaimsOnSamples(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        if not problem.complete:
            run.bound(2)
        return super().solve(problem, run)


class Forges(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        run.bound(2, {"kind": "linear", "steps": 1})
        return super().solve(problem, run)


class ProvesUnasked(Sound):
    """Claims something true although it is registered as proving nothing."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        if problem.complete:
            run.bound(1)
        return super().solve(problem, run)


class Endless(Sound):
    """Looks at should_stop alone: not at targets, not at what is spent."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        for seed in itertools.count(run.seed):
            if run.should_stop() or RELEASE.is_set():
                return Stop.LIMIT
            run.offer(first_fit(problem, seed))
            time.sleep(0.01)
        raise AssertionError


class Deaf(Sound):
    """Never looks at should_stop."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        super().solve(problem, run)
        RELEASE.wait(60)
        return Stop.LIMIT


class Slow(Sound):
    """Looks at should_stop too rarely."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        super().solve(problem, run)
        while not (run.should_stop() or RELEASE.wait(1.0)):
            pass
        return Stop.LIMIT


class GlobalRandom(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        random.random()
        return super().solve(problem, run)


class Mutates(Sound):
    def solve(self, problem: Problem, run: Run) -> Stop:
        problem.capacity[:] = problem.capacity[::-1] + 1
        return Stop.STALLED


class Remembers(Sound):
    """Engine whose seed continues from one run to the next."""

    seeds: Iterator[int] = itertools.count()

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.spend(1)
        for _ in range(4):
            run.offer(first_fit(problem, next(self.seeds)))
        return Stop.STALLED


class TrustsHints(Sound):
    """Offers a hint as if it were a schedule."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        for target in run.targets():
            hint = run.hint(target)
            if hint is not None:
                run.offer(hint)
        return super().solve(problem, run)


class DiesInWorkers(Sound):
    """Works in the process that tests it only."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        if not hasattr(run, "schedules"):
            raise RuntimeError("this is no LocalRun")
        return super().solve(problem, run)


def info(engine: type, **rest: object) -> EngineInfo:
    """Return what an engine of this module would be registered with."""
    fields = {"name": engine.__name__.lower(), "summary": "for tests", **rest}
    return EngineInfo(target=f"{__name__}:{engine.__name__}", **fields)  # type: ignore[arg-type]
