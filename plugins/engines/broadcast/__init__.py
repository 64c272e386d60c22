"""The engine ``broadcast``: flows from all informed nodes, decided by CP-SAT."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "broadcasts: CP-SAT on flows from all informed nodes, hops limited per step"
    return [
        EngineInfo(
            "broadcast",
            f"{__name__}.engine:Broadcast",
            summary,
            priority=40,
            messages="forwarded",
            decides=True,
        )
    ]
