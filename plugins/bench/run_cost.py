"""The cost of a run: seconds of its parts, and the peak memory of all its processes."""

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

from cchybrid.model import Instance, Schedule
from cchybrid.problem import UnreachableError, build_problem, count_deliveries
from cchybrid.referee.verify import verify_schedule
from cchybrid.system.process_tree import children, descendants
from cchybrid.system.processes import proportional_memory

SAMPLE_SECONDS = 0.2
"""Seconds between two measurements of the memory."""
MAX_BUILT_DELIVERIES = 300_000
"""Deliveries above which the Problem is not built only to measure it: minutes and gigabytes."""


class CostMeter:
    """Measures a run while it takes place: ``on_event`` for ``solve``, within a ``with`` block.

    Attributes
    ----------
    first
        Seconds until the first verified schedule, and its steps.
    bound_seconds
        Seconds until the last better bound.
    peak_mib
        The largest sum of the memory of this process and all below it, shared pages counted in
        equal parts (PSS), in MiB; ``None`` where the system does not tell (only Linux does).
    processes
        The largest number of these processes.
    """

    def __init__(self) -> None:
        self.first: tuple[float, int] | None = None
        self.bound_seconds: float | None = None
        self.peak_mib: float | None = None
        self.processes = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> "CostMeter":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Take note of an event of the run."""
        if event["event"] == "schedule" and self.first is None:
            self.first = float(event["seconds"]), int(event["steps"])
        elif event["event"] == "bound":
            self.bound_seconds = float(event["seconds"])

    def _sample(self) -> None:
        while not self._over.wait(SAMPLE_SECONDS):
            own = os.getpid()
            processes = [own, *(each.number for each in descendants(own, children()))]
            self.processes = max(self.processes, len(processes))
            sizes = [size for size in map(proportional_memory, processes) if size is not None]
            if sizes:
                self.peak_mib = max(self.peak_mib or 0.0, sum(sizes) / (1 << 20))

    def to_json(self, instance: Instance, schedule: Schedule | None) -> dict[str, Any]:
        """Return all measured values; the Problem, if there is one, is built for that, and the
        schedule verified.
        """
        return {
            "build_seconds": _build_seconds(instance),
            "first_seconds": None if self.first is None else self.first[0],
            "first_steps": None if self.first is None else self.first[1],
            "bound_seconds": self.bound_seconds,
            "verify_seconds": None
            if schedule is None
            else _seconds(lambda: verify_schedule(schedule)),
            "peak_mib": self.peak_mib,
            "processes": self.processes,
        }


def _build_seconds(instance: Instance) -> float | None:
    """Return the seconds to build the Problem; ``None`` where there is none, or a very large one.

    There is none of sums, and none if some node is out of reach.
    """
    try:
        if instance.collective.with_sums or count_deliveries(instance) > MAX_BUILT_DELIVERIES:
            return None
        return _seconds(lambda: build_problem(instance))
    except UnreachableError:
        return None


def _seconds(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
