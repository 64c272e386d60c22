"""From a construction's transfers to an assignment that is worth offering.

A construction takes paths that the instance allows, listed or not: what is offered is an
assignment of a Problem that lists nothing but the paths of the draft. (To grow the run's own
Problem by them would cost a search among its options for every transfer.)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem import Assignment, Problem
from cchybrid.problem.origin import InstanceOrigin

from .setting import Draft

Row = NDArray[np.int64]


class FlawedError(Exception):
    """A draft is no schedule; the text says why, in a few words."""


def assigned(problem: Problem, draft: Draft) -> tuple[Problem, Assignment]:
    """Return the Problem with the draft's options alone, and the assignment that takes them.

    Raises
    ------
    FlawedError
        If a transfer is not allowed, or makes a delivery a second time.
    """
    origin = problem.origin
    assert isinstance(origin, InstanceOrigin)
    steps = [step for step in draft if step]
    transfers = list(chain.from_iterable(steps))
    message = _row(transfer.message for transfer in transfers)
    size = _row(len(transfer.path) for transfer in transfers)
    start = np.concatenate([[0], np.cumsum(size)])
    node = _row(chain.from_iterable(transfer.path for transfer in transfers))
    _check_paths(origin, node, start)
    sources = _row(m.source for m in origin.instance.forward.collective.deliver_messages)
    first, last = node[start[:-1]], node[start[1:] - 1]
    delivery = _deliveries(origin, message, last)
    requires = np.where(first == sources[message], -1, _deliveries(origin, message, first))
    if (delivery < 0).any() or ((requires < 0) & (first != sources[message])).any():
        raise FlawedError("a message goes to or comes from a node that has nothing to do with it")
    times = np.bincount(delivery, minlength=problem.deliveries)
    if (times > 1).any():
        raise FlawedError("somebody receives a message twice")
    order = np.argsort(delivery)
    happens = delivery[order]
    found = problem.empty()
    found.option[happens] = np.arange(len(order))
    found.step[happens] = np.repeat(np.arange(len(steps)), [len(step) for step in steps])[order]
    drafted = replace(
        problem,
        option_start=np.concatenate([[0], np.cumsum(times)]),
        option_requires=requires[order].astype(np.int32),
        option_path=order.astype(np.int32),
        path_start=start + np.arange(len(start)),
        path_resource=origin.resources.of_paths(node.astype(np.int32), start),
        complete=False,
        origin=replace(origin, path_node=node.astype(np.int32), path_node_start=start),
    )
    return drafted, found


def flaw(problem: Problem, assignment: Assignment) -> str | None:
    """Return what keeps an assignment from being a schedule, ``None`` if nothing does."""
    option, step = assignment.option, assignment.step
    happens = option >= 0
    if not happens[problem.required].all():
        return f"{int((~happens[problem.required]).sum())} deliveries are missing"
    chosen = option[happens]
    requires = problem.option_requires[chosen]
    follows = requires >= 0
    before = step[requires[follows]]
    if ((before < 0) | (before >= step[happens][follows])).any():
        return "somebody passes on what it does not have yet"
    path = problem.option_path[chosen].astype(np.int64)
    begin, size = problem.path_start[path], np.diff(problem.path_start)[path]
    ends = np.cumsum(size)
    place = np.arange(int(size.sum())) + np.repeat(begin - ends + size, size)
    cell = np.repeat(step[happens].astype(np.int64), size) * problem.resources
    cell, used = np.unique(cell + problem.path_resource[place], return_counts=True)
    if (used > problem.capacity[cell % problem.resources]).any():
        return "a resource is used beyond its capacity"
    return None


def _row(values: Any) -> Row:
    return np.fromiter(values, dtype=np.int64)


def _deliveries(origin: InstanceOrigin, message: Row, node: Row) -> Row:
    """Return, shape (transfers,), the delivery of a message to a node, -1 if there is none."""
    nodes = origin.routes.network.nodes
    known = origin.message.astype(np.int64) * nodes + origin.node
    return _places(known, message * nodes + node)


def _places(known: Row, keys: Row) -> Row:
    """Return where each key stands among the known ones, -1 where it does not."""
    order = np.argsort(known)
    place = order[np.minimum(np.searchsorted(known[order], keys), len(known) - 1)]
    return np.where(known[place] == keys, place, -1)


def _check_paths(origin: InstanceOrigin, node: Row, start: Row) -> None:
    """Raise ``FlawedError`` unless the instance allows all paths; see ``InstanceOrigin``."""
    network, model = origin.routes.network, origin.instance.model
    hops = np.diff(start) - 1
    if (hops < 1).any():
        raise FlawedError("a path without a hop")
    owner = np.repeat(np.arange(len(hops)), hops + 1)
    onward = np.ones(len(node), dtype=np.bool_)
    onward[start[1:] - 1] = False
    inner = onward.copy()
    inner[start[:-1]] = False
    begin = np.flatnonzero(onward)
    ends = np.array(network.channels, dtype=np.int64).reshape(-1, 3)
    channels = ends[:, 0] * network.nodes + ends[:, 1]
    if (_places(channels, node[begin] * network.nodes + node[begin + 1]) < 0).any():
        raise FlawedError("a path leaves the network's channels")
    if np.isin(node[inner], list(network.endpoints)).any():
        raise FlawedError("a path passes an endpoint")
    passed = np.sort(owner * network.nodes + node)
    if (passed[1:] == passed[:-1]).any():
        raise FlawedError("a path passes a node twice")
    away = origin.routes.distance[node[start[:-1]], node[start[1:] - 1]]
    if model.switching != "wormhole":
        longer = hops > 1
    elif model.extra_hops is None:
        longer = hops >= network.nodes
    else:
        longer = hops > away + model.extra_hops
    if longer.any():
        raise FlawedError("a path is longer than allowed")
