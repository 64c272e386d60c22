"""A plugin of cchybrid: this file registers, ``engine`` works. It imports next to nothing."""

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


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
