"""Exact: one CP-SAT decision per number of steps."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "cpsat",
            f"{__name__}.engine:CpSat",
            "exact: one CP-SAT decision per number of steps; finds and refutes",
            priority=50,
            kind="exact",
            prepares=True,
        ),
    )
