"""A plugin of cchybrid: registers the engine without importing it."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine; its module is imported only in its own worker process."""
    return [
        EngineInfo(
            name="greedy",
            target="cchybrid_greedy.engine:Greedy",
            summary="greedy list scheduling in random order, again and again",
        )
    ]
