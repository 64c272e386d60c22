"""Farkas bounds: the dual of the time-expanded relaxation refutes a number of steps.

1. Maximize the number of destinations that receive their messages within S steps, under the rows
   of ``checker.relaxation``.
2. If the maximum is less than all, the dual solution multiplies the rows so that they add up to a
   row which no values within the limits of the columns satisfy (Farkas' lemma): no schedule has S
   steps.
3. Solve in floating point, round the multipliers to integers, and check exactly
   (``checker.farkas``).
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cchybrid.checker import KINDS, EvidenceError, Network
from cchybrid.checker.farkas import contradict
from cchybrid.checker.relaxation import Column, Key, Relaxation, Row
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.arborescences import arborescence_bounds
from cchybrid.proof.climbing import climb
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds
from cchybrid.proof.growth import growth_bounds
from cchybrid.proof.linear_program import LinearProgram, roundings
from cchybrid.proof.nested_sets import nested_set_bounds
from cchybrid.proof.regions import region_bounds

MAX_TERMS = 100_000
"""Largest number of terms of a program that the bound provider solves."""
UNITS = 5.0
"""Deterministic time, about seconds, for each program of the bound provider."""
MIN_FLOW_TERMS = 3
"""A flow leaves a node, enters a node and uses a channel, so it has at least 3 terms."""
CHEAPER = (
    growth_bounds,
    nested_set_bounds,
    cut_bounds,
    region_bounds,
    price_bounds,
    arborescence_bounds,
)
"""The bounds that the provider starts from."""
STARTING_KINDS = ("own", "split", "over")
"""The rows on what starts over each channel, where senders are merged."""
_TOLERANCE = 1e-6
"""Difference to the goal that is taken for rounding."""


def farkas_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield bounds above those of the cheaper kinds, for messages with several destinations."""
    if all(len(message.destinations) == 1 for message in instance.collective.deliver_messages):
        return
    record = instance.to_json()
    known = 1
    # Tested again with every better bound, as the program grows with the steps.
    for cheaper in CHEAPER:
        if MIN_FLOW_TERMS * Relaxation(Network(record).with_any_routing(), known).flows > MAX_TERMS:
            return
        known = max(known, max((bound.steps for bound in cheaper(instance.widest)), default=1))
    # No optimum is above one step per delivery, so no bound is either.
    hop_by_hop = instance.model.switching == "store-and-forward"
    max_steps = sum(
        instance.network.nodes if hop_by_hop else len(message.destinations)
        for message in instance.collective.deliver_messages
    )
    while known < max_steps:
        evidence = refute(record, known, MAX_TERMS, units=UNITS)
        if evidence is None:
            return
        yield from climb(instance, [evidence])
        known += 1


def refute(
    instance: Mapping[str, Any],
    steps: int,
    max_terms: int,
    seconds: float | None = None,
    units: float | None = None,
) -> dict[str, Any] | None:
    """Return evidence that no schedule has at most ``steps`` steps, or ``None``.

    Parameters
    ----------
    instance
        A ``cchybrid-instance/1`` object.
    max_terms
        Largest number of terms of all rows; larger programs are not solved.
    seconds
        Time limit.
    units
        Deterministic time, about seconds, for each program; it makes calls repeatable.

    The relaxation over any routes comes first: it is smaller, and its bound holds for any routing.
    Of this one, the rows on what starts over each channel are left out at first: they double it.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    network = Network(instance)
    own_routing = Relaxation(network, steps)
    any_routing = Relaxation(network.with_any_routing(), steps)
    attempts = [(any_routing, True)]
    if any_routing.merges_senders:
        attempts.insert(0, (any_routing, False))
    if own_routing.per_sender:
        attempts.append((own_routing, True))
    for relaxation, whole_relaxation in attempts:
        if MIN_FLOW_TERMS * relaxation.flows > max_terms:
            continue
        rows = _rows(relaxation, max_terms, deadline, whole_relaxation)
        multipliers = _multipliers(relaxation, rows, deadline, units)
        values = np.array([*multipliers.values()])
        for rounded in roundings(values, unit_values=(1.0,), finest=10**9):
            pairs = zip(multipliers, rounded.tolist(), strict=True)
            whole = {key: times for key, times in pairs if times > 0}
            if time.monotonic() > deadline:
                return None
            if contradict(relaxation, ((rows[key], times) for key, times in whole.items())):
                evidence = _evidence(steps + 1, whole, relaxation is any_routing)
                with contextlib.suppress(EvidenceError):
                    KINDS["farkas"](network, evidence)
                    return evidence
    return None


def _rows(relaxation: Relaxation, max_terms: int, deadline: float, whole: bool) -> dict[Key, Row]:
    """Return all rows, or all without ``STARTING_KINDS`` if senders are merged.

    An empty mapping if they have too many terms or take too long.
    """
    rows: dict[Key, Row] = {}
    for key in relaxation.all_keys():
        if not whole and key[0] in STARTING_KINDS:
            continue
        rows[key] = row = relaxation.row(key)
        max_terms -= len(row[0])
        if max_terms < 0 or (len(rows) % 1000 == 0 and time.monotonic() > deadline):
            return {}
    return rows


def _multipliers(
    relaxation: Relaxation, rows: Mapping[Key, Row], deadline: float, units: float | None
) -> dict[Key, float]:
    """Return multipliers by which the rows contradict each other; empty if there are none."""
    if not rows:
        return {}
    program = LinearProgram(maximize=True, units=units)
    columns: dict[Column, Any] = {}
    limits: list[tuple[Key, Any]] = []
    goals: list[Key] = []
    for key, (terms, side) in rows.items():
        for column in terms:
            if column not in columns:
                columns[column] = program.variable(upper=float(relaxation.max_value(column)))
        if key[0] == "goal":
            goals.append(key)
            program.weigh(columns[next(iter(terms))], 1.0)
        elif terms:
            pairs = ((columns[column], float(factor)) for column, factor in terms.items())
            limits.append((key, program.row(float(side), math.inf, pairs)))
    left = deadline - time.monotonic()
    if left <= 0:
        return {}
    if not program.solve(left) or program.value > len(goals) - _TOLERANCE:
        return {}
    # Goals are the objective, so their multiplier is its coefficient.
    found = dict.fromkeys(goals, 1.0)
    # Duals of ">=" rows of a maximum are not positive.
    duals = program.duals((row for _, row in limits), sign=-1.0)
    found.update(zip((key for key, _ in limits), duals.tolist(), strict=True))
    return found


def _evidence(steps: int, multipliers: Mapping[Key, int], any_routing: bool) -> dict[str, Any]:
    rows: dict[str, list[list[int]]] = {}
    for (kind, *numbers), times in multipliers.items():
        rows.setdefault(kind, []).append([*numbers, times])
    evidence: dict[str, Any] = {"kind": "farkas", "steps": steps, "rows": rows}
    if any_routing:
        evidence["routing"] = "any"
    return evidence
