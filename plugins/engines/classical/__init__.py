"""The engine ``classical``: constructions of collective schedules from the literature."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "constructions from the literature: trees, rings, exchanges, dominating sets"
    return [
        EngineInfo(
            "classical", f"{__name__}.engine:Classical", summary, priority=60, kind="construction"
        )
    ]
