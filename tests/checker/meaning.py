"""The values of a schedule in the variables of the formula.

Written independently of the generators that it tests: it reads a schedule transfer by transfer.
Steps count from 1, read forwards.
"""

from __future__ import annotations

from itertools import pairwise

from cchybrid.checker import Network
from cchybrid.checker.clauses import Formula
from cchybrid.model import Schedule

Transfer = tuple[int, int, tuple[int, ...]]


def transfers(schedule: Schedule) -> list[Transfer]:
    """Return step, message and path of every transfer, read forwards."""
    steps = [[(move.message, move.path) for move in step] for step in schedule.steps]
    if schedule.instance.collective.kind == "combine":
        steps = [[(m, path[::-1]) for m, path in step] for step in reversed(steps)]
    return [(t, m, tuple(path)) for t, step in enumerate(steps, 1) for m, path in step]


def truths(formula: Formula, moves: list[Transfer], steps: int) -> set[int]:
    """Return the variables that are true; the counters follow from what they count."""
    true = set()
    for t, m, path in moves:
        v = path[-1]
        names = [("gets", m, v, t), ("path", m, v, path, t), ("uses", m, v, "inject", path[0], t)]
        names += [("has", m, v, later) for later in range(t, steps + 1)]
        links = [formula.network.link(a, b) for a, b in pairwise(path)]
        names += [("uses", m, v, "channel", *link, t) for link in links]
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
