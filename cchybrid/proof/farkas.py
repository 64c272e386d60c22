"""Farkas bounds: the dual of the time-expanded relaxation refutes a number of steps.

The rows are those of ``checker.relaxation``; ``contradiction`` finds their multipliers.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

from cchybrid.checker import KINDS, EvidenceError, Network
from cchybrid.checker.relaxation import Key, Relaxation
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.arborescences import arborescence_bounds
from cchybrid.proof.climbing import climb
from cchybrid.proof.contradiction import by_kind, find_contradiction
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds
from cchybrid.proof.growth import growth_bounds
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
        keys = relaxation.all_keys()
        if not whole_relaxation:
            keys = (key for key in keys if key[0] not in STARTING_KINDS)
        multipliers = find_contradiction(relaxation, keys, max_terms, deadline, units)
        if multipliers:
            evidence = _evidence(steps + 1, multipliers, relaxation is any_routing)
            with contextlib.suppress(EvidenceError):
                KINDS["farkas"](network, evidence)
                return evidence
    return None


def _evidence(steps: int, multipliers: Mapping[Key, int], any_routing: bool) -> dict[str, Any]:
    evidence = {"kind": "farkas", "steps": steps, "rows": by_kind(multipliers)}
    if any_routing:
        evidence["routing"] = "any"
    return evidence
