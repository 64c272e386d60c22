"""The engine ``random``: random search, the null baseline."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "random",
            f"{__name__}.engine:RandomSearch",
            "the null baseline: greedy schedules in random order, or uniform samples",
            priority=1,
            baseline=True,
            prepares=True,
        ),
    )
