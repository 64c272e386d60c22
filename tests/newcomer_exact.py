"""A plugin with an exact engine that searches, claims nothing, and never ends by itself."""

import time

from cchybrid.plugin import EngineInfo, NoOptions, Run, Stop, hookimpl
from cchybrid.problem import Problem


class Thinker:
    Options: type = NoOptions

    def __init__(self, options: object) -> None:
        self.options = options

    def unsupported(self, problem: Problem) -> str | None:
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        while not run.should_stop():
            # Work, as an exact engine has it, that comes to nothing.
            sum(range(10_000))
            time.sleep(0)
        return Stop.LIMIT


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    return [EngineInfo("thinker", f"{__name__}:Thinker", "claims nothing", kind="exact")]
