"""The values of a schedule in the columns of the relaxation and the variables of the formula.

Written independently of the generators that it tests: it reads a schedule transfer by transfer.
Steps count from 1, read forwards.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

from cchybrid.checker import Network
from cchybrid.checker.blocks import BlockRelaxation
from cchybrid.checker.clauses import Formula
from cchybrid.checker.relaxation import ANY_SENDER, Relaxation
from cchybrid.model import Schedule

Transfer = tuple[int, int, tuple[int, ...]]


def transfers(schedule: Schedule) -> list[Transfer]:
    """Return step, message and path of every transfer, read forwards."""
    steps = [[(move.message, move.path) for move in step] for step in schedule.steps]
    if schedule.instance.collective.kind == "combine":
        steps = [[(m, path[::-1]) for m, path in step] for step in reversed(steps)]
    return [(t, m, tuple(path)) for t, step in enumerate(steps, 1) for m, path in step]


def columns(relaxation: Relaxation, moves: list[Transfer]) -> Counter[tuple[Any, ...]]:
    """Return the value of every column that is not zero."""
    network, found = relaxation.network, Counter[tuple[Any, ...]]()
    for t, m, path in moves:
        u = path[0] if relaxation.per_sender else ANY_SENDER
        for a, b in pairwise(path):
            found["flow", m, u, a, b, t] += 1
        for later in range(t, relaxation.steps + 1):
            found["has", m, path[-1], later] = 1
        if not network.hop_by_hop:
            found["gets", m, u, path[-1], t] += 1
            if not relaxation.per_sender:
                found["sends", m, path[0], t] += 1
                found["starts", m, path[0], path[1], t] += 1
    return found


def block_columns(
    relaxation: BlockRelaxation, block_of: list[int], moves: list[Transfer]
) -> Counter[tuple[Any, ...]]:
    """Return the value of every column of the relaxation between blocks that is not zero."""
    steps, found = relaxation.steps, Counter[tuple[Any, ...]]()
    for m, (source, destinations) in enumerate(relaxation.network.messages):
        for q in set(block_of) - {block_of[source]}:
            inside = [(t, path) for t, who, path in moves if who == m and block_of[path[-1]] == q]
            if not inside:
                continue
            first = min(t for t, _ in inside)
            if first == steps:
                ends = {path[-1]: path for _, path in inside if path[-1] in destinations}
                counted = list(ends.values())
            else:
                counted = [next(path for t, path in inside if t == first)]
                found.update({("has", m, q, t): 1 for t in range(first, steps)})
            if not {node for node in destinations if block_of[node] == q} - {
                path[-1] for _, path in inside
            } and any(block_of[node] == q for node in destinations):
                found["served", m, q] = 1
            for path in counted:
                found["sends", m, block_of[path[0]], q, first] += 1
                for a, b in pairwise(block_of[node] for node in path):
                    if a != b:
                        found["flow", m, q, a, b, first] += 1
                    if b == q:
                        break
    return found


def truths(formula: Formula, moves: list[Transfer], steps: int) -> set[int]:
    """Return the variables that are true; the counters follow from what they count."""
    true = set()
    for t, m, path in moves:
        v = path[-1]
        names = [("gets", m, v, t), ("path", m, v, path, t), ("from", m, v, path[0], t)]
        names += [("has", m, v, later) for later in range(t, steps + 1)]
        names += [("over", m, v, a, b, t) for a, b in pairwise(path)]
        true |= {formula.number[name] for name in names if name in formula.number}
    return true


def satisfies(formula: Formula, true: set[int]) -> bool:
    """Return whether the clauses hold, with the counters set to what their literals make them."""
    counters = {number for name, number in formula.number.items() if name[0] == "count"}
    true = set(true)
    # A counter is set as soon as some clause that would set it has all its other literals false.
    changed = True
    while changed:
        changed = False
        for clause in formula.clauses:
            ahead = [x for x in clause if x in counters]
            if len(ahead) != 1 or ahead[0] in true:
                continue
            if all((-x in true) if x < 0 else (x not in true) for x in clause if x != ahead[0]):
                true.add(ahead[0])
                changed = True
    return all(
        any((x in true) if x > 0 else (-x not in true) for x in clause)
        for clause in formula.clauses
    )


def network_of(schedule: Schedule, routing: str | None = None) -> Network:
    """Return the instance as the checker reads it, with any routing on request."""
    record = schedule.instance.to_json()
    if routing is not None:
        record["model"] = {**record["model"], "routing": routing}
    return Network(record)
