"""MBOA, the mixed Bayesian optimization algorithm (thesis section 7.1.2)."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    target = f"{__name__}.engine:Mboa"
    summary = "mixed Bayesian optimization algorithm with the thesis' heuristics"
    return [EngineInfo("mboa", target, summary, priority=8, baseline=True, prepares=True)]
