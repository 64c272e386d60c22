"""Scatters packed step by step: each step is filled with paths that share no channel."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "packing",
            f"{__name__}.engine:Packing",
            "scatters: fills step after step with routes that share no channel",
            priority=45,
            prepares=True,
            messages="direct",
        ),
    )
