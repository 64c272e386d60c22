"""The engine ``matching``: in every step, messages are matched to links; many random restarts."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "matching",
            f"{__name__}.engine:Matching",
            "matches messages to links step by step where messages are forwarded",
            priority=45,
            prepares=True,
            messages="forwarded",
        ),
    )
