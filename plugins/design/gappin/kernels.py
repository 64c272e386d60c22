"""Compiled creation of child networks, and the latencies of a population."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, below, uniform

from ..network.distances import NO_LIMIT, Words, search_distances
from ..network.ports import Ports
from ..network.random_networks import Bools, fill_network, link, linked

Population = NDArray[np.int32]
"""Shape (networks, nodes, degree)."""

MAX_DRAWS = 100
"""Random trees that are tried for a network of the initial population."""


@compiled
def make_random(population: Population, allowed: Bools, redundant: float, state: State) -> None:
    """Fill a population with random networks, connected ones if these are found."""
    for ports in population:
        for _ in range(MAX_DRAWS):
            if fill_network(ports, allowed, redundant, state):
                break


@compiled
def make_children(
    parents: Population,
    children: Population,
    allowed: Bools,
    mutation: float,
    redundant: float,
    attempts: int,
    state: State,
) -> None:
    """Make children, each of two random parents, link by link.

    Parameters
    ----------
    attempts
        Failures after which a port is linked by mutation only, and, as often again, left empty.
    """
    nodes, degree = parents.shape[1:]
    used = np.zeros(nodes, dtype=np.int32)
    for child in children:
        first = parents[below(state, len(parents))]
        second = parents[below(state, len(parents))]
        used[:] = 0
        for node in range(nodes):
            child[node] = node
        for node in range(nodes):
            failures = 0
            other: Any
            while used[node] < degree and failures < 2 * attempts:
                if failures >= attempts or uniform(state) < mutation:
                    other = below(state, nodes)
                else:
                    parent = first if below(state, 2) == 0 else second
                    other = np.int64(parent[node, below(state, degree)])
                if _accepts(child, used, allowed, node, other, redundant, state):
                    link(child, used, node, other)
                else:
                    failures += 1


@internal
def _accepts(
    child: Ports,
    used: NDArray[np.int32],
    allowed: Bools,
    node: int,
    other: int,
    redundant: float,
    state: State,
) -> bool:
    """Return whether the child can have a link between two nodes."""
    if other == node or not allowed[node, other] or used[other] == child.shape[1]:
        return False
    return not linked(child, node, other) or uniform(state) < redundant


@compiled
def population_distances(
    population: Population, totals: NDArray[np.int64], diameters: NDArray[np.int64], reach: Words
) -> None:
    """Compute sum and maximum of the distances of every network."""
    nodes = population.shape[1]
    for index in range(len(population)):
        totals[index], diameters[index] = search_distances(
            population[index], nodes, NO_LIMIT, reach
        )
