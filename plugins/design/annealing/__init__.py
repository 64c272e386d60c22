"""Simulated annealing of networks under design."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import DesignerInfo


@hookimpl
def cchybrid_designers() -> Iterable[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    return (
        DesignerInfo(
            "annealing",
            f"{__name__}.engine:Annealing",
            "simulated annealing by exchanges of links, with rotations",
            priority=30,
            prepares=True,
        ),
    )
