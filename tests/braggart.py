"""An engine that claims more steps than are needed, and offers nothing that shows it."""

from cchybrid.plugin.engine import EngineInfo, Run, Stop
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.problem import Problem
from tests.faulty_engines import Faulty


class Brag(Faulty):
    def solve(self, problem: Problem, run: Run) -> Stop:
        run.bound(9)
        return Stop.EXHAUSTED


@hookimpl
def cchybrid_engines() -> tuple[EngineInfo, ...]:
    return (EngineInfo("brag", f"{__name__}:Brag", "claims nine steps", kind="exact"),)
