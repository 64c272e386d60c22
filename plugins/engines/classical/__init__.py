"""The engine ``classical``: constructions of collective schedules from the literature."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "classical",
            f"{__name__}.engine:Classical",
            "constructions from the literature: trees, rings, exchanges, dominating sets",
            priority=60,
            kind="construction",
        ),
    )
