"""The engine ``covering``: cover all deliveries by the fewest compatibility classes."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "exact: covers all deliveries by the fewest classes of compatible ones"
    return [
        EngineInfo(
            "covering",
            f"{__name__}.engine:Covering",
            summary,
            priority=40,
            kind="exact",
            prepares=True,
            messages="direct",
            former_names=("liquid", "division", "column-generation", "milp", "classes"),
        )
    ]
