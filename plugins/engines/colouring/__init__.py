"""The engine ``colouring``, a baseline: greedy colouring of the conflict graph."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "colours the conflict graph of chosen paths (DSATUR and other greedy orders)"
    return [EngineInfo("colouring", f"{__name__}.engine:Colouring", summary, priority=20)]
