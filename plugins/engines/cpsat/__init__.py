"""Exact: one CP-SAT decision per number of steps."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    target = f"{__name__}.engine:CpSat"
    summary = "exact: one CP-SAT decision per number of steps; finds and refutes"
    return [
        EngineInfo(
            "cpsat",
            target,
            summary,
            priority=50,
            kind="exact",
            prepares=True,
            horizons=("steps", "slots", "ticks"),
        )
    ]
