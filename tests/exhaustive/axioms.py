"""The axioms of the checker: rows of its relaxations and clauses of its formula.

This file and ``bounds`` are all of these tests that knows how the checker works inside.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from cchybrid.checker import Network
from cchybrid.checker.blocks import BlockRelaxation
from cchybrid.checker.clauses import Formula
from cchybrid.checker.relaxation import Relaxation
from cchybrid.checker.rounds import CAPACITIES, without_parts
from tests.checker.meaning import block_columns, columns, satisfies, truths
from tests.exhaustive.plain_search import Step

Moves = list[tuple[int, int, tuple[int, ...]]]
"""Step (from 1), message and path of every transfer, in the direction of reading."""


class Axioms:
    """The axioms of an instance for schedules of at most a number of steps.

    Parameters
    ----------
    limit
        Rows to evaluate: all if there are no more, otherwise as many at random, and no formula.

    Attributes
    ----------
    rows, rows_left, clauses
        The numbers of rows that are evaluated, of those that are not, and of clauses.
    """

    def __init__(
        self, instance: dict[str, Any], steps: int, limit: int, rng: random.Random
    ) -> None:
        self.steps = steps
        free = {**instance, "model": {**instance["model"], "routing": "any"}}
        own = Network(instance)
        networks: list[tuple[Any, Network]] = [(None, own), (None, Network(free))]
        if own.members:
            members = sorted({node for each in own.members for node in each})
            networks = [
                ((node, back), own.part(node, back)) for node in members for back in (False, True)
            ]
        self._relaxations = [(part, Relaxation(network, steps)) for part, network in networks]
        names = [
            (number, key)
            for number, (_, relaxation) in enumerate(self._relaxations)
            for key in relaxation.all_keys()
        ]
        blocks = [rng.randrange(3) for _ in range(own.nodes)]
        self._block_of = [sorted(set(blocks)).index(block) for block in blocks]
        self._blocks = BlockRelaxation(own, self._block_of, steps)
        self._chunks, self._rounds = own.chunks, own.rounds
        self._whole = Relaxation(Network(without_parts(instance)), steps)
        if not own.members:
            names += [("blocks", key) for key in self._blocks.all_keys()]
            if own.hop_by_hop:
                names += [("whole", key) for key in self._whole.round_keys()]
        few = len(names) <= limit
        drawn = names if few else rng.sample(names, limit)
        self._rows: dict[Any, list[Any]] = {}
        for place, key in drawn:
            makers: dict[Any, Any] = {"blocks": self._blocks, "whole": self._whole}
            maker = makers[place] if place in makers else self._relaxations[place][1]
            self._rows.setdefault(place, []).append((key, maker.row(key)))
        self.rows, self.rows_left = len(drawn), len(names) - len(drawn)
        self._formulas = [(part, Formula(network, steps)) for part, network in networks if few]
        self.clauses = sum(len(formula.clauses) for _, formula in self._formulas)

    def broken(self, schedule: list[Step]) -> Iterator[str]:
        """Yield every axiom that a valid schedule of at most that many steps breaks."""
        moves = [(t, m.message, m.path) for t, step in enumerate(schedule, 1) for m in step]
        for number, (part, relaxation) in enumerate(self._relaxations):
            values = columns(relaxation, self._part(moves, part, len(schedule)))
            yield from _broken_rows(self._rows.get(number, []), values)
            yield from _beyond(relaxation, values, 1)
        for part, formula in self._formulas:
            true = truths(formula, self._part(moves, part, len(schedule)), self.steps)
            if not satisfies(formula, true):
                yield f"a clause of the formula of {self.steps} steps"
        if "blocks" in self._rows:
            values = block_columns(self._blocks, self._block_of, moves)
            yield from _broken_rows(self._rows["blocks"], values)
        if "whole" in self._rows:
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
        values = Counter[tuple[Any, ...]]()
        for chunk in range(self._chunks):
            own = [
                (t, m // self._chunks, path) for t, m, path in moves if m % self._chunks == chunk
            ]
            values.update(columns(self._whole, own))
        for key, (terms, side) in self._rows["whole"]:
            times = self._chunks
            if key[0] in CAPACITIES:
                times = self._rounds[min(key[-1], len(self._rounds)) - 1]
            if sum(n * values[column] for column, n in terms.items()) < side * times:
                yield f"row {key} about rounds"
        yield from _beyond(self._whole, values, self._chunks)


def _broken_rows(rows: Any, values: Counter[Any]) -> Iterator[str]:
    for key, (terms, side) in rows:
        if sum(times * values[column] for column, times in terms.items()) < side:
            yield f"row {key}"


def _beyond(relaxation: Relaxation, values: Counter[Any], times: int) -> Iterator[str]:
    for column, value in values.items():
        if value > relaxation.max_value(column) * times:
            yield f"the upper limit of column {column}"
