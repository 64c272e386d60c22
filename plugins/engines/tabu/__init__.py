"""Tabu search with weights on the violated (channel, step) cells."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "tabu search with constraint weighting; prices all paths at once"
    target = f"{__name__}.engine:Tabu"
    return [
        EngineInfo("tabu", target, summary, priority=50, prepares=True, horizons=("steps", "slots"))
    ]
