"""MBOA, the mixed Bayesian optimization algorithm (thesis section 7.1.2)."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "mboa",
            f"{__name__}.engine:Mboa",
            "mixed Bayesian optimization algorithm with the thesis' heuristics",
            priority=8,
            baseline=True,
            prepares=True,
        ),
    )
