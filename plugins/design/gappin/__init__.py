"""GAPPIN: the genetic algorithm for parallel processor interconnection networks."""

from cchybrid.plugin import DesignerInfo, hookimpl


@hookimpl
def cchybrid_designers() -> list[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    target = f"{__name__}.engine:Gappin"
    summary = "the genetic algorithm of the GAPPIN paper"
    return [DesignerInfo("gappin", target, summary, priority=20, prepares=True)]
