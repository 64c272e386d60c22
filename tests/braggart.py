"""An engine that claims more steps than are needed, and offers nothing that shows it."""

from cchybrid.plugin.engine import EngineInfo, NoOptions, Run, Stop
from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.problem import Problem


class Brag:
    Options: type = NoOptions

    def __init__(self, options: object) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        run.bound(9)
        return Stop.EXHAUSTED


@hookimpl
def cchybrid_engines() -> tuple[EngineInfo, ...]:
    return (EngineInfo("brag", f"{__name__}:Brag", "claims nine steps", kind="exact"),)
