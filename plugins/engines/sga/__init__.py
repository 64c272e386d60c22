"""SGA, the standard genetic algorithm (thesis section 7.1.1)."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    target = f"{__name__}.engine:Sga"
    summary = "standard genetic algorithm with the thesis' heuristics"
    return [EngineInfo("sga", target, summary, priority=7, baseline=True, prepares=True)]
