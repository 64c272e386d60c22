"""Tabu search with weights on the violated (channel, step) cells."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "tabu search with constraint weighting; prices all paths at once"
    return [EngineInfo("tabu", f"{__name__}.engine:Tabu", summary, priority=50, prepares=True)]
