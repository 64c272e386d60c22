"""Compiled exchange of link ends, and annealing of latencies with it.

A *half-link* is a port of one of the first ``nodes // rotations`` nodes; it stands for all its
images under the rotations. ``mate[h] = (other, shift)`` says that half-link h is linked to
half-link ``other`` of the node that is ``shift`` rotations further. A half-link that is its own
mate is empty (shift 0), or linked to its image on the opposite side (shift ``rotations / 2``).

A move links half-link a to b at some shift, and their former mates to each other: the exchange of
the ends of two links (2-opt), for all rotations at once. With an empty half-link it moves one end
of a link; with two it adds a link.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, below, uniform

from ..network.distances import UNREACHABLE, Words, search_distances
from ..network.ports import Ports

Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

FILL_ATTEMPTS = 100
"""Random pairs of half-links that are tried per half-link to make the first network."""


@internal
def write_ports(mate: Integers, half: int, rotations: int, ports: Ports) -> None:
    """Write the ports of a half-link and of its images from ``mate``."""
    nodes, degree = ports.shape
    base = nodes // rotations
    other, shift = mate[half, 0], mate[half, 1]
    node, port = half // degree, half % degree
    for rotation in range(rotations):
        ports[node + rotation * base, port] = (
            other // degree + (rotation + shift) % rotations * base
        )


@internal
def exchange(
    mate: Integers, a: int, b: int, shift: int, rotations: int, saved: Integers, ports: Ports
) -> int:
    """Link half-link a to b, ``shift`` rotations further, and their former mates to each other.

    Parameters
    ----------
    saved
        Shape (4, 3): the half-links that change, with their former mates.

    Returns
    -------
    int
        The number of half-links that change; 0 if the move is impossible or changes nothing.
    """
    mate_a, shift_a = mate[a, 0], mate[a, 1]
    mate_b, shift_b = mate[b, 0], mate[b, 1]
    if a == b and (shift == 0 or 2 * shift != rotations or mate_a == a):
        return 0
    if mate_a == b and shift_a == shift:
        return 0
    count = 0
    for half in (a, b, mate_a, mate_b):
        known = False
        for index in range(count):
            known = known or saved[index, 0] == half
        if not known:
            saved[count, 0] = half
            saved[count, 1], saved[count, 2] = mate[half, 0], mate[half, 1]
            count += 1
    mate[a, 0], mate[a, 1] = b, shift
    mate[b, 0], mate[b, 1] = a, (rotations - shift) % rotations
    if a == b:
        mate[mate_a, 0], mate[mate_a, 1] = mate_a, shift
    elif mate_a == b:
        pass
    elif mate_a == a and mate_b != b:
        mate[mate_b, 0], mate[mate_b, 1] = mate_b, shift_a
    elif mate_b == b and mate_a != a:
        mate[mate_a, 0], mate[mate_a, 1] = mate_a, shift_b
    elif mate_a != a:
        joined = (shift_b + shift - shift_a) % rotations
        mate[mate_a, 0], mate[mate_a, 1] = mate_b, joined
        mate[mate_b, 0], mate[mate_b, 1] = mate_a, (rotations - joined) % rotations
    for index in range(count):
        write_ports(mate, saved[index, 0], rotations, ports)
    return count


@compiled
def undo(mate: Integers, saved: Integers, count: int, rotations: int, ports: Ports) -> None:
    """Give ``count`` half-links their former mates."""
    for index in range(count):
        half = saved[index, 0]
        mate[half, 0], mate[half, 1] = saved[index, 1], saved[index, 2]
    for index in range(count):
        write_ports(mate, saved[index, 0], rotations, ports)


@internal
def permitted(
    saved: Integers, count: int, ports: Ports, allowed: Bools, redundant: bool, mate: Integers
) -> bool:
    """Return whether the changed half-links have permitted links.

    They must not link a node to itself, be longer than allowed, or, unless ``redundant``, repeat
    another link of the node.
    """
    degree = ports.shape[1]
    for index in range(count):
        half = saved[index, 0]
        node, port = half // degree, half % degree
        other = ports[node, port]
        if other == node:
            if mate[half, 0] != half:
                return False
            continue
        if not allowed[node, other]:
            return False
        if not redundant:
            for second in range(degree):
                if second != port and ports[node, second] == other:
                    return False
    return True


@compiled
def try_move(
    mate: Integers,
    rotations: int,
    saved: Integers,
    ports: Ports,
    allowed: Bools,
    redundant: bool,
    state: State,
) -> int:
    """Make one random move; return the number of half-links that change, 0 if it was undone."""
    halves = len(mate)
    a, b = below(state, halves), below(state, halves)
    shift = below(state, rotations)
    count = exchange(mate, a, b, shift, rotations, saved, ports)
    if count and not permitted(saved, count, ports, allowed, redundant, mate):
        undo(mate, saved, count, rotations, ports)
        return 0
    return count


@compiled
def fill_mates(
    mate: Integers,
    rotations: int,
    saved: Integers,
    ports: Ports,
    allowed: Bools,
    redundant: bool,
    state: State,
) -> None:
    """Link empty half-links at random until few pairs of them are left that can be linked."""
    halves = len(mate)
    for _ in range(FILL_ATTEMPTS * halves):
        a, b, shift = below(state, halves), below(state, halves), below(state, rotations)
        if mate[a, 0] != a or mate[a, 1] or mate[b, 0] != b or mate[b, 1] or a == b:
            continue
        count = exchange(mate, a, b, shift, rotations, saved, ports)
        if count and not permitted(saved, count, ports, allowed, redundant, mate):
            undo(mate, saved, count, rotations, ports)


@compiled
def anneal_latency(
    mate: Integers,
    rotations: int,
    ports: Ports,
    best: Ports,
    costs: Floats,
    weights: Floats,
    allowed: Bools,
    redundant: bool,
    hot: float,
    cold: float,
    moves: int,
    reach: Words,
    saved: Integers,
    state: State,
) -> int:
    """Anneal the weighted sum of mean and maximum latency for a number of moves.

    Parameters
    ----------
    best
        Receives the ports of the best network.
    costs
        Shape (2,): the cost of ``ports``, and of ``best``; updated.
    weights
        Shape (2,): of the sum of all distances, and of the maximum.
    hot, cold
        Temperature of the first and of the last move, in units of the cost.

    Returns
    -------
    int
        The number of networks whose distances were computed.
    """
    nodes = len(ports)
    sources = nodes // rotations
    evaluated = 0
    for move in range(moves):
        count = try_move(mate, rotations, saved, ports, allowed, redundant, state)
        if count == 0:
            continue
        temperature = hot * (cold / hot) ** (move / moves)
        accepted = costs[0] - temperature * math.log(1.0 - uniform(state))
        limit: Any = np.int64(min(accepted / (weights[0] * rotations), 1e15)) + 1
        total, diameter = search_distances(ports, sources, limit, reach)
        evaluated += 1
        cost = np.inf
        if total != UNREACHABLE:
            cost = weights[0] * (total * rotations) + weights[1] * diameter
        if cost > accepted:
            undo(mate, saved, count, rotations, ports)
            continue
        costs[0] = cost
        if cost < costs[1]:
            costs[1] = cost
            best[:] = ports
    return evaluated
