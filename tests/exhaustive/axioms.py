"""The axioms of the checker: rows of its relaxations and clauses of its formula.

This file and ``bounds`` are all of these tests that knows how the checker works inside.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from cchybrid.checker.blocks import BlockRelaxation
from cchybrid.checker.relaxation import Relaxation
from cchybrid.checker.rounds import CAPACITIES, without_parts

from cchybrid.checker import Network
from cchybrid.checker.clauses import Formula
from tests.checker.meaning import block_columns, columns, satisfies, truths
from tests.exhaustive.plain_search import Step

Moves = list[tuple[int, int, tuple[int, ...]]]
"""Step (from 1), message and path of every transfer, in the direction of reading."""


class Axioms:
    """All axioms of an instance for schedules of at most a number of steps."""

    def __init__(self, instance: dict[str, Any], steps: int, rng: random.Random) -> None:
        self.steps = steps
        self.reduces = instance["collective"]["kind"] == "allreduce"
        free = {**instance, "model": {**instance["model"], "routing": "any"}}
        own = Network(instance)
        networks: list[tuple[Any, Network]] = [(None, own), (None, Network(free))]
        if self.reduces:
            members = sorted({node for each in own.members for node in each})
            networks = [
                ((node, back), own.part(node, back)) for node in members for back in (False, True)
            ]
        self._relaxations = [(part, Relaxation(network, steps)) for part, network in networks]
        self._rows = [
            [(key, relaxation.row(key)) for key in relaxation.all_keys()]
            for _, relaxation in self._relaxations
        ]
        self._formulas = [(part, Formula(network, steps)) for part, network in networks]
        blocks = [rng.randrange(3) for _ in range(own.nodes)]
        self._block_of = [sorted(set(blocks)).index(block) for block in blocks]
        self._blocks = None if self.reduces else BlockRelaxation(own, self._block_of, steps)
        self._averaged = None
        if own.hop_by_hop and not self.reduces:
            self._chunks, self._rounds = own.chunks, own.rounds
            whole = Relaxation(Network(without_parts(instance)), steps)
            self._averaged = whole, [(key, whole.row(key)) for key in whole.round_keys()]

    @property
    def count(self) -> int:
        """The number of rows and clauses."""
        rows = sum(map(len, self._rows)) + (len(self._averaged[1]) if self._averaged else 0)
        return rows + sum(len(formula.clauses) for _, formula in self._formulas)

    def broken(self, schedule: list[Step]) -> Iterator[str]:
        """Yield every axiom that a valid schedule of at most that many steps breaks."""
        moves = [(t, m.message, m.path) for t, step in enumerate(schedule, 1) for m in step]
        for (part, relaxation), rows in zip(self._relaxations, self._rows, strict=True):
            values = columns(relaxation, self._part(moves, part, len(schedule)))
            yield from _broken_rows(rows, values)
            yield from _beyond(relaxation, values, 1)
        for part, formula in self._formulas:
            true = truths(formula, self._part(moves, part, len(schedule)), self.steps)
            if not satisfies(formula, true):
                yield f"a clause of the formula of {self.steps} steps"
        if self._blocks is not None:
            values = block_columns(self._blocks, self._block_of, moves)
            rows = [(key, self._blocks.row(key)) for key in self._blocks.all_keys()]
            yield from _broken_rows(rows, values)
        if self._averaged is not None:
            yield from self._broken_averages(moves)

    def _part(self, moves: Moves, part: tuple[int, bool] | None, steps: int) -> Moves:
        """Return the broadcast from a member that an allreduce contains.

        Of every receipt of a message, the first one after the sender had it. Read backwards it is
        a broadcast, too: the reduction to the member.
        """
        if part is None:
            return moves
        start, back = part
        if back:
            moves = [(steps + 1 - t, m, path[::-1]) for t, m, path in moves]
        since: dict[tuple[int, int], int] = {}
        found = []
        for t, m, path in sorted(moves):
            first, last = path[0], path[-1]
            informed = first == start or since.get((m, first), t) < t
            if informed and last != start and (m, last) not in since:
                since[m, last] = t
                found.append((t, m, path))
        return found

    def _broken_averages(self, moves: Moves) -> Iterator[str]:
        """Yield the rows about rounds that the sums over the chunks of messages break."""
        assert self._averaged is not None
        relaxation, rows = self._averaged
        values = Counter[tuple[Any, ...]]()
        for chunk in range(self._chunks):
            own = [
                (t, m // self._chunks, path) for t, m, path in moves if m % self._chunks == chunk
            ]
            values.update(columns(relaxation, own))
        for key, (terms, side) in rows:
            times = self._chunks
            if key[0] in CAPACITIES:
                times = self._rounds[min(key[-1], len(self._rounds)) - 1]
            if sum(n * values[column] for column, n in terms.items()) < side * times:
                yield f"row {key} about rounds"
        yield from _beyond(relaxation, values, self._chunks)


def _broken_rows(rows: Any, values: Counter[Any]) -> Iterator[str]:
    for key, (terms, side) in rows:
        if sum(times * values[column] for column, times in terms.items()) < side:
            yield f"row {key}"


def _beyond(relaxation: Relaxation, values: Counter[Any], times: int | Fraction) -> Iterator[str]:
    for column, value in values.items():
        if value > relaxation.max_value(column) * times:
            yield f"the upper limit of column {column}"
