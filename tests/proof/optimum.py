"""The fewest steps of a tiny instance by CP-SAT, from the rules alone."""

from collections import defaultdict
from itertools import pairwise

from ortools.sat.python import cp_model

from cchybrid.model import Instance
from tests.random_instances import allowed_paths


def fewest_steps(instance: Instance, known: int) -> int:
    """Return the fewest steps of any valid schedule, given that one has ``known`` steps."""
    if instance.model.switching == "tdm":  # there may be a shorter period, but none of a slot less
        return next(steps for steps in range(1, known + 1) if possible(instance, steps))
    while known > 1 and possible(instance, known - 1):
        known -= 1
    return known


def possible(instance: Instance, steps: int) -> bool:
    """Return whether a schedule of at most ``steps`` steps exists; of ``steps`` time slots."""
    forward = instance.forward
    network, model = forward.network, forward.model
    slots = steps if model.switching == "tdm" else 0
    pair = {arc: (a, b) for a, b in network.half_duplex for arc in ((a, b), (b, a))}
    cp = cp_model.CpModel()
    load = defaultdict(list)
    for source, goals in forward.collective.deliver_messages:
        wormhole = model.switching != "store-and-forward"
        holders = {source, *goals} if wormhole else set(range(network.nodes))
        receipts = defaultdict(list)  # (node, step) -> transfers that end there
        sent = []
        for node in holders - {source}:
            for first in holders - {node}:
                if wormhole:
                    paths = allowed_paths(forward, first, node)
                else:
                    paths = [(first, node)] if node in network.successors[first] else []
                for path in paths:
                    for step in range(steps):
                        taken = cp.new_bool_var("")
                        receipts[node, step].append(taken)
                        sent.append((taken, first, step))
                        load["inject", first, step].append(taken)
                        last = (step + len(path) - 2) % slots if slots else step
                        load["accept", node, last].append(taken)
                        for late, hop in enumerate(pairwise(path)):
                            when = (step + late) % slots if slots else step
                            load["link", pair.get(hop, hop), when].append(taken)
            everything = [taken for step in range(steps) for taken in receipts[node, step]]
            (cp.add_exactly_one if node in goals else cp.add_at_most_one)(everything)
        for taken, first, step in sent:
            if first != source:
                earlier = [other for past in range(step) for other in receipts[first, past]]
                cp.add(sum(earlier) >= taken)
    capacity = {(a, b): size for a, b, size in network.channels}
    for (kind, place, step), users in load.items():
        limit = {"link": capacity.get, "inject": model.inject_limit, "accept": model.accept_limit}[
            kind
        ](place)
        if limit is not None:
            cp.add(sum(users) <= limit * model.rounds_in(step))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(cp)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    return status != cp_model.INFEASIBLE
