"""The engine ``trees``: broadcast trees of one message by simulated annealing."""

from cchybrid.plugin import EngineInfo, hookimpl


@hookimpl
def cchybrid_engines() -> list[EngineInfo]:
    """Return the engine, imported only in worker processes."""
    summary = "trees of one message that is passed on hop by hop, by simulated annealing"
    return [
        EngineInfo(
            "trees",
            f"{__name__}.engine:Trees",
            summary,
            priority=70,
            kind="construction",
            prepares=True,
            messages="hop by hop",
        )
    ]
