"""HGSA, hybrid parallel genetic simulated annealing (Ohlidal and Schwarz)."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    target = f"{__name__}.engine:Hgsa"
    summary = "parallel simulated annealing with genetic operations, after Ohlidal and Schwarz"
    return [EngineInfo("hgsa", target, summary, priority=9, baseline=True, prepares=True)]
