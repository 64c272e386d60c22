"""The functions of the cost terms of cchybrid, each of a task and ports, shape (n, d)."""

from __future__ import annotations

from .bisection import bisection
from .faults import node_faults, random_faults
from .latency import latency
from .ports import Ports
from .routes import contention, path_deviations
from .steps import steps_of_network as steps_of_network
from .task import DesignTask
from .wires import longest_wire as longest_wire
from .wires import minimum_connectivity


def latencies(task: DesignTask, ports: Ports) -> tuple[float, ...]:
    """Return the mean and the maximum latency."""
    return latency(ports)


def contentions(task: DesignTask, ports: Ports) -> tuple[float, ...]:
    """Return mean and maximum latency under contention, and the deviation of messages per link."""
    return contention(ports)


def fewest_links(task: DesignTask, ports: Ports) -> float:
    """Return the links of the node with the fewest."""
    return minimum_connectivity(ports)


def fewest_between(task: DesignTask, ports: Ports) -> float:
    """Return the fewest links between two halves."""
    return bisection(ports, task.seed)


def deviations(task: DesignTask, ports: Ports) -> tuple[float, ...]:
    """Return the deviations of paths through nodes and through links."""
    return path_deviations(ports)


def without_a_node(task: DesignTask, ports: Ports) -> tuple[float, ...]:
    """Return mean and maximum latency without one node."""
    return node_faults(ports)


def at_random(task: DesignTask, ports: Ports) -> tuple[float, ...]:
    """Return mean and maximum latency under random faults."""
    return random_faults(ports, task.seed)
