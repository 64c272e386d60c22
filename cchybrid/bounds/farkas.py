"""The dual of the time-expanded relaxation refutes numbers of steps for messages that spread.

Inform as much as the relaxation in ``certify.relaxation`` allows within so many steps; where that
is less than all, the dual solution multiplies the rows to a contradiction (Farkas). Solved in
floating point, rounded, and checked exactly by ``certify.farkas``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ortools.linear_solver import pywraplp

from cchybrid.bounds.climbing import climb
from cchybrid.bounds.cut import cut_bounds
from cchybrid.bounds.growth import growth_bounds
from cchybrid.bounds.regions import region_bounds
from cchybrid.certify import KINDS, EvidenceError, Network
from cchybrid.certify.relaxation import Column, Key, Relaxation
from cchybrid.model import Instance, LowerBound

MAX_TERMS = 300_000
"""Terms of all rows up to which the provider solves a program while others search."""
TERMS_PER_FLOW = 3
"""A flow leaves a node, enters one, and fills a channel: so many terms it has at least."""
_SCALES = (1, 2, 6, 12, 60, 360, 10**4, 10**6, 10**9)
_SLACK = 1e-6
"""By how much the program must miss its goal; less may be rounding."""


def farkas_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield bounds above those of the cheaper kinds, for messages that spread."""
    if all(len(message.destinations) == 1 for message in instance.collective.deliver_messages):
        return
    record = instance.to_json()
    known = 1
    for cheaper in (growth_bounds, cut_bounds, region_bounds):
        if TERMS_PER_FLOW * Relaxation(Network(record).freed(), known).flows > MAX_TERMS:
            return
        known = max(known, *(bound.steps for bound in cheaper(instance)), 1)
    while (evidence := refute(record, known, MAX_TERMS)) is not None:
        yield from climb(instance, [evidence])
        known += 1


def refute(
    instance: Mapping[str, Any],
    steps: int,
    max_terms: int,
    seconds: float | None = None,
) -> dict[str, Any] | None:
    """Return evidence that no schedule has so many steps, or ``None``.

    Parameters
    ----------
    instance
        A ``cchybrid-instance/1`` object.
    max_terms
        Terms of all rows beyond which the program is left alone.
    seconds
        That the solver may take for it.

    The relaxation over any routes comes first: it is the smaller one, and says more.
    """
    network = Network(instance)
    own, free = Relaxation(network, steps), Relaxation(network.freed(), steps)
    for relaxation in (free, own) if own.apart else (free,):
        if TERMS_PER_FLOW * relaxation.flows > max_terms:
            continue
        multipliers = _multipliers(relaxation, max_terms, seconds)
        for scale in _SCALES if multipliers else ():
            evidence = _evidence(steps + 1, multipliers, scale, relaxation is free)
            try:
                KINDS["farkas"](network, evidence)
            except EvidenceError:
                continue
            return evidence
    return None


def _multipliers(relaxation: Relaxation, max_terms: int, seconds: float | None) -> dict[Key, float]:
    """Return a multiplier per row that makes them contradict each other; none if they do not."""
    solver = pywraplp.Solver.CreateSolver("GLOP")
    if seconds is not None:
        solver.SetTimeLimit(int(1000 * seconds))
    infinity = solver.infinity()
    columns: dict[Column, Any] = {}
    rows: list[tuple[Key, Any]] = []
    goals: list[Key] = []
    terms_left = max_terms
    for key in relaxation.all_keys():
        terms, side = relaxation.row(key)
        terms_left -= len(terms)
        if terms_left < 0:
            return {}
        for column in terms:
            if column not in columns:
                columns[column] = solver.NumVar(0.0, float(relaxation.most(column)), "")
        if key[0] == "goal":
            goals.append(key)
            solver.Objective().SetCoefficient(columns[next(iter(terms))], 1.0)
        elif terms:
            row = solver.RowConstraint(float(side), infinity, "")
            for column, coefficient in terms.items():
                row.SetCoefficient(columns[column], float(coefficient))
            rows.append((key, row))
    solver.Objective().SetMaximization()
    if solver.Solve() != pywraplp.Solver.OPTIMAL:
        return {}
    if solver.Objective().Value() > len(goals) - _SLACK:
        return {}
    found = dict.fromkeys(goals, 1.0)
    found.update((key, max(0.0, -float(row.dual_value()))) for key, row in rows)
    return found


def _evidence(
    steps: int, multipliers: Mapping[Key, float], scale: int, free: bool
) -> dict[str, Any]:
    families: dict[str, list[list[int]]] = {}
    for (family, *numbers), value in multipliers.items():
        times = round(value * scale)
        if times > 0:
            families.setdefault(family, []).append([*numbers, times])
    evidence: dict[str, Any] = {"kind": "farkas", "steps": steps, "rows": families}
    if free:
        evidence["routing"] = "any"
    return evidence
