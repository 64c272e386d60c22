"""Growth, cuts, prices and Farkas multipliers as cutting planes over the pseudo-Boolean formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from cchybrid.checker.farkas import multipliers
from cchybrid.checker.growth import growth_counts, sending_power
from cchybrid.checker.instance import Network
from cchybrid.checker.prices import cheapest_routes, priced
from cchybrid.checker.relaxation import ANY_SENDER, Column, Relaxation
from cchybrid.checker.routes import Path
from cchybrid.exchange.pseudo_boolean import PathFormula
from cchybrid.exchange.veripb import CuttingPlanes, NotDerivedError

Times = Counter[int]
"""Multipliers by the number of the row."""


def derive_growth(proof: CuttingPlanes, evidence: Mapping[str, Any]) -> None:
    """Derive that a message cannot be at all its destinations: its holders are too few.

    The rows ``hold`` and ``grow`` of every step, multiplied by 1 plus what the next strongest
    sender adds, bound the holders after a step by those before it.
    """
    formula = proof.formula
    network, message, last = formula.claim.network, evidence["message"], formula.claim.steps
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
    counts = growth_counts(network, evidence)
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


def derive_farkas(proof: CuttingPlanes, evidence: Mapping[str, Any]) -> None:
    """Derive the contradiction of multiplied rows of the relaxation.

    A column with a positive sum needs its upper limit, which is a row with variables.
    """
    formula = proof.formula
    network = formula.claim.scope_network
    if evidence.get("routing") == "any":
        network = network.with_any_routing()
    relaxation = Relaxation(network, formula.claim.steps)
    times, columns = Times(), Counter[Column]()
    for key, factor in multipliers(evidence["rows"]):
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


def derive_prices(proof: CuttingPlanes, evidence: Mapping[str, Any]) -> None:
    """Derive that all deliveries together pay more than all steps offer."""
    formula = proof.formula
    network, steps = formula.claim.network, range(1, formula.claim.steps + 1)
    channel, inject, accept, _ = priced(network, evidence)
    times = Times()

    def price(path: Path) -> int:
        return (
            inject.get(path[0], 0)
            + accept.get(path[-1], 0)
            + sum(channel.get(hop, 0) for hop in pairwise(path))
        )

    for message, (_, destinations) in enumerate(network.messages):
        if network.hop_by_hop and len(destinations) == 1:
            _pay_hops(proof, times, message, price)
            continue
        for node in destinations:
            paths = formula.paths[message, node]
            cheapest = min(map(price, paths), default=1)
            _add_row(times, formula, cheapest, "goal", message, node)
            for t in steps:
                _add_row(times, formula, cheapest, "grow", message, node, t)
    for t in steps:
        for (a, b), amount in channel.items():
            if network.link(a, b) == (a, b):
                _add_row(times, formula, amount, "channel", a, b, t)
        for kind, prices in (("inject", inject), ("accept", accept)):
            for node, amount in prices.items():
                _add_row(times, formula, amount, kind, node, t)
    proof.finish(+times)


def _pay_hops(
    proof: CuttingPlanes, times: Times, message: int, price: Callable[[Path], int]
) -> None:
    """Add what a message with one destination pays from its source on, hop by hop.

    It enters each set of nodes that are at least some price away from the source.
    """
    network = proof.formula.claim.network
    source, (goal,) = network.messages[message]
    away = cheapest_routes(network, {hop: price(hop) for hop in network.channels}, source)
    levels = sorted({paid for paid in away.values() if paid <= away[goal]} | {0})
    for nearer, level in pairwise(levels):
        inside = {v for v in range(network.nodes) if v != source and away.get(v, level) >= level}
        entry = _Entry(proof.formula, message, inside, whole=False)
        times[entry.derive(proof, 1)] += level - nearer


class _Cut(NamedTuple):
    """A limit of a cut: the messages with the sets that they enter, and the limited resources."""

    crossing: list[tuple[int, set[int]]]
    resources: list[tuple[Any, ...]]
    whole: bool


def derive_cut(proof: CuttingPlanes, evidence: Mapping[str, Any]) -> None:
    """Derive that more messages enter a set of nodes than all steps have room for.

    Raises
    ------
    NotDerivedError
        The cut needs that some nodes inside send less than the strongest one.
    """
    formula = proof.formula
    network, last = formula.claim.network, formula.claim.steps
    for cut in _cuts(network, evidence):
        entries = [_Entry(formula, message, inside, cut.whole) for message, inside in cut.crossing]
        room = [
            sum(network.in_step(t, _capacity(network, place)) for place in cut.resources)
            for t in range(1, last + 1)
        ]
        for width in sorted({len(entry.goals) for entry in entries}):
            counted = [entry for entry in entries if len(entry.goals) >= width]
            factors = [
                max(column)
                for column in zip(*(entry.factors(width) for entry in counted), strict=True)
            ]
            offered = sum(size * factor for size, factor in zip(room, factors, strict=True))
            if width * len(counted) <= offered:
                continue
            times = Times(entry.derive(proof, width) for entry in counted)
            for t, factor in enumerate(factors, 1):
                for place in cut.resources:
                    _add_row(times, formula, factor, *place, t)
            proof.finish(times)
            return
    raise NotDerivedError


def _cuts(network: Network, evidence: Mapping[str, Any]) -> list[_Cut]:
    inside = set(evidence["nodes"])
    outside = set(range(network.nodes)) - inside
    into = _crossing(network, inside)
    hops = {network.link(a, b) for a, b in network.channels if a in outside and b in inside}
    if evidence.get("both", False):
        hops |= {network.link(a, b) for a, b in network.channels if a in inside and b in outside}
        crossing = [*into, *_crossing(network, outside)]
        return [_Cut(crossing, [("channel", *hop) for hop in sorted(hops)], False)]
    holders = set(range(network.nodes))
    if not network.hop_by_hop:
        ends = [network.messages[message] for message, _ in into]
        holders = {node for source, goals in ends for node in (source, *goals)}
    return [
        _Cut(into, [("channel", *hop) for hop in sorted(hops)], False),
        _Cut(into, [("accept", node) for node in sorted(holders & inside)], False),
        _Cut(
            into, [("inject", node) for node in sorted(holders & outside)], not network.hop_by_hop
        ),
    ]


def _crossing(network: Network, inside: set[int]) -> list[tuple[int, set[int]]]:
    return [
        (message, inside)
        for message, (source, goals) in enumerate(network.messages)
        if source not in inside and not inside.isdisjoint(goals)
    ]


def _capacity(network: Network, place: tuple[Any, ...]) -> int:
    kind, *where = place
    limits = network.inject if kind == "inject" else network.accept
    capacity: int = network.channels[where[0], where[-1]] if kind == "channel" else limits[where[0]]
    return capacity


class _Entry:
    """The entries of a message into a set of nodes without its source.

    With j steps left, the nodes inside that follow from an entry are at most (1 + p)^j, where p is
    the most that any node inside sends to nodes inside in a step.

    Parameters
    ----------
    whole
        Whether a path between nodes inside is no entry even if it leaves the set.

    Attributes
    ----------
    goals
        The destinations inside.
    """

    def __init__(
        self, formula: PathFormula, message: int, inside: Collection[int], whole: bool
    ) -> None:
        self._formula, self._message = formula, message
        network, relaxation = formula.claim.network, formula.relaxation
        source, destinations = network.messages[message]
        self.goals = [node for node in destinations if node in inside]
        self._receivers = [node for node in relaxation.receivers(message) if node in inside]
        first_hops: dict[int, set[int]] = {}
        for node in self._receivers:
            for path in formula.paths[message, node]:
                if path[0] in inside and (whole or all(v in inside for v in path)):
                    first_hops.setdefault(path[0], set()).add(path[1])
        self._limits: list[tuple[Any, ...]] = []
        self._power = 0
        for node, hops in sorted(first_hops.items()):
            each = 1 if network.hop_by_hop else None
            over = sum(each or network.channels[node, hop] for hop in hops)
            power = sending_power(network, node, source)
            if power <= over:
                self._limits.append(("hold", message, node))
            else:
                sender = node if relaxation.per_sender else ANY_SENDER
                self._limits += [("own", message, sender, node, hop) for hop in sorted(hops)]
            self._power = max(self._power, min(power, over))

    def factors(self, width: int) -> list[int]:
        """Return, per step, how many of ``width`` destinations an entry counts for at most."""
        last = self._formula.claim.steps
        return [min(width, (1 + self._power) ** (last - t)) for t in range(1, last + 1)]

    def derive(self, proof: CuttingPlanes, width: int) -> int:
        """Add the row that entries, multiplied by their factors, add up to ``width``."""
        formula, last = self._formula, self._formula.claim.steps
        times = Times()
        for node in self.goals[:width]:
            _add_row(times, formula, 1, "goal", self._message, node)
        for t in range(1, last + 1):
            factor = (1 + self._power) ** (last - t)
            for node in self._receivers:
                _add_row(times, formula, factor, "grow", self._message, node, t)
            for limit in self._limits:
                _add_row(times, formula, factor, *limit, t)
        nodes = " ".join(map(str, self._receivers))
        return proof.add_saturated(times, f"message {self._message} enters nodes {nodes}")


def _add_row(times: Times, formula: PathFormula, factor: int, *key: Any) -> None:
    """Add a row to a sum, unless it holds for all values."""
    number = formula.row_number(*key)
    if number is not None and factor:
        times[number] += factor
