"""The seconds of the engines of a run: until their searches begin, and of the searches."""

from cchybrid.host.events import Spent


class EngineSeconds:
    """Sums over the workers of each engine.

    Attributes
    ----------
    start, search
        ``processor`` and ``wall`` seconds by engine, see ``RunResult``.
    """

    def __init__(self) -> None:
        self.start: dict[str, dict[str, float]] = {}
        self.search: dict[str, dict[str, float]] = {}

    def add(self, engine: str, spent: Spent, started: bool) -> None:
        """Add the seconds of a worker, whose search has ``started`` or not."""
        _add(self.start, engine, spent.start_processor, spent.start_wall)
        if started:
            _add(self.search, engine, spent.search_processor, spent.search_wall)


def _add(sums: dict[str, dict[str, float]], engine: str, processor: float, wall: float) -> None:
    before = sums.get(engine, {"processor": 0.0, "wall": 0.0})
    sums[engine] = {
        "processor": round(before["processor"] + processor, 3),
        "wall": round(before["wall"] + wall, 3),
    }
