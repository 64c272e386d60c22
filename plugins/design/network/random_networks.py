"""Random connected networks: a random tree, then random links until no port can be linked.

References
----------
M. Marden, "A genetic algorithm for designing parallel processor interconnection networks", section
2.2 (initial population) and section 5.1 (limited wires).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model.errors import InputError
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, below, shuffle, uniform

from .ports import Ports
from .task import DesignTask

Bools = NDArray[np.bool_]
Integers = NDArray[np.int32]

MAX_ATTEMPTS = 1000
"""Random trees that are tried before the ports are said not to suffice."""
TREE_ATTEMPTS = 64
"""Random pairs that are tried for a link of the tree, per node, before the tree is given up."""


def random_network(task: DesignTask, state: State, redundant: float = 0.0) -> Ports:
    """Return a random connected network.

    Parameters
    ----------
    redundant
        The probability that a redundant link is accepted; 0 unless the task allows them.

    Raises
    ------
    InputError
        If no connected network was found.
    """
    ports = np.empty((task.nodes, task.degree), dtype=np.int32)
    for _ in range(MAX_ATTEMPTS):
        if fill_network(ports, task.allowed, redundant if task.redundant_links else 0.0, state):
            return ports
    raise InputError(
        f"no connected network was found in {MAX_ATTEMPTS} attempts",
        where="max_wire",
        hint="allow longer wires or a larger degree",
    )


@compiled
def fill_network(ports: Ports, allowed: Bools, redundant: float, state: State) -> bool:
    """Fill the ports with a random network; return whether it is connected."""
    nodes, degree = ports.shape
    used = np.zeros(nodes, dtype=np.int32)
    for index in range(nodes):
        ports[index] = index
    order = np.arange(nodes, dtype=np.int32)
    if not _grow_tree(ports, used, allowed, order, state):
        return False
    shuffle(order, state)
    candidates = np.empty(nodes, dtype=np.int32)
    for place in range(nodes):
        node: Any = order[place]
        while used[node] < degree:
            count = 0
            for other in range(nodes):
                if (
                    allowed[node, other]
                    and used[other] < degree
                    and (not linked(ports, node, other) or uniform(state) < redundant)
                ):
                    candidates[count] = other
                    count += 1
            if count == 0:
                break
            link(ports, used, node, candidates[below(state, count)])
    return True


@internal
def linked(ports: Ports, node: int, other: int) -> bool:
    """Return whether two nodes are linked."""
    found = False
    for port in range(ports.shape[1]):
        found = found or ports[node, port] == other
    return found


@internal
def link(ports: Ports, used: Integers, a: int, b: int) -> None:
    """Link two nodes by their first empty ports; used ports come first."""
    ports[a, used[a]] = b
    ports[b, used[b]] = a
    used[a] += 1
    used[b] += 1


@internal
def _grow_tree(ports: Ports, used: Integers, allowed: Bools, order: Integers, state: State) -> bool:
    """Link a random node of the tree to a random node outside it, until all are in the tree.

    ``order`` is permuted: the nodes of the tree come first. Returns whether all are in the tree.
    """
    nodes, degree = ports.shape
    for inside in range(1, nodes):
        for attempt in range(TREE_ATTEMPTS * nodes):
            a = order[below(state, inside)]
            place = inside + below(state, nodes - inside)
            b = order[place]
            if used[a] < degree and allowed[a, b]:
                link(ports, used, a, b)
                order[inside], order[place] = b, order[inside]
                break
            if attempt == TREE_ATTEMPTS * nodes - 1:
                return False
    return True
