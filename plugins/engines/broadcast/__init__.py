"""The engine ``broadcast``: flows from all informed nodes, decided by CP-SAT."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "broadcast",
            f"{__name__}.engine:Broadcast",
            "broadcasts: CP-SAT on flows from all informed nodes, hops limited per step",
            priority=40,
            messages="forwarded",
            decides=True,
        ),
    )
