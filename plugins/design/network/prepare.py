"""Compilation of the kernels of cost terms, before they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from .cost import Cost
from .ports import ports_of
from .task import DesignTask, layout
from .terms import TERMS

NODES, DEGREE = 8, 3


def prepare_terms(names: Iterable[str]) -> None:
    """Compile the kernels of these cost terms, once per installation; names of plugins are skipped.

    Every term is computed for a ring of 8 nodes.
    """
    weights = tuple((name, 1.0) for name in names if name in TERMS)
    if not weights:
        return
    places = layout("backplane", NODES)
    task = DesignTask(NODES, DEGREE, weights, positions=places, collective="AAS")
    ring = [(node, (node + 1) % NODES) for node in range(NODES)]
    Cost(task).values(ports_of(NODES, DEGREE, ring))
