"""The engine ``random``: random search, the null baseline."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    target = f"{__name__}.engine:RandomSearch"
    summary = "the null baseline: greedy schedules in random order, or uniform samples"
    return [EngineInfo("random", target, summary, priority=1, baseline=True, prepares=True)]
