"""Design of networks of very small orders by CP-SAT."""

from cchybrid.plugin import DesignerInfo, hookimpl


@hookimpl
def cchybrid_designers() -> list[DesignerInfo]:
    """Return the designer, imported only in worker processes."""
    target = f"{__name__}.engine:CpsatDesign"
    summary = "CP-SAT minimises the latencies of very small networks"
    return [DesignerInfo("cpsat-design", target, summary, priority=45, kind="exact")]
