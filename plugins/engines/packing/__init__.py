"""Scatters packed step by step: each step is filled with paths that share no channel."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "scatters: fills step after step with routes that share no channel"
    return [
        EngineInfo(
            "packing",
            f"{__name__}.engine:Packing",
            summary,
            priority=45,
            prepares=True,
            messages="direct",
        )
    ]
