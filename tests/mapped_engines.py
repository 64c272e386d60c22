"""Engines that overwrite the arrays of their Problem, or show where these are."""

import mmap
import time

import numpy as np

from cchybrid.plugin.engine import EngineInfo, Run, Stop
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.problem import Problem
from tests.faulty_engines import Faulty, Sound, wait


def is_mapped(array: np.ndarray) -> bool:
    """Return whether an array is in a mapped file."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)


class Scribbler(Faulty):
    """Overwrites all arrays of its Problem, and goes on until the run is over."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        structure = problem.structure
        assert structure is not None
        for part in (problem, structure, structure.resources):
            for array in vars(part).values():
                if isinstance(array, np.ndarray):
                    array.fill(0)
        run.note(overwritten=1)
        return wait(run)


class Observant(Sound):
    """Reports whether its Problem is mapped, waits for others to do harm, and uses first fit."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.note(mapped=is_mapped(problem.path_resource))
        if run.budget.evaluations is None:
            time.sleep(1.0)
        run.spend(1)
        return super().solve(problem, run)


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    return [
        EngineInfo("scribbler", f"{__name__}:Scribbler", "overwrites its Problem"),
        EngineInfo("observant", f"{__name__}:Observant", "first fit"),
    ]
