"""Whether an invariant schedule exists, decided path by path."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import networkx
from ortools.sat.python import cp_model

from cchybrid.model import Instance


def invariant(instance: Instance, elements: Sequence[Sequence[int]], steps: int) -> bool:
    """Return whether some schedule over shortest paths is invariant under permutations of nodes.

    For wormhole switching with all ports, channels of capacity 1, and different sources.
    """
    graph = networkx.DiGraph((a, b) for a, b, _ in instance.network.channels)
    model = cp_model.CpModel()
    sent = {
        (source, tuple(path), step): model.new_bool_var("")
        for source, goals in instance.collective.deliver_messages
        for first in (source, *goals)
        for node in goals
        if first != node and networkx.has_path(graph, first, node)
        for path in networkx.all_shortest_paths(graph, first, node)
        for step in range(steps)
    }
    used = defaultdict(list)
    ends = defaultdict(list)
    for (source, path, step), chosen in sent.items():
        ends[source, path[-1], step].append(chosen)
        for hop in pairwise(path):
            used[hop, step].append(chosen)
        for element in elements:
            image = element[source], tuple(element[node] for node in path), step
            model.add(chosen == sent[image])
    for users in used.values():
        model.add_at_most_one(users)
    for source, goals in instance.collective.deliver_messages:
        for node in goals:
            model.add_exactly_one(one for step in range(steps) for one in ends[source, node, step])
    for (source, path, step), chosen in sent.items():
        if path[0] != source:
            before = [one for early in range(step) for one in ends[source, path[0], early]]
            model.add_bool_or([*before, ~chosen])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    return solver.solve(model) == cp_model.OPTIMAL
