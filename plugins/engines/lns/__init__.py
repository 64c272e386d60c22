"""Large-neighbourhood search: CP-SAT repacks a part of a schedule, again and again."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "large-neighbourhood search: CP-SAT reschedules some deliveries in every iteration"
    return [EngineInfo("lns", f"{__name__}.engine:Lns", summary, priority=30, prepares=True)]
