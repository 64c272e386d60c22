"""The engine ``covering``: cover all deliveries by the fewest compatibility classes."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import EngineInfo


@hookimpl
def cchybrid_engines() -> Iterable[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    return (
        EngineInfo(
            "covering",
            f"{__name__}.engine:Covering",
            "exact: covers all deliveries by the fewest classes of compatible ones",
            priority=40,
            kind="exact",
            prepares=True,
            messages="direct",
            former_names=("liquid", "division", "column-generation", "milp", "classes"),
        ),
    )
