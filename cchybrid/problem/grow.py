"""Growing a Problem: options over paths that its pool did not list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from cchybrid.problem.arrays import IntArray, Problem
from cchybrid.problem.origin import InstanceOrigin
from cchybrid.problem.ragged import offsets, offsets_of


def extend(
    problem: Problem, additions: Iterable[tuple[int, Sequence[int]]]
) -> tuple[Problem, IntArray]:
    """Return the Problem with more options: deliveries over paths, as ``Problem.price`` finds them.

    Parameters
    ----------
    problem
        A Problem that was compiled from an instance.
    additions
        A delivery and the nodes of a path that the instance allows for it, each; what the pool
        has already is passed over.

    Returns
    -------
    problem
        With the new options behind the old ones of their deliveries.
    moved
        Shape (options of the old Problem,): where each old option stands now.

    Raises
    ------
    ValueError
        There is no such delivery or path, or it does not lead to the delivery's node from a node
        that may inform it.
    """
    origin = problem.origin
    if not isinstance(origin, InstanceOrigin):
        raise ValueError("only a Problem that was compiled from an instance can grow")
    wanted: dict[tuple[int, tuple[int, ...]], int] = {}
    for delivery, way in additions:
        path = tuple(way)
        if not 0 <= delivery < problem.deliveries:
            raise ValueError(f"there is no delivery {delivery}")
        if origin.option_of(problem, delivery, path) < 0:
            wanted[delivery, path] = _requires(origin, delivery, path)
    if not wanted:
        return problem, np.arange(problem.options, dtype=np.int32)
    fresh = {path: problem.paths + k for k, path in enumerate({path: None for _, path in wanted})}
    sizes = np.array([len(path) for path in fresh])
    nodes = np.array([node for path in fresh for node in path], dtype=np.int32)
    starts = offsets(sizes)
    used = origin.resources.of_paths(nodes, starts)
    uses = offsets(sizes + 1)
    # A stable sort puts every new option behind the old ones of its delivery.
    owner = np.append(problem.option_delivery, [which for which, _ in wanted])
    order = np.argsort(owner, kind="stable")
    moved = np.empty(len(order), dtype=np.int32)
    moved[order] = np.arange(len(order), dtype=np.int32)
    requires = np.append(problem.option_requires, list(wanted.values()))
    paths = np.append(problem.option_path, [fresh[path] for _, path in wanted])
    grown = replace(
        problem,
        option_start=offsets_of(owner[order], problem.deliveries),
        option_requires=requires[order].astype(np.int32),
        option_path=paths[order].astype(np.int32),
        path_start=np.append(problem.path_start, problem.path_start[-1] + uses[1:]),
        path_resource=np.append(problem.path_resource, used),
        origin=replace(
            origin,
            path_node=np.append(origin.path_node, nodes),
            path_node_start=np.append(
                origin.path_node_start, origin.path_node_start[-1] + starts[1:]
            ),
        ),
    )
    return grown, moved[: problem.options]


def _requires(origin: InstanceOrigin, delivery: int, path: tuple[int, ...]) -> int:
    """Return the delivery that a path requires; whether its length is allowed, the referee says."""
    if not all(hop in origin.routes.network.channel_index for hop in pairwise(path)):
        raise ValueError(f"{path} is no path of the network")
    for node, before in origin.informers(delivery):
        if path and node == path[0] and path[-1] == origin.node[delivery]:
            return before
    raise ValueError(f"{path} is no way to make delivery {delivery}")
