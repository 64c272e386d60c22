"""The deliveries of a scatter and their network, for kernels."""

from typing import NamedTuple

import numpy as np

from cchybrid.problem import Problem
from cchybrid.problem.arrays import BoolArray, IntArray
from cchybrid.problem.ragged import offsets_of
from cchybrid.problem.structure import NetworkStructure

MAX_EXTRA_HOPS = 1
"""Hops by which routes may be longer than the shortest, where the instance allows as many. With one
no walk passes a node twice."""


class Scatter(NamedTuple):
    """Deliveries from their sources, and the network, for kernels.

    Parameters
    ----------
    source, target
        Shape (deliveries,): the nodes of each.
    distance
        Shape (nodes, nodes): hops of the shortest path, -1 where there is none.
    first, head, resource
        The channels of node v are ``first[v]`` up to, not including, ``first[v + 1]``: the node at
        the end of each, and its resource.
    passable
        Shape (nodes,): whether paths may pass the node.
    inject, accept
        Shape (nodes,): the resource of its ports, -1 where they have no limit of their own.
    capacity
        Shape (resources,): the largest number of uses per step.
    extra
        Hops by which a route may be longer than the shortest.
    """

    source: IntArray
    target: IntArray
    distance: IntArray
    first: IntArray
    head: IntArray
    resource: IntArray
    passable: BoolArray
    inject: IntArray
    accept: IntArray
    capacity: IntArray
    extra: int


def new_scatter(problem: Problem, structure: NetworkStructure) -> Scatter:
    """Return the required deliveries of a Problem in which messages are not forwarded."""
    resources = structure.resources
    order = np.argsort(resources.channels[:, 0], kind="stable")
    nodes = structure.network.nodes
    passable = np.ones(nodes, dtype=np.bool_)
    if not structure.hop_by_hop:
        passable[list(structure.network.endpoints)] = False
    made = np.flatnonzero(problem.required)
    extra = structure.extra_hops
    inject, accept = (
        np.where(problem.implied[each], -1, each).astype(np.int32)
        for each in (resources.inject, resources.accept)
    )
    return Scatter(
        structure.message_source[structure.delivery_message[made]].astype(np.int32),
        structure.delivery_node[made].astype(np.int32),
        structure.distance.astype(np.int32),
        offsets_of(resources.channels[order, 0], nodes).astype(np.int32),
        resources.channels[order, 1].astype(np.int32),
        resources.channel[order].astype(np.int32),
        passable,
        inject,
        accept,
        problem.capacity,
        MAX_EXTRA_HOPS if extra is None else min(extra, MAX_EXTRA_HOPS),
    )
