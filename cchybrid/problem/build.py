"""Building a Problem from an instance: deliveries, options and resources."""

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.problem.arrays import LongArray
from cchybrid.problem.demand import MIN_PATHS_PER_ARC, Demand, demand_of
from cchybrid.problem.origin import InstanceOrigin
from cchybrid.problem.pool import Pool, list_paths
from cchybrid.problem.problem import Problem
from cchybrid.problem.ragged import entries_of, offsets, offsets_of
from cchybrid.problem.resources import Resources, resources_of
from cchybrid.problem.routes import Routes, TableRoutes
from cchybrid.problem.structure import NetworkStructure

MAX_OPTIONS = 400_000
"""Options of a Problem above which only a sample is listed; about 10 bytes each."""


def build_problem(instance: Instance, *, max_options: int = MAX_OPTIONS, seed: int = 0) -> Problem:
    """Return the Problem of an instance.

    Parameters
    ----------
    instance
        The instance. A ``combine`` collective is converted to the broadcast that it is when read
        backwards (``Instance.forward``); assignments are lifted back.
    max_options
        Largest number of options. If the instance allows more, a sample is listed, and the Problem
        is marked as incomplete: each delivery keeps the source and its nearest senders (at least
        8, even if that exceeds the number), and every pair of nodes gets an equal share of paths,
        at least one.
    seed
        Seed for path sampling. Equal arguments give an equal Problem, in every process.

    Raises
    ------
    UnreachableError
        If a destination cannot be reached.
    InputError
        If every path to some destination uses a group of channels beyond its capacity.
    """
    forward = instance.forward
    routes = routes_of(forward)
    resources = resources_of(forward)
    demand = demand_of(forward, routes, resources, max_options)
    arc_pair, pool = _pool(routes, demand, max_options, seed)
    if not pool.complete and demand.complete and demand.spreads:
        nearest = demand_of(forward, routes, resources, max_options, MIN_PATHS_PER_ARC)
        if not nearest.complete:
            demand = nearest
            arc_pair, pool = _pool(routes, demand, max_options, seed)
    if forward.network.groups:
        rounds = max(forward.model.rounds, default=1)
        pool = _usable(pool, resources, rounds, arc_pair, demand)
    # Every arc has an option per listed path.
    paths = np.arange(len(pool.start) - 1, dtype=np.int32)
    option_path, first = entries_of(paths, pool.first, arc_pair)
    structure = NetworkStructure(
        network=forward.network,
        collective=forward.collective,
        hop_by_hop=forward.model.hop_by_hop,
        extra_hops=forward.model.extra_hops,
        routes=routes,
        resources=resources,
        delivery_message=demand.message,
        delivery_node=demand.node,
        path_node=pool.node,
        path_node_start=pool.start,
    )
    path_resource: Any = partial(NetworkStructure.listed_resources, structure)
    path_start = pool.start + np.arange(len(pool.start))
    # Nodes of paths are listed late; only their times need them now.
    in_steps = forward.horizon == "steps"
    times: Any = {} if in_steps else resources.times_of(structure.path_node, pool.start)
    return Problem(
        capacity=resources.capacity,
        kind=resources.kind,
        implied=resources.implied,
        required=demand.required,
        option_start=first[offsets_of(demand.arc_delivery, len(demand.required))],
        option_requires=np.repeat(demand.arc_requires, np.diff(first)),
        option_path=option_path.astype(np.int32, copy=False),
        path_start=path_start,
        path_resource=path_resource,
        **times,
        periodic=forward.model.periodic,
        complete=demand.complete and pool.complete,
        origin=InstanceOrigin(instance, structure),
        rounds=forward.model.rounds or (1,),
    )


def routes_of(forward: Instance) -> Routes:
    """Return the routes between the nodes of a ``deliver`` instance."""
    if forward.model.table is not None:
        return TableRoutes(forward.network, forward.model.table)
    if not forward.model.hop_by_hop:
        return Routes(forward.network, forward.model.extra_hops)
    # Every path is one hop, so it is a shortest path under any routing rule, and endpoints store
    # and forward messages, too.
    network = forward.network
    return Routes(replace(network, endpoints=()) if network.endpoints else network, 0)


def _pool(routes: Routes, demand: Demand, max_options: int, seed: int) -> tuple[LongArray, Pool]:
    """Return the pair of nodes of each arc, and the paths of the pairs."""
    nodes = routes.network.nodes
    kind: Any = np.int32 if nodes**2 < 1 << 31 else np.int64
    pair: Any = demand.arc_from.astype(kind) * nodes + demand.arc_to
    if nodes**2 > len(pair):
        pairs, arc_pair, weight = np.unique(pair, return_inverse=True, return_counts=True)
    else:  # without sorting many millions
        weight = np.bincount(pair, minlength=nodes**2)
        pairs = np.flatnonzero(weight)
        arc_pair, weight = (np.cumsum(weight > 0, dtype=kind) - 1)[pair], weight[pairs]
    del pair
    pairs = pairs.astype(np.int64)
    pool = list_paths(routes, pairs // nodes, pairs % nodes, weight, max_options, seed)
    return arc_pair, pool


def _usable(
    pool: Pool, resources: Resources, rounds: int, arc_pair: LongArray, demand: Demand
) -> Pool:
    """Return the pool without the paths that alone exceed a capacity, as no schedule has them.

    Only paths over several channels of a group do. If some are not listed, a delivery that has no
    others keeps them.
    """
    node = pool.node() if callable(pool.node) else pool.node
    size, used = np.diff(pool.start), resources.of_paths(node, pool.start)
    times = resources.times_of(node, pool.start)
    offset = times.get("path_offset", np.zeros_like(used))
    length = times.get("path_length", np.ones_like(size))
    keep = np.ones(len(size), dtype=np.bool_)
    for path, (start, stop) in enumerate(
        pairwise((pool.start + np.arange(len(size) + 1)).tolist())
    ):
        uses = list(zip(used[start:stop].tolist(), offset[start:stop].tolist(), strict=True))
        if len({resource for resource, _ in uses}) < len(uses):
            keep[path] = all(
                sum(r == resource and tick <= now < tick + length[path] for r, tick in uses)
                <= rounds * resources.capacity[resource]
                for resource, now in uses
            )
    owner = np.repeat(np.arange(len(pool.first) - 1), np.diff(pool.first))
    made = np.isin(demand.arc_delivery, demand.arc_delivery[np.isin(arc_pair, owner[keep])])
    if pool.complete and demand.complete and not made.all():
        raise InputError(
            "every path to some destination uses a group of channels more often than it carries",
            where="network.groups",
            hint="increase its capacity, or allow other paths",
        )
    keep |= np.isin(owner, arc_pair[~made])
    return Pool(
        node[np.repeat(keep, size)],
        offsets(size[keep]),
        offsets(np.bincount(owner[keep], minlength=len(pool.first) - 1)),
        pool.complete,
    )
