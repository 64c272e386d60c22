"""The engine ``matching``: in every step, messages are matched to links; many random restarts."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "matches messages to links step by step where messages are forwarded"
    return [
        EngineInfo(
            "matching",
            f"{__name__}.engine:Matching",
            summary,
            priority=45,
            prepares=True,
            messages="forwarded",
        )
    ]
