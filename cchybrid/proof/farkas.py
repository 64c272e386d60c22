"""Farkas bounds: the dual of the time-expanded relaxation refutes a number of steps.

The dual values of channels and ports are prices per step, those of the goals the worth of
destinations, and those of the limit that a node has a message at most once are charges.
"""

import math
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from cchybrid.checker import Network
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import refute_ever_more
from cchybrid.proof.contradiction import Contradiction, Key, find_contradiction, whole_multipliers
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds
from cchybrid.proof.growth import growth_bounds
from cchybrid.proof.levels import level_bounds
from cchybrid.proof.nested_sets import nested_set_bounds
from cchybrid.proof.relaxation import Relaxation
from cchybrid.proof.rounded_evidence import Part, rounded_evidence

MAX_TERMS = 100_000
"""Largest number of terms of a program that the bound provider solves."""
UNITS = 5.0
"""Deterministic time, about seconds, for each program of the bound provider."""
MIN_FLOW_TERMS = 3
"""A flow leaves a node, enters a node and uses a channel, so it has at least 3 terms."""
CHEAPER = (growth_bounds, level_bounds, nested_set_bounds, cut_bounds, price_bounds)
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
    yield from refute_ever_more(
        instance, known, lambda steps: refute(record, steps, MAX_TERMS, units=UNITS)
    )


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
    Of this one, the rows on what starts over each channel are left out at first, which double it,
    and so are those on what a node has sent before.
    """
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    network = Network(instance)
    for _, found in _contradictions(network, steps, max_terms, deadline, units):
        evidence = rounded_evidence(
            network, steps, evidence_parts(found, network.hop_by_hop), deadline
        )
        if evidence is not None:
            return evidence
    return None


def refuting_rows(
    instance: Mapping[str, Any], steps: int, max_terms: int, seconds: float
) -> tuple[Relaxation, dict[Key, int]] | None:
    """Return rows of a relaxation, with whole multipliers, that contradict each other.

    The parameters are those of ``refute``.
    """
    deadline = time.monotonic() + seconds
    network = Network(instance)
    for relaxation, found in _contradictions(network, steps, max_terms, deadline, None):
        whole = whole_multipliers(relaxation, found, deadline)
        if whole:
            return relaxation, whole
    return None


def _contradictions(
    network: Network, steps: int, max_terms: int, deadline: float, units: float | None
) -> Iterator[tuple[Relaxation, Contradiction]]:
    own_routing = Relaxation(network, steps)
    any_routing = Relaxation(network.with_any_routing(), steps)
    attempts = [(any_routing, any_routing.all_keys())]
    if any_routing.merges_senders:
        fewer = (key for key in any_routing.all_keys() if key[0] not in STARTING_KINDS)
        attempts.insert(0, (any_routing, fewer))
    if network.hop_by_hop and max(network.inject, default=0) == 1:
        # With more ports they raised no bound of hundreds, and they double the time.
        attempts.append((any_routing, chain(any_routing.all_keys(), any_routing.sent_keys())))
    if own_routing.per_sender:
        attempts.append((own_routing, own_routing.all_keys()))
    for relaxation, keys in attempts:
        if MIN_FLOW_TERMS * relaxation.flows > max_terms:
            continue
        found = find_contradiction(relaxation, keys, max_terms, deadline, units)
        if found is not None:
            yield relaxation, found


_TABLES = {"channel": "channels", "inject": "inject", "accept": "accept"}


def evidence_parts(found: Contradiction, hop_by_hop: bool) -> dict[Part, float]:
    """Return the prices, worths and charges that a contradiction of a relaxation stands for."""
    parts: dict[Part, float] = {}
    alone: dict[Part, float] = {}
    for (kind, *numbers), times in found.rows.items():
        if kind in _TABLES:
            *place, step = numbers
            parts["price", _TABLES[kind], tuple(place), step] = times
        elif kind == "goal":
            parts["worth", *numbers] = times
    for (kind, *numbers), times in found.limits.items():
        if kind == "has":
            parts["once", *numbers] = times
        elif kind == "flow" and not hop_by_hop:
            # What one message may use of a channel is what all may use together.
            *_, a, b, step = numbers
            part = ("price", "channels", (a, b), step)
            alone[part] = max(times, alone.get(part, 0.0))
    for part, times in alone.items():
        parts[part] = parts.get(part, 0.0) + times
    return parts
