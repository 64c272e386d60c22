"""Exhaustive design of small networks."""

from cchybrid.plugin import DesignerInfo, hookimpl


@hookimpl
def cchybrid_designers() -> list[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    target = f"{__name__}.engine:Exhaustive"
    summary = "lists all networks of a small order up to isomorphism"
    return [DesignerInfo("exhaustive", target, summary, priority=50, kind="exact")]
