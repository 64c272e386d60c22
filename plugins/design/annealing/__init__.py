"""Simulated annealing of networks under design."""

from cchybrid.plugin import DesignerInfo, hookimpl


@hookimpl
def cchybrid_designers() -> list[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    target = f"{__name__}.engine:Annealing"
    summary = "simulated annealing by exchanges of links, with rotations"
    return [DesignerInfo("annealing", target, summary, priority=30, prepares=True)]
