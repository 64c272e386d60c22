"""Exhaustive design of small networks."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import DesignerInfo


@hookimpl
def cchybrid_designers() -> Iterable[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    return (
        DesignerInfo(
            "exhaustive",
            f"{__name__}.engine:Exhaustive",
            "lists all networks of a small order up to isomorphism",
            priority=50,
            kind="exact",
        ),
    )
