"""Small design tasks of every kind, some with their optimum."""

from dataclasses import dataclass
from typing import Any

from ..task import DesignTask, layout


@dataclass(frozen=True)
class ConformanceTask:
    """A design task.

    Parameters
    ----------
    name
        A description of the task.
    optimum
        The least cost of any network, proven by the tests of cchybrid; ``None`` if unknown.
    """

    name: str
    task: DesignTask
    optimum: float | None = None


def conformance_tasks() -> tuple[ConformanceTask, ...]:
    """Return small tasks of every kind."""

    def task(nodes: int, degree: int, **rest: Any) -> DesignTask:
        weights = rest.pop("weights", {"latency": 1.0, "max-latency": 1.0})
        return DesignTask(nodes, degree, weights=tuple(weights.items()), **rest)

    line = layout("backplane", 8)
    return (
        ConformanceTask("two nodes", task(2, 1), 1.5),
        ConformanceTask("ring", task(6, 2), 4.5),
        ConformanceTask("odd", task(5, 3), 3.04),
        ConformanceTask("moore", task(10, 3), 3.5),
        ConformanceTask("short wires", task(8, 3, positions=line, max_wire=3.0)),
        ConformanceTask("redundant links", task(4, 5, redundant_links=True), 1.75),
        ConformanceTask("fault tolerant", task(7, 3, fault_tolerant=True)),
        ConformanceTask("contention", task(6, 3, weights={"contention": 1.0, "latency": 0.5})),
        ConformanceTask("bisection", task(8, 3, weights={"latency": 1.0, "bisection": 0.5})),
        ConformanceTask("faults", task(6, 3, weights={"node-faults": 1.0, "random-faults": 1.0})),
        ConformanceTask(
            "wire", task(6, 3, positions=layout("grid-3x2", 6), weights={"latency": 1, "wire": 0.1})
        ),
        ConformanceTask("steps", task(8, 3, collective="AAS", weights={"steps": 1, "latency": 1})),
    )


def large_tasks() -> tuple[DesignTask, ...]:
    """Return tasks that take longer, by latency alone and with other terms."""
    return (
        DesignTask(64, 4),
        DesignTask(64, 4, weights=(("latency", 1.0), ("contention", 1.0))),
        DesignTask(16, 3),
    )
