"""Linear evidence as cutting planes over the pseudo-Boolean formula."""

from collections import Counter
from collections.abc import Collection, Mapping
from itertools import pairwise
from math import inf
from typing import Any

from cchybrid.checker.linear import read_groups
from cchybrid.checker.prices import Interval, Prices
from cchybrid.checker.routes import cheapest_walks
from cchybrid.proof.contradiction import Column, Key
from cchybrid.proof.growth import growth_counts, sending_power
from cchybrid.proof.relaxation import ANY_SENDER, Relaxation

from .pseudo_boolean import PathFormula
from .veripb import CuttingPlanes, NotDerivedError

Times = Counter[int]
"""Multipliers by the number of the row."""


def derive_linear(proof: CuttingPlanes, evidence: Mapping[str, Any]) -> None:
    """Derive the contradiction of linear evidence whose prices are the same in all steps.

    Raises
    ------
    NotDerivedError
        The prices change, groups pay by sets, or a transfer earns more by the worth of destinations
        than it pays.
    """
    network, steps = proof.formula.claim.network, proof.formula.claim.steps
    prices = Prices(network, evidence, steps)
    groups = list(read_groups(network, evidence.get("groups", [])))
    if any("once" in group or "blocks" in group for group, _ in groups):
        raise NotDerivedError
    if not prices.offered and len(groups) == 1 and len(groups[0][1]) == 1:
        _derive_growth(proof, groups[0][1][0])
        return
    if any("worth" not in group for group, _ in groups):
        raise NotDerivedError
    times = Times()
    for kind in ("channels", "inject", "accept"):
        for *place, price in evidence.get(kind, []):
            if kind == "channels":
                place[:2] = network.link(*place[:2])
            size = 2 if kind == "channels" else 1
            if place[size:] not in ([], [1, steps]):
                raise NotDerivedError
            for t in range(1, steps + 1):
                _add_row(times, proof.formula, price, kind.removesuffix("s"), *place[:size], t)
    values = {m: dict(group["worth"]) for group, chosen in groups for m in chosen}
    for message, (_, goals) in enumerate(network.messages):
        if message not in values and (network.hop_by_hop or len(goals) > 1):
            _pay_route(proof, times, message, prices.intervals[0])
            continue
        for node in goals:
            amount = values[message].get(node, 0) if message in values else None
            _pay_delivery(proof, times, message, node, prices.intervals[0], amount)
    proof.finish(+times)


def _pay_delivery(
    proof: CuttingPlanes, times: Times, message: int, node: int, prices: Interval, value: int | None
) -> None:
    """Add that a node receives a message, which costs its worth, or the cheapest of all paths."""
    formula = proof.formula
    if value is None:
        source = formula.claim.network.messages[message][0]
        cheapest = cheapest_walks(formula.claim.network, [(1, None, prices.hops)], source)
        ends = prices.inject.get(source, 0) + prices.accept.get(node, 0)
        value = cheapest.get(node, 1) + ends
    _add_row(times, formula, value, "goal", message, node)
    for t in range(1, formula.claim.steps + 1):
        _add_row(times, formula, value, "grow", message, node, t)


def _pay_route(proof: CuttingPlanes, times: Times, message: int, prices: Interval) -> None:
    """Add what a message pays for the route to its most expensive destination, channel by channel.

    It enters each set of nodes that are at least some price away from the source.
    """
    network = proof.formula.claim.network
    source, goals = network.messages[message]
    if prices.inject or prices.accept:
        raise NotDerivedError  # ports of paths between holders
    away = cheapest_walks(network.with_any_routing(), [(1, None, prices.hops)], source)
    highest = max(away.get(goal, 0) for goal in goals)
    levels = sorted({paid for paid in away.values() if paid <= highest} | {0})
    for nearer, level in pairwise(levels):
        inside = {v for v in range(network.nodes) if v != source and away.get(v, level) >= level}
        times[_derive_entry(proof, message, inside)] += level - nearer


def derive_rows(
    proof: CuttingPlanes, relaxation: Relaxation, multipliers: Mapping[Key, int]
) -> None:
    """Derive the contradiction of multiplied rows of the relaxation.

    A column with a positive sum needs its upper limit, which is a row with variables.
    """
    formula = proof.formula
    times, columns = Times(), Counter[Column]()
    for key, factor in multipliers.items():
        row = relaxation.row(key)
        number = formula.add((*key, "of the proof"), *formula.translated(row))
        for column, coefficient in row[0].items():
            columns[column] += factor * coefficient
        if number is not None:
            times[number] += factor
    for column, factor in columns.items():
        if factor > 0:
            _add_limit(times, formula, column, factor)
    proof.finish(+times)


def _derive_growth(proof: CuttingPlanes, message: int) -> None:
    """Derive that a message cannot be at all its destinations: its holders are too few.

    The rows ``hold`` and ``grow`` of every step, multiplied by 1 plus what the next strongest
    sender adds, bound the holders after a step by those before it.
    """
    formula = proof.formula
    network, last = formula.claim.network, formula.claim.steps
    source, destinations = network.messages[message]
    receivers = formula.relaxation.receivers(message)
    distance = network.hops(source) if network.hop_by_hop else {}
    if network.hop_by_hop:
        proof.comment(f"message {message} takes a step for every hop")
    too_early = {
        (node, t): proof.add_false(formula.number["has", message, node, t])
        for t in range(1, last + 1)
        for node in (receivers if network.hop_by_hop else ())
        if distance.get(node, inf) > t
    }
    times = Times()
    for node in destinations:
        if (node, last) in too_early:
            goal = formula.row_number("goal", message, node)
            assert goal is not None
            proof.finish({goal: 1, too_early[node, last]: 1})
            return
        _add_row(times, formula, 1, "goal", message, node)
    counts = growth_counts(network, message, network.hops(source))
    if counts[-1] > len(destinations) and len(counts) - 1 <= last:
        raise NotDerivedError
    counts += counts[-1:] * (last + 1 - len(counts))
    power = sorted((sending_power(network, node, source) for node in receivers), reverse=True)
    first = sending_power(network, source, source)
    factor = 1
    for t in range(last, 0, -1):
        before = counts[t - 1] - 1
        if counts[t] - 1 < before + first + sum(power[:before]):
            break  # as many as are near enough, which follows from the limits of the variables
        for node in receivers:
            _add_row(times, formula, factor, "grow", message, node, t)
        for node in formula.relaxation.holders(message):
            _add_row(times, formula, factor, "hold", message, node, t)
        factor *= 1 + power[min(before, len(power) - 1)]
    total, _ = proof.sum_up(times)
    for (node, t), row in too_early.items():
        times[row] += max(0, total.get(formula.number["has", message, node, t], 0))
    proof.finish(+times)


def _add_limit(times: Times, formula: PathFormula, column: Column, factor: int) -> None:
    """Add the row that a column is no more than its upper limit."""
    kind, message, *place, t = column
    if kind == "sends":
        _add_row(times, formula, factor, "inject", place[0], t)
    elif kind in ("flow", "starts"):
        if not formula.claim.network.hop_by_hop:
            _add_row(times, formula, factor, "channel", *place[-2:], t)
    elif kind == "gets":
        _add_row(times, formula, factor, "receipts", message, place[-1])


def _derive_entry(proof: CuttingPlanes, message: int, inside: Collection[int]) -> int:
    """Add the row that a message enters a set of nodes without its source; return its number.

    With j steps left, the nodes inside that follow from an entry are at most (1 + p)^j, where p is
    the most that any node inside sends to nodes inside in a step.
    """
    formula = proof.formula
    network, relaxation = formula.claim.network, formula.relaxation
    source, destinations = network.messages[message]
    receivers = [node for node in relaxation.receivers(message) if node in inside]
    first_hops: dict[int, set[int]] = {}
    for node in receivers:
        for path in formula.paths[message, node]:
            if all(v in inside for v in path):
                first_hops.setdefault(path[0], set()).add(path[1])
    limits: list[tuple[Any, ...]] = []
    strongest = 0
    for node, hops in sorted(first_hops.items()):
        each = 1 if network.hop_by_hop else None
        over = sum(each or network.channels[node, hop] for hop in hops)
        power = sending_power(network, node, source)
        if power <= over:
            limits.append(("hold", message, node))
        else:
            sender = node if relaxation.per_sender else ANY_SENDER
            limits += [("own", message, sender, node, hop) for hop in sorted(hops)]
        strongest = max(strongest, min(power, over))
    times = Times()
    _add_row(times, formula, 1, "goal", message, next(v for v in destinations if v in inside))
    last = formula.claim.steps
    for t in range(1, last + 1):
        factor = (1 + strongest) ** (last - t)
        for node in receivers:
            _add_row(times, formula, factor, "grow", message, node, t)
        for limit in limits:
            _add_row(times, formula, factor, *limit, t)
    nodes = " ".join(map(str, receivers))
    return proof.add_saturated(times, f"message {message} enters nodes {nodes}")


def _add_row(times: Times, formula: PathFormula, factor: int, *key: Any) -> None:
    """Add a row to a sum, unless it holds for all values."""
    number = formula.row_number(*key)
    if number is not None and factor:
        times[number] += factor
