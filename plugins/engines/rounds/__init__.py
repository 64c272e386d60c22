"""Exact, for steps of several rounds: one CP-SAT decision per number of steps."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "rounds",
            f"{__name__}.engine:Rounds",
            "exact, for steps of several rounds: a CP-SAT decision per number of steps",
            priority=44,
            kind="exact",
            rounds="several",
        ),
    )
