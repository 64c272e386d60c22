"""SGA, the standard genetic algorithm (thesis section 7.1.1)."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "sga",
            f"{__name__}.engine:Sga",
            "standard genetic algorithm with the thesis' heuristics",
            priority=7,
            baseline=True,
            prepares=True,
        ),
    )
