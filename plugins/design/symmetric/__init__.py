"""Networks with a prescribed group of automorphisms."""

from cchybrid.plugin import DesignerInfo, hookimpl


@hookimpl
def cchybrid_designers() -> list[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    target = f"{__name__}.engine:Symmetric"
    summary = "Cayley graphs: circulants and others in which every node looks the same"
    return [DesignerInfo("symmetric", target, summary, priority=40, prepares=True)]
