"""Design of networks of very small orders by CP-SAT."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import DesignerInfo


@hookimpl
def cchybrid_designers() -> Iterable[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    return (
        DesignerInfo(
            "cpsat-design",
            f"{__name__}.engine:CpsatDesign",
            "CP-SAT minimises the latencies of very small networks",
            priority=45,
            kind="exact",
        ),
    )
