"""The seconds of the engines of a run: until their searches begin, and of the searches."""

Seconds = dict[str, dict[str, float]]
"""``processor`` and ``wall`` seconds by engine, see ``RunResult``."""


def add_seconds(sums: Seconds, engine: str, processor: float, wall: float) -> None:
    """Add the seconds of a worker to those of its engine."""
    before = sums.get(engine, {"processor": 0.0, "wall": 0.0})
    sums[engine] = {
        "processor": round(before["processor"] + processor, 3),
        "wall": round(before["wall"] + wall, 3),
    }
