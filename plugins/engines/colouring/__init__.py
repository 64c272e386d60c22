"""The engine ``colouring``, a baseline: greedy colouring of the conflict graph."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "colouring",
            f"{__name__}.engine:Colouring",
            "colours the conflict graph of chosen paths (DSATUR and other greedy orders)",
            priority=20,
        ),
    )
