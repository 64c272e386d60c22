"""Networks with a prescribed group of automorphisms."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import DesignerInfo


@hookimpl
def cchybrid_designers() -> Iterable[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    return (
        DesignerInfo(
            "symmetric",
            f"{__name__}.engine:Symmetric",
            "Cayley graphs: circulants and others in which every node looks the same",
            priority=40,
            prepares=True,
        ),
    )
