"""Kernels: the value of a broadcast tree, and simulated annealing that changes it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.problem.arrays import BoolArray, IntArray, LongArray
from cchybrid.toolkit.kernels import compiled, internal
from cchybrid.toolkit.kernels.rng import State, below, uniform

Reals = NDArray[np.float64]


class Graph(NamedTuple):
    """The hops that a message may make.

    Parameters
    ----------
    source
        The node that has the message.
    senders, sender
        Nodes that can send to node v: ``sender[senders[v] : senders[v + 1]]``.
    receivers, receiver
        Nodes to which node v can send.
    ports
        Shape (nodes,): messages that a node can send per step.
    needed
        Shape (nodes,): 1 for destinations, 0 for nodes that only may pass the message on.
    movable
        The nodes to which several nodes can send.
    """

    source: int
    senders: LongArray
    sender: IntArray
    receivers: LongArray
    receiver: IntArray
    ports: LongArray
    needed: IntArray
    movable: IntArray


class Tree(NamedTuple):
    """A tree of all nodes that the message can reach, and room for the search.

    Parameters
    ----------
    parent
        Shape (nodes,): -1 for the source, and for nodes that cannot be reached.
    child, children
        The children of node v are the first ``children[v]`` of its places among ``Graph.receiver``.
    value
        Shape (nodes,): see ``weigh``.
    changed, stamp
        Shape (nodes,): the value after the present move, valid where ``stamp`` is its number.
    row
        Room for the values of the children of one node.
    order
        Shape (nodes that the message can reach,): these nodes, parents first.
    time
        Shape (nodes,): the fewest steps from a node to all destinations behind it, -1 if there are
        none.
    """

    parent: IntArray
    child: IntArray
    children: LongArray
    value: Reals
    changed: Reals
    stamp: LongArray
    row: Reals
    order: IntArray
    time: LongArray


@compiled
def grow(graph: Graph, tree: Tree, first: IntArray, step: LongArray) -> int:
    """Make a tree: in every step as many uninformed nodes as possible receive.

    A step is a maximum matching of informed and uninformed nodes, by augmenting paths (Kuhn 1955)
    for one uninformed node after another; so of all maximum matchings it is one that informs the
    first nodes. Further ports of the nodes are matched in the same manner, one after another.

    Parameters
    ----------
    first
        All nodes; those that are to be informed first come first.
    step
        Shape (nodes,): overwritten; -1 for the source and nodes that are not reached.

    Returns
    -------
    int
        The nodes that are reached, with the source.
    """
    nodes = len(step)
    rank = np.empty(nodes, dtype=np.int32)
    rank[first] = np.arange(nodes)
    waiting, waits = np.empty(nodes, dtype=np.int32), 0
    near = np.zeros(nodes, dtype=np.bool_)
    served = np.full(nodes, -1, dtype=np.int32)
    came = np.full(nodes, -1, dtype=np.int32)
    queue = np.empty(nodes, dtype=np.int32)
    tree.parent[:] = -1
    tree.children[:] = 0
    step[:] = -1
    tree.order[0] = graph.source
    step[graph.source] = 0
    now, seen, reached = 0, 0, 1
    while seen < reached:
        while seen < reached:
            node = tree.order[seen]
            seen += 1
            for index in range(graph.receivers[node], graph.receivers[node + 1]):
                other = graph.receiver[index]
                if not near[other]:
                    near[other] = True
                    waiting[waits] = rank[other]
                    waits += 1
        waiting[:waits].sort()
        now += 1
        port, before = 0, -1
        while before < reached:
            before, left, start = reached, 0, 0
            for index in range(waits):
                start = _match(
                    graph, tree, first[waiting[index]], port, step, served, came, queue, start
                )
            for index in range(start):
                came[queue[index]] = -1
            for index in range(waits):
                node = first[waiting[index]]
                if tree.parent[node] < 0:
                    waiting[left] = waiting[index]
                    left += 1
                else:
                    tree.order[reached] = node
                    reached += 1
                    served[tree.parent[node]] = -1
                    _attach(graph, tree, node, tree.parent[node])
            waits = left
            port += 1
        for index in range(seen, reached):
            step[tree.order[index]] = now
    step[graph.source] = -1
    return reached


@internal
def _match(
    graph: Graph,
    tree: Tree,
    node: int,
    port: int,
    step: LongArray,
    served: IntArray,
    came: IntArray,
    queue: IntArray,
    start: int,
) -> int:
    """Find an informed node for another by an augmenting path.

    Parameters
    ----------
    served
        Shape (nodes,): the node to which an informed node sends, -1 if to none.
    came
        Shape (nodes,): the node from which the search came to an informed one, -1 if it did not.
    queue
        The informed nodes to which the search came; the first ``start`` of them, from which no
        free one can be reached, are not searched again.

    Returns
    -------
    int
        The number of those.
    """
    size, place = start, start
    while True:
        for index in range(graph.senders[node], graph.senders[node + 1]):
            sender = graph.sender[index]
            if step[sender] < 0 or port >= graph.ports[sender] or came[sender] >= 0:
                continue
            came[sender] = node
            queue[size] = sender
            size += 1
            if served[sender] < 0:
                while sender >= 0:
                    node = came[sender]
                    served[sender] = node
                    sender, tree.parent[node] = tree.parent[node], sender
                for index in range(start, size):
                    came[queue[index]] = -1
                return start
        if place == size:
            return size
        node = served[queue[place]]
        place += 1


@internal
def _attach(graph: Graph, tree: Tree, node: int, parent: int) -> None:
    """Add a node to the children of another."""
    tree.child[graph.receivers[parent] + tree.children[parent]] = node
    tree.children[parent] += 1
    tree.parent[node] = parent


@internal
def _detach(graph: Graph, tree: Tree, node: int) -> None:
    """Remove a node from the children of its parent."""
    parent = tree.parent[node]
    tree.children[parent] -= 1
    place = graph.receivers[parent]
    last = place + tree.children[parent]
    while tree.child[place] != node:
        place += 1
    tree.child[place] = tree.child[last]


@compiled
def schedule(graph: Graph, tree: Tree, step: LongArray) -> int:
    """Return the broadcast time of the tree, and when every node receives.

    A node serves those children first from which it takes longest to reach all destinations behind
    them, which is optimal (Slater, Cockayne and Hedetniemi 1981).

    Parameters
    ----------
    step
        Shape (nodes,): overwritten; 0 is the first step, -1 for nodes that need not receive.
    """
    order, time, child = tree.order, tree.time, tree.child
    order[0] = graph.source
    known = 1
    for place in range(len(order)):
        node = order[place]
        start = graph.receivers[node]
        for index in range(start, start + tree.children[node]):
            order[known] = child[index]
            known += 1
    for place in range(len(order) - 1, -1, -1):
        node = order[place]
        start = graph.receivers[node]
        time[node] = 0 if graph.needed[node] else -1
        for index in range(start, start + tree.children[node]):
            moved, free = child[index], index
            while free > start and time[child[free - 1]] < time[moved]:
                child[free] = child[free - 1]
                free -= 1
            child[free] = moved
        for index in range(start, start + tree.children[node]):
            behind = time[child[index]]
            if behind >= 0:
                time[node] = max(time[node], behind + 1 + (index - start) // graph.ports[node])
    step[:] = -1
    for place in range(len(order)):
        node = order[place]
        start = graph.receivers[node]
        for index in range(start, start + tree.children[node]):
            if time[child[index]] >= 0:
                step[child[index]] = step[node] + 1 + (index - start) // graph.ports[node]
    return max(0, time[graph.source])


@compiled
def weigh(graph: Graph, tree: Tree, power: Reals) -> None:
    """Compute the values of all nodes, for powers of another base.

    The value of a node is the sum, over all destinations in its subtree, of the base to the power
    of the steps after which they receive. It is smallest if children of larger values are served
    first (rearrangement inequality).

    Parameters
    ----------
    power
        Shape (n + 1,): the powers 0 to n of the base.
    """
    tree.stamp[:] = -1
    for place in range(len(tree.order) - 1, -1, -1):
        node = tree.order[place]
        tree.value[node] = _value(graph, tree, power, node, -1, -1, 0)


@internal
def _value(
    graph: Graph, tree: Tree, power: Reals, node: int, without: int, beside: int, move: int
) -> float:
    """Return the value of a node without one child or with another (-1: none) after a move."""
    row, size = tree.row, 0
    start = graph.receivers[node]
    for index in range(start, start + tree.children[node] + 1):
        if index < start + tree.children[node]:
            other = tree.child[index]
        elif beside >= 0:
            other = beside
        else:
            break
        if other == without:
            continue
        value = tree.changed[other] if tree.stamp[other] == move else tree.value[other]
        place = size
        while place > 0 and row[place - 1] < value:
            row[place] = row[place - 1]
            place -= 1
        row[place] = value
        size += 1
    total = float(graph.needed[node])
    for place in range(size):
        total += power[1 + place // graph.ports[node]] * row[place]
    return total


@internal
def _depth(tree: Tree, node: int, avoided: int) -> int:
    """Return the hops from the source to a node, -1 if another one is on that path."""
    depth = 0
    while node != avoided:
        if tree.parent[node] < 0:
            return depth
        node = tree.parent[node]
        depth += 1
    return -1


@internal
def _try(graph: Graph, tree: Tree, power: Reals, node: int, parent: int, move: int) -> bool:
    """Compute the changed values of a tree in which a node has another parent.

    Returns
    -------
    bool
        False if the new parent is behind the node.
    """
    depth = _depth(tree, parent, node)
    if depth < 0:
        return False
    old = tree.parent[node]
    first, second, old_depth = old, parent, _depth(tree, old, node)
    while True:
        # The lower one of both paths goes up, until they meet.
        now = first if first == second or old_depth >= depth else second
        tree.changed[now] = _value(
            graph, tree, power, now, node if now == old else -1, node if now == parent else -1, move
        )
        tree.stamp[now] = move
        if now == graph.source:
            return True
        if first == second:
            first = second = tree.parent[now]
        elif now == first:
            first = tree.parent[now]
            old_depth -= 1
        else:
            second = tree.parent[now]
            depth -= 1


@internal
def _accept(tree: Tree, node: int, move: int) -> None:
    """Take over the changed values of a node and those before it."""
    while node >= 0:
        if tree.stamp[node] == move:
            tree.value[node] = tree.changed[node]
            tree.stamp[node] = -1
        node = tree.parent[node]


@compiled
def anneal(
    graph: Graph,
    tree: Tree,
    power: Reals,
    temperature: float,
    moves: int,
    stop: BoolArray,
    state: State,
) -> int:
    """Give random nodes other parents at random; return how many of these moves were possible.

    A move that makes the value of the source larger by a factor of 1 + r is made with probability
    exp(-r / temperature).

    Parameters
    ----------
    power
        Those for which ``weigh`` was called.
    stop
        Shape (1,): another thread sets this to end early.
    """
    possible = 0
    source = graph.source
    for move in range(1, moves + 1):
        if stop[0]:
            break
        node = graph.movable[below(state, len(graph.movable))]
        first = graph.senders[node]
        parent = graph.sender[first + below(state, graph.senders[node + 1] - first)]
        if parent == tree.parent[node] or not _try(graph, tree, power, node, parent, move):
            continue
        possible += 1
        worse = tree.changed[source] / tree.value[source] - 1.0
        if worse > 0.0 and uniform(state) >= math.exp(-worse / temperature):
            continue
        before = tree.parent[node]
        _detach(graph, tree, node)
        _attach(graph, tree, node, parent)
        _accept(tree, before, move)
        _accept(tree, parent, move)
    tree.stamp[:] = -1
    return possible
