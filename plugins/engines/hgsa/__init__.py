"""HGSA, hybrid parallel genetic simulated annealing (Ohlidal and Schwarz)."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "hgsa",
            f"{__name__}.engine:Hgsa",
            "parallel simulated annealing with genetic operations, after Ohlidal and Schwarz",
            priority=9,
            baseline=True,
            prepares=True,
        ),
    )
