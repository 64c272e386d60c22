"""Rounds per chunk that schedules of a number of steps need: exact duals of linear programs.

Where messages have several destinations, or paths of several hops: the rows of ``relaxation``, with
the rounds of every step as variables whose sum is minimized. Where each has one destination and
goes hop by hop: a flow over time of each source. Solved in floating point; the dual is rounded to
integers, and the checker computes the bound that the rounded one proves. If no rounding reaches the
optimum, the basis is solved in fractions.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import copy
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.linear import linear_rounds
from cchybrid.model import Instance
from cchybrid.proof.contradiction import Column, Contradiction, Key
from cchybrid.proof.farkas import evidence_parts
from cchybrid.proof.linear_evidence import linear
from cchybrid.proof.linear_program import LinearProgram, roundings
from cchybrid.proof.relaxation import Relaxation
from cchybrid.proof.rounded_evidence import evidence_of

from .exact_solution import exact_dual

MAX_TERMS = 1_500_000
"""Terms of all rows above which a linear program is not solved."""
FINEST = 10**7
"""The finest rounding of duals."""
CAPACITIES = "channel", "inject", "accept"
"""The kinds of rows that limit what a round carries."""
_TOLERANCE = 1e-7


class RoundsBound(NamedTuple):
    """Rounds per chunk that every schedule of at most this many steps needs, and evidence.

    Attributes
    ----------
    steps
        The number of steps.
    ratio
        Rounds per chunk, for any number of chunks.
    evidence
        Evidence that the checker accepts.
    """

    steps: int
    ratio: Fraction
    evidence: Mapping[str, Any]


def round_bound(instance: Instance, steps: int) -> RoundsBound | None:
    """Return the best bound on the rounds per chunk for at most ``steps`` steps.

    Parameters
    ----------
    instance
        An instance without chunks, rounds and time slots, such that every destination is at most
        ``steps`` transfers away.

    Returns
    -------
    RoundsBound or None
        ``None`` if the linear program is too large or was not solved.
    """
    network = Network(instance.to_json())
    direct = network.hop_by_hop and all(len(goals) == 1 for _, goals in network.messages)
    program = (_Flows if direct else _Rows)(network, steps)
    if program.too_large or not program.solve():
        return None
    best: tuple[Fraction, Mapping[str, Any]] | None = None
    optimum = program.program.value
    for evidence in program.candidates():
        try:
            found = linear_rounds(network, evidence, steps)
        except EvidenceError:
            continue
        if best is None or found > best[0]:
            best = found, evidence
        if found > optimum - _TOLERANCE:
            break
    return None if best is None else RoundsBound(steps, *best)


class _Rows:
    """The program over the rows of the relaxation, for messages that spread."""

    def __init__(self, network: Network, steps: int) -> None:
        self.steps = steps
        if not network.hop_by_hop and network.extra_hops is None:
            network = copy(network)
            network.extra_hops = network.nodes  # any number, and columns distinguish senders
        relaxation = Relaxation(network, steps)
        self.too_large = 3 * relaxation.flows * (1 + steps / 2) > MAX_TERMS
        if self.too_large:
            return
        self.program = LinearProgram()
        self.variables = [self.program.variable(objective=1.0) for _ in range(steps)]
        self.columns: dict[Column, int] = {}
        self.rows: dict[Key, dict[int, int]] = {}
        self.handles: dict[Key, Any] = {}
        for key in relaxation.round_keys():
            terms, side = relaxation.row(key)
            if not terms:
                continue
            for column in terms:
                if column not in self.columns:
                    self.columns[column] = len(self.variables)
                    wide = column[0] == "flow" and not network.hop_by_hop
                    upper = math.inf if wide else float(relaxation.max_value(column))
                    self.variables.append(self.program.variable(upper=upper))
            row = {self.columns[column]: times for column, times in terms.items()}
            if key[0] in CAPACITIES:
                row[key[-1] - 1] = -side
                side = 0
            pairs = [(self.variables[j], float(times)) for j, times in row.items()]
            self.rows[key] = row
            self.handles[key] = self.program.row(float(side), math.inf, pairs)

    def solve(self) -> bool:
        return self.program.solve()

    def candidates(self) -> Iterator[Mapping[str, Any]]:
        rows = LinearProgram.duals(self.handles.values()).tolist()
        costs = {c: float(self.variables[j].reduced_cost()) for c, j in self.columns.items()}
        limits = {column: -cost for column, cost in costs.items() if cost < 0}
        parts = evidence_parts(
            Contradiction(dict(zip(self.handles, rows, strict=True)), limits), True
        )
        for rounded in roundings(np.array([*parts.values()]), finest=FINEST):
            whole = dict(zip(parts, rounded.tolist(), strict=True))
            yield evidence_of(None, self.steps, whole)
        exact = self._exact()
        if exact is not None:
            whole = {part: int(amount) for part, amount in evidence_parts(exact, True).items()}
            yield evidence_of(None, self.steps, whole)

    def _exact(self) -> Contradiction | None:
        """Return integers proportional to the dual of the last basis, if that is feasible."""
        objective = [1] * self.steps + [0] * len(self.columns)
        handles = [*self.handles.values()]
        dual = exact_dual([*self.rows.values()], objective, handles, self.variables)
        if dual is None or min(dual.values()) < 0:
            return None
        scale = math.lcm(*(number.denominator for number in dual.values()))
        keys = [*self.handles]
        whole = {keys[i]: int(number * scale) for i, number in dual.items()}
        totals = Counter[int]()
        for key, times in whole.items():
            for j, coefficient in self.rows[key].items():
                totals[j] += times * coefficient
        return Contradiction(
            whole, {c: totals[j] for c, j in self.columns.items() if totals[j] > 0}
        )


class _Flows:
    """The program over flows in the time-expanded network, for messages of one destination."""

    def __init__(self, network: Network, steps: int) -> None:
        self.network, self.steps = network, steps
        demand: dict[int, Counter[int]] = {}
        for source, (goal,) in network.messages:
            demand.setdefault(source, Counter())[goal] += 1
        size = len(demand) * steps * (len(network.channels) + network.nodes)
        self.too_large = 3 * size > MAX_TERMS
        if self.too_large:
            return
        self.program = LinearProgram()
        self.rounds = [self.program.variable(objective=1.0) for _ in range(steps)]
        capacities = {network.link(a, b): size for (a, b), size in network.channels.items()}
        self.links = {
            (*link, t): self._capacity_row(size, t)
            for link, size in capacities.items()
            for t in range(steps)
        }
        self.inject = self._port_rows(network.inject)
        self.accept = self._port_rows(network.accept)
        for source, goals in demand.items():
            self._add_source(source, goals)

    def _capacity_row(self, size: int, t: int) -> Any:
        return self.program.row(-math.inf, 0.0, [(self.rounds[t], -float(size))])

    def _port_rows(self, limits: list[int]) -> dict[tuple[int, int], Any]:
        return {
            (node, t): self._capacity_row(limit, t)
            for node, limit in enumerate(limits)
            for t in range(self.steps)
        }

    def _add_source(self, source: int, goals: Counter[int]) -> None:
        """Add the flow of the messages of a source: what is at a node stays or takes a hop."""
        network, program = self.network, self.program
        total = float(sum(goals.values()))
        balance = {}
        for node in range(network.nodes):
            for t in range(self.steps + 1):
                # What enters the flow at a node before a step; negative: what leaves it.
                supply = total * (node == source and t == 0) - goals[node] * (t == self.steps)
                balance[node, t] = program.row(supply, supply)
        for t in range(self.steps):
            for node in range(network.nodes):
                stays = program.variable()
                balance[node, t].SetCoefficient(stays, 1.0)
                balance[node, t + 1].SetCoefficient(stays, -1.0)
            for a, b in network.channels:
                moves = program.variable()
                balance[a, t].SetCoefficient(moves, 1.0)
                balance[b, t + 1].SetCoefficient(moves, -1.0)
                self.links[(*network.link(a, b), t)].SetCoefficient(moves, 1.0)
                self.inject[a, t].SetCoefficient(moves, 1.0)
                self.accept[b, t].SetCoefficient(moves, 1.0)

    def solve(self) -> bool:
        return self.program.solve()

    def candidates(self) -> Iterator[Mapping[str, Any]]:
        tables: list[Mapping[Any, Any]] = [self.links, self.inject, self.accept]
        values: NDArray[np.float64] = np.concatenate(
            [LinearProgram.duals(table.values(), sign=-1.0) for table in tables]
        )
        names = [
            (name, key)
            for name, table in zip(("channels", "inject", "accept"), tables, strict=True)
            for key in table
        ]
        for rounded in roundings(values, finest=FINEST):
            found: dict[str, list[list[int]]] = {}
            for (name, key), price in zip(names, rounded.tolist(), strict=True):
                if price > 0:
                    *place, t = key
                    found.setdefault(name, []).append([*place, t + 1, t + 1, price])
            yield linear(None, **found)
