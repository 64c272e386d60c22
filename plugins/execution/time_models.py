"""Times of a schedule by simple models: start-up, bandwidth, size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cchybrid.model import Schedule


@dataclass(frozen=True)
class TimeModel:
    """The time of a step: start-up, hops of its longest path, rounds times the transfer of a chunk.

    With ``per_hop`` 0 this is the alpha-beta model, alpha the start-up and beta one over the
    bandwidth. Source: Jaroš 2010, equations 3.1 and 3.2; R. Hockney, The communication challenge
    for MPP, 1994, doi:10.1016/S0167-8191(06)80021-9.

    Parameters
    ----------
    startup
        Microseconds that every step takes whatever its messages, synchronization included.
    bandwidth
        Bytes per microsecond (megabytes per second) of a channel of capacity 1.
    per_hop
        Microseconds for every channel on the way.
    """

    startup: float
    bandwidth: float
    per_hop: float = 0.0

    def step_times(self, schedule: Schedule, size: float) -> list[float]:
        """Return the microseconds of every step for messages of ``size`` bytes, before any cut."""
        chunk = size / schedule.instance.collective.chunks
        return [
            self.startup
            + self.per_hop * max((len(path) - 1 for _, path in step), default=0)
            + rounds * chunk / self.bandwidth
            for step, rounds in zip(schedule.steps, schedule.rounds, strict=True)
        ]

    @property
    def line(self) -> str:
        """The settings as one line, with the options that set them."""
        return (
            f"assumed: {self.bandwidth:g} MB/s per unit of capacity (--bandwidth), "
            f"{self.startup:g} us per step (--startup), {self.per_hop:g} us per hop (--per-hop)"
        )

    def settings(self) -> dict[str, float]:
        """Return the settings as JSON values."""
        return {
            "startup_us": self.startup,
            "bandwidth_mb_s": self.bandwidth,
            "per_hop_us": self.per_hop,
        }

    def to_json(self, schedule: Schedule, sizes: Sequence[int]) -> dict[str, Any]:
        """Return the object that ``cchybrid time --json`` prints."""
        return {
            "name": schedule.instance.name,
            "steps": len(schedule.steps),
            "rounds": sum(schedule.rounds),
            **self.settings(),
            "times": [
                {"bytes": size, "microseconds": round(sum(self.step_times(schedule, size)), 6)}
                for size in sizes
            ],
        }
