"""The engine ``list-scheduling``: schedules in ticks by random keys, and better ones near them."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "starts transfers whenever channels are free, by random keys (channels with times)"
    return [
        EngineInfo(
            "list-scheduling",
            f"{__name__}.engine:ListScheduling",
            summary,
            priority=60,
            prepares=True,
            horizons=("ticks",),
        )
    ]
