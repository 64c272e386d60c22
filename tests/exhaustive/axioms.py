"""The axioms of the checker: what a message pays at least, and the clauses of the formula.

This file and ``bounds`` are all of these tests that knows how the checker works inside.
"""

import contextlib
import random
from collections.abc import Iterator
from itertools import product
from typing import Any

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.certificate import without_parts
from cchybrid.checker.clauses import Formula
from cchybrid.checker.payments import Spread, paid_for_routes, paid_for_sets
from cchybrid.checker.prices import Prices
from tests.checker.meaning import satisfies, truths
from tests.checker.plain_payments import paid_in
from tests.checker.random_evidence import any_group, any_prices, any_sets
from tests.exhaustive.plain_search import Step

Moves = list[tuple[int, int, tuple[int, ...]]]
"""Step (from 1), message and path of every transfer, in the direction of reading."""
DRAWN = 3
"""Prices that are drawn for each network, with a group and sets for every message."""


class Axioms:
    """The axioms of an instance for schedules of at most a number of steps.

    Parameters
    ----------
    limit
        Clauses to evaluate: no formula of more.

    Attributes
    ----------
    payments, clauses
        The numbers of statements on what a message pays that are evaluated, and of clauses.
    """

    def __init__(
        self, instance: dict[str, Any], steps: int, limit: int, rng: random.Random
    ) -> None:
        self.steps = steps
        free = {**instance, "model": {**instance["model"], "routing": "any"}}
        own = Network(instance)
        self._networks: list[tuple[Any, Network]] = [(None, own), (None, Network(free))]
        if own.members:
            members = sorted({node for each in own.members for node in each})
            self._networks = []
            for part in product(members, (False, True)):
                with contextlib.suppress(EvidenceError):  # of a scan, there are fewer parts
                    self._networks.append((part, own.part(*part)))
        self._drawn = [
            _Payments(network, steps, rng, any_rounds=False) for _, network in self._networks
        ]
        self._chunks = own.chunks
        self._averages: _Payments | None = None
        if not (own.table or own.periodic or own.members or own.times or own.groups):
            whole = Network(without_parts(instance))
            self._averages = _Payments(whole, steps, rng, any_rounds=True)
        self.payments = sum(len(each.minima) for each in self._drawn)
        self._formulas = [
            (part, Formula(network, steps))
            for part, network in self._networks
            # A refutation is not proved for ticks, time slots and groups.
            if not (network.times or network.periodic or network.groups)
            and min_clauses(network, steps) * len(self._networks) <= limit
        ]
        self.clauses = sum(len(formula.clauses) for _, formula in self._formulas)
        if self.clauses > limit or len(self._formulas) < len(self._networks):
            self._formulas, self.clauses = [], 0

    def broken(self, schedule: list[Step]) -> Iterator[str]:
        """Yield every axiom that a valid schedule of at most that many steps breaks."""
        moves = [(t, m.message, m.path) for t, step in enumerate(schedule, 1) for m in step]
        for (part, _), drawn in zip(self._networks, self._drawn, strict=True):
            yield from drawn.broken(self._part(schedule, part), 1)
        for part, formula in self._formulas:
            true = truths(formula, self._part(schedule, part), self.steps)
            if not satisfies(formula, true):
                yield f"a clause of the formula of {self.steps} steps"
        if self._averages is not None:
            for chunk in range(self._chunks):
                own = [(t, m // self._chunks, p) for t, m, p in moves if m % self._chunks == chunk]
                yield from self._averages.broken(own, 0)

    def _part(self, schedule: list[Step], part: tuple[int, bool] | None) -> Moves:
        """Return the broadcast from a member that an allreduce or a scan contains.

        Of every receipt of the member's part, the first one after the sender had it. Read backwards
        it is a broadcast, too: the reduction to the member.
        """
        every = [(t, move) for t, step in enumerate(schedule, 1) for move in step]
        if part is None:
            return [(t, move.message, move.path) for t, move in every]
        start, back = part
        moves = [(t, m, path) for t, (m, path, parts) in every if back or start in (parts or ())]
        if back:
            moves = [(len(schedule) + 1 - t, m, path[::-1]) for t, m, path in moves]
        since: dict[tuple[int, int], int] = {}
        found = []
        for t, m, path in sorted(moves):
            first, last = path[0], path[-1]
            informed = first == start or since.get((m, first), t) < t
            if informed and last != start and (m, last) not in since:
                since[m, last] = t
                found.append((t, m, path))
        return found


def min_clauses(network: Network, steps: int) -> int:
    """Return a number of clauses that the formula has at least: two per receiver and step."""
    receivers = sum(
        network.nodes - 1 if network.hop_by_hop else len(goals) for _, goals in network.messages
    )
    return 2 * steps * receivers


class _Payments:
    """Prices of a network at random, and what the checker says that each message pays at least."""

    def __init__(self, network: Network, steps: int, rng: random.Random, any_rounds: bool) -> None:
        self.network = network
        self.minima: list[tuple[Prices, int, str, Any]] = []
        for _ in range(DRAWN if steps else 0):
            evidence = any_prices(network, steps, rng)
            prices = Prices(network, evidence, steps)
            for message in range(len(network.messages)):
                routes = paid_for_routes(network, prices, [message])
                self.minima.append((prices, message, f"routes at {evidence}", routes))
                if not (network.times or network.periodic):  # nor is the worth of destinations
                    group = any_group(network, steps, rng, [message])
                    spread = Spread(network, prices, group, any_rounds).paid([message])
                    self.minima.append((prices, message, f"{group} at {evidence}", spread))
                rows = any_sets(network, prices, rng)
                entered = paid_for_sets(network, prices, rows, [message])
                self.minima.append((prices, message, f"sets {rows} at {evidence}", entered))

    def broken(self, moves: Moves, offered: int) -> Iterator[str]:
        """Yield the messages that pay less; with ``offered`` that all pay more than is offered."""
        known: dict[int, Any] = {}
        for prices, message, text, minimum in self.minima:
            if id(prices) not in known:
                known[id(prices)] = paid_in(self.network, prices, moves)
                if offered and known[id(prices)].total() > prices.offered:
                    yield f"all messages pay more than is offered: {text}"
            if known[id(prices)][message] < minimum:
                yield f"message {message} pays less than {minimum}: {text}"
