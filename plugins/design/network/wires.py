"""Cost terms: the longest wire, and the minimum connectivity."""

from __future__ import annotations

import numpy as np

from .ports import Ports
from .task import DesignTask


def longest_wire(task: DesignTask, ports: Ports) -> float:
    """Return the largest Manhattan distance between linked nodes."""
    lengths = np.take_along_axis(task.wires, ports.astype(np.int64), axis=1)
    return float(lengths.max())


def minimum_connectivity(ports: Ports) -> int:
    """Return the number of links of the node with the fewest links (Marden, section 6.2)."""
    linked = ports != np.arange(len(ports), dtype=ports.dtype)[:, None]
    return int(linked.sum(axis=1).min())
