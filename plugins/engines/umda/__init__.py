"""UMDA, the univariate marginal distribution algorithm (thesis section 7.1.3)."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    target = f"{__name__}.engine:Umda"
    summary = "univariate marginal distribution algorithm with the thesis' heuristics"
    return [EngineInfo("umda", target, summary, priority=10, baseline=True, prepares=True)]
