"""Large-neighbourhood search: CP-SAT repacks a part of a schedule, again and again."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "lns",
            f"{__name__}.engine:Lns",
            "large-neighbourhood search: CP-SAT reschedules some deliveries in every iteration",
            priority=30,
            prepares=True,
        ),
    )
