"""The functions of the cost terms of cchybrid, each of a task and ports, shape (n, d)."""

import numpy as np

from .bisection import bisection
from .faults import node_faults, random_faults
from .latency import latency
from .ports import Ports
from .routes import contention, path_deviations
from .steps import steps_of_network as steps_of_network
from .task import DesignTask


def latencies(task: DesignTask, ports: Ports) -> tuple[float, ...]:
    """Return the mean and the maximum latency."""
    return latency(ports)


def contentions(task: DesignTask, ports: Ports) -> tuple[float, ...]:
    """Return mean and maximum latency under contention, and the deviation of messages per link."""
    return contention(ports)


def longest_wire(task: DesignTask, ports: Ports) -> float:
    """Return the largest Manhattan distance between linked nodes."""
    lengths = np.take_along_axis(task.wires, ports.astype(np.int64), axis=1)
    return float(lengths.max())


def fewest_links(task: DesignTask, ports: Ports) -> float:
    """Return the number of links of the node with the fewest links (Marden, section 6.2)."""
    linked = ports != np.arange(len(ports), dtype=ports.dtype)[:, None]
    return float(linked.sum(axis=1).min())


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
