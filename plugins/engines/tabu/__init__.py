"""Tabu search with weights on the violated (channel, step) cells."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "tabu",
            f"{__name__}.engine:Tabu",
            "tabu search with constraint weighting; prices all paths at once",
            priority=50,
            prepares=True,
        ),
    )
