"""UMDA, the univariate marginal distribution algorithm (thesis section 7.1.3)."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "umda",
            f"{__name__}.engine:Umda",
            "univariate marginal distribution algorithm with the thesis' heuristics",
            priority=10,
            baseline=True,
            prepares=True,
        ),
    )
