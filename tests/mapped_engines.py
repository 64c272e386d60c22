"""An engine that shows where the arrays of its Problem are."""

import mmap

import numpy as np

from cchybrid.plugin.engine import EngineInfo, Run, Stop
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.problem import Problem
from tests.faulty_engines import Sound


def is_mapped(array: np.ndarray) -> bool:
    """Return whether an array is in a mapped file."""
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)


class Observant(Sound):
    """Reports whether its Problem is mapped, and uses first fit."""

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.note(mapped=is_mapped(problem.option_path))
        run.spend(1)
        return super().solve(problem, run)


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    return [EngineInfo("observant", f"{__name__}:Observant", "first fit")]
