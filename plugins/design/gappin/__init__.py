"""GAPPIN: the genetic algorithm for parallel processor interconnection networks."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import DesignerInfo


@hookimpl
def cchybrid_designers() -> Iterable[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    return (
        DesignerInfo(
            "gappin",
            f"{__name__}.engine:Gappin",
            "the genetic algorithm of the GAPPIN paper",
            priority=20,
            prepares=True,
        ),
    )
