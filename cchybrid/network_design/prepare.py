"""Compilation of the kernels of cost terms, before they are needed."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.network_design.cost import FUNCTIONS, TERMS
from cchybrid.network_design.ports import ports_of
from cchybrid.network_design.task import DesignTask, layout

NODES, DEGREE = 8, 3


def prepare_terms(names: Iterable[str]) -> None:
    """Compile the kernels of these cost terms, once per installation; names of plugins are skipped.

    Every term is computed for a ring of 8 nodes.
    """
    task = DesignTask(NODES, DEGREE, positions=layout("backplane", NODES), collective="AAS")
    ring = [(node, (node + 1) % NODES) for node in range(NODES)]
    ports = ports_of(NODES, DEGREE, ring)
    for source in {TERMS[name].source: None for name in names if name in TERMS}:
        FUNCTIONS[source](task, ports)
