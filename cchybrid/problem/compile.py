"""Compile an instance to a Problem: which deliveries, over which options, on which resources."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from random import Random

import numpy as np

from cchybrid.model import Instance
from cchybrid.problem.arrays import IntArray, LongArray, Problem
from cchybrid.problem.demand import Demand, demand_of
from cchybrid.problem.origin import InstanceOrigin
from cchybrid.problem.resources import resources_of
from cchybrid.routes import Path, Routes

MAX_OPTIONS = 400_000
"""Options that a Problem lists before its paths are sampled; about 10 bytes each."""

_WALKED = 5
"""Paths other than shortest ones are found one by one, in a time that users wait for: where not
all of them fit, this part of ``max_options`` is enough, and ``price`` finds the others."""


def compile(instance: Instance, *, max_options: int = MAX_OPTIONS, seed: int = 0) -> Problem:
    """Return the Problem of an instance.

    Parameters
    ----------
    instance
        What is asked. A ``combine`` collective is compiled as the broadcast that it is when read
        backwards; assignments are lifted back.
    max_options
        Where all allowed options would be more than this, every pair of nodes gets an equal
        share of sampled paths and the Problem is marked incomplete.
    seed
        Of that sampling. Equal arguments give an equal Problem, in every process.

    Raises
    ------
    UnreachableError
        If a destination cannot be reached.
    """
    forward = instance.forward
    demand = demand_of(forward)
    # One hop is a shortest path whatever the routing rule says.
    wormhole = forward.model.switching == "wormhole"
    routes = Routes(forward.network, forward.model.extra_hops if wormhole else 0)
    pool = _pool(routes, demand, max_options, seed)
    resources = resources_of(forward)

    path_index = {path: index for index, path in enumerate(pool.paths)}
    uses = [resources.of_path(path) for path in pool.paths]
    path_start = np.zeros(len(uses) + 1, dtype=np.int64)
    np.cumsum([len(used) for used in uses], out=path_start[1:])
    option_delivery, option_requires, option_path = _options(demand, pool)
    option_start = np.searchsorted(option_delivery, np.arange(len(demand.required) + 1))
    return Problem(
        capacity=resources.capacity,
        kind=resources.kind,
        implied=resources.implied,
        required=demand.required,
        option_start=option_start.astype(np.int64),
        option_requires=option_requires,
        option_path=option_path,
        path_start=path_start,
        path_resource=np.fromiter(chain.from_iterable(uses), dtype=np.int32),
        complete=pool.complete,
        origin=InstanceOrigin(
            instance=instance,
            routes=routes,
            message=demand.message,
            node=demand.node,
            informer_start=np.searchsorted(
                demand.arc_delivery, np.arange(len(demand.required) + 1)
            ).astype(np.int64),
            informer_requires=demand.arc_requires,
            informer_node=demand.arc_from,
            path_nodes=tuple(pool.paths),
            path_index=path_index,
            channel_resource=resources.channel,
            inject_resource=resources.inject,
            accept_resource=resources.accept,
        ),
    )


@dataclass(frozen=True)
class _Pool:
    """The listed paths; those of a pair of nodes are ``first[u, v]`` and ``size[u, v]`` more."""

    paths: list[Path]
    first: LongArray
    size: LongArray
    complete: bool


def _pool(routes: Routes, demand: Demand, max_options: int, seed: int) -> _Pool:
    nodes = routes.network.nodes
    uses = np.zeros((nodes, nodes), dtype=np.int64)
    np.add.at(uses, (demand.arc_from, demand.arc_to), 1)
    sources, targets = np.nonzero(uses)
    weight = uses[sources, targets]
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    if routes.minimal:
        # Counted without listing them; one more than allowed is as good as any larger number.
        count = np.array([routes.count(*pair, max_options + 1) for pair in pairs], dtype=np.int64)
        listed = None
    else:
        listed = _list_alike(routes, pairs, weight, max_options)
        count = np.array([len(paths) for paths in listed], dtype=np.int64)
    share = max_options
    if int(weight @ count) > max_options:
        share = _share(count, weight, max_options if listed is None else max_options // _WALKED)
    complete = True
    random = Random(seed)
    first = np.zeros((nodes, nodes), dtype=np.int64)
    size = np.zeros((nodes, nodes), dtype=np.int64)
    pool: list[Path] = []
    for index, (source, target) in enumerate(pairs):
        if count[index] > share:
            complete = False
            paths = routes.sample(source, target, share, random)
        else:
            paths = list(routes.paths(source, target)) if listed is None else listed[index]
        first[source, target], size[source, target] = len(pool), len(paths)
        pool.extend(paths)
    return _Pool(pool, first, size, complete)


def _list_alike(
    routes: Routes, pairs: list[tuple[int, int]], weight: LongArray, max_options: int
) -> list[list[Path]]:
    """List the paths of all pairs, equally many for each, until they end or are too many.

    A list that did not end is longer than the pair's share will be.
    """
    open_ends = [routes.paths(*pair) for pair in pairs]
    listed: list[list[Path]] = [[] for _ in pairs]
    limit = 8
    while True:
        for paths, more in zip(listed, open_ends, strict=True):
            if len(paths) == limit // 2 or limit == 8:
                paths.extend(islice(more, limit - len(paths)))
        count = np.array([len(paths) for paths in listed], dtype=np.int64)
        if count.max(initial=0) < limit or int(weight @ count) > max_options:
            return listed
        limit *= 2


def _share(count: LongArray, weight: LongArray, max_options: int) -> int:
    """Return how many paths a pair may list so that all options fit; at least one."""
    low, high = 1, int(count.max())
    while low < high:
        middle = (low + high + 1) // 2
        if int(weight @ np.minimum(count, middle)) <= max_options:
            low = middle
        else:
            high = middle - 1
    return low


def _options(demand: Demand, pool: _Pool) -> tuple[IntArray, IntArray, IntArray]:
    """Expand every arc to one option per listed path, without a loop per option."""
    first = pool.first[demand.arc_from, demand.arc_to]
    size = pool.size[demand.arc_from, demand.arc_to]
    total = int(size.sum())
    within = np.arange(total) - np.repeat(np.cumsum(size) - size, size)
    return (
        np.repeat(demand.arc_delivery, size),
        np.repeat(demand.arc_requires, size),
        (np.repeat(first, size) + within).astype(np.int32),
    )
