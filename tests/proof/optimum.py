"""The fewest steps of a tiny instance by CP-SAT, from the rules alone."""

from collections import defaultdict
from itertools import pairwise

from ortools.sat.python import cp_model

from cchybrid.model import Instance
from tests.random_instances import allowed_paths, shared_of


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
    times = network.times or ((0, 1),) * len(network.channels)
    time = {channel[:2]: ticks for channel, ticks in zip(network.channels, times, strict=True)}
    pair = shared_of(network)
    cp = cp_model.CpModel()
    load = defaultdict(list)
    for source, goals in forward.collective.deliver_messages:
        wormhole = model.switching != "store-and-forward"
        holders = {source, *goals} if wormhole else set(range(network.nodes))
        receipts = defaultdict(list)  # (node, step) -> transfers that have ended there then
        sent = []
        depth = {node: cp.new_int_var(1, len(goals), "") for node in goals}
        for node in holders - {source}:
            for first in holders - {node}:
                if wormhole:
                    paths = allowed_paths(forward, first, node)
                else:
                    paths = [(first, node)] if node in network.successors[first] else []
                for path in paths:
                    hops = list(pairwise(path))
                    length = max(time[hop][1] for hop in hops)
                    before = [sum(time[hop][0] for hop in hops[:i]) for i in range(len(path))]
                    uses = [("inject", first, 0), ("accept", node, before[-1])]
                    if slots:
                        before = list(range(len(path)))
                        uses[1] = ("accept", node, before[-2])
                    uses += [
                        ("link", pair.get(hop, hop), late)
                        for hop, late in zip(hops, before, strict=False)
                    ]
                    last = steps if slots else steps - before[-1] - length + 1
                    for step in range(last):
                        taken = cp.new_bool_var("")
                        receipts[node, step + before[-1] + length - 1].append(taken)
                        sent.append((taken, first, step))
                        if slots and first != source:  # in any slots, but in no cycle
                            cp.add(depth[first] < depth[node]).only_enforce_if(taken)
                        for kind, place, late in uses:
                            for tick in range(step + late, step + late + length):
                                load[kind, place, tick % slots if slots else tick].append(taken)
            ends = [each for (end, _), each in receipts.items() if end == node]
            everything = [taken for each in ends for taken in each]
            (cp.add_exactly_one if node in goals else cp.add_at_most_one)(everything)
        for taken, first, step in sent:
            if first != source and not slots:
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
