"""Maximum concurrent flow of messages with one destination each: exact path flow and prices.

The linear program has a variable per source and channel, and the rounds per chunk, which are
minimized (Shahrokhi and Matula, Journal of the ACM 37, 1990, doi:10.1145/77600.77620). It is solved
in floating point; the basis that this ends with is then solved in fractions, for the flow and for
the prices. If it is not optimal, both are rounded instead: the bound and the flow are exact all the
same, but may differ.
"""

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from cchybrid.library.rates import common_divisor
from cchybrid.model.errors import InputError
from cchybrid.proof.linear_program import LinearProgram, roundings

from .exact_solution import exact_dual, solve_exactly
from .max_flow import refuse_large

OVER = "the time is over"
MAX_COLUMNS = 40_000
"""Sources times channels up to which the linear program is solved, in a few minutes."""
_TOLERANCE = 1e-9
_SHARES = 10**6
"""Parts of a message into which a flow that is only known in floating point is rounded."""

Arc = tuple[int, int]
Pair = tuple[int, int]


class PathFlow(NamedTuple):
    """Paths with the part of a message that each carries, and candidates for prices of channels.

    The parts of the messages between two nodes add up to their number.
    """

    paths: dict[tuple[int, ...], Fraction]
    prices: list[dict[Arc, int]]


def concurrent_flow(
    channels: Mapping[Arc, int],
    closed: set[int],
    demand: Mapping[Pair, int],
    deadline: float = math.inf,
) -> PathFlow:
    """Return a path flow with the smallest largest relative load of a channel.

    Parameters
    ----------
    channels
        The capacity of every channel.
    closed
        Nodes that no path passes.
    demand
        The number of messages by source and destination; all can be reached.
    deadline
        The end, by ``time.monotonic``.

    Raises
    ------
    TimeoutError
        The linear program was not solved before the deadline, or is too large for that.
    InputError
        The capacities are too large.
    """
    program = _Program(channels, closed, demand, deadline)
    exact = program.exact_flow()
    if exact is not None:
        flows, prices = exact
        return PathFlow(dict(_split(flows, demand)), [prices])
    return PathFlow(_rounded(program.float_flows(), demand), list(program.rounded_prices()))


class _Program:
    def __init__(
        self,
        channels: Mapping[Arc, int],
        closed: set[int],
        demand: Mapping[Pair, int],
        deadline: float,
    ) -> None:
        sources = sorted({source for source, _ in demand})
        if len(sources) * len(channels) > MAX_COLUMNS:
            raise TimeoutError(
                f"{len(sources)} sources times {len(channels)} channels are too many, "
                f"at most {MAX_COLUMNS} are solved"
            )
        # Rows and columns of the program, as in it and in integers.
        self.rows: list[dict[int, int]] = []
        self.right: list[int] = []
        self.columns: list[tuple[int, Arc]] = []
        goals = {source: {t for s, t in demand if s == source} for source in sources}
        load: dict[Arc, dict[int, int]] = {arc: {} for arc in channels}
        for source in sources:
            balance: dict[int, dict[int, int]] = {}
            for a, b in channels:
                if b == source or (a in closed and a != source):
                    continue
                if b in closed and b not in goals[source]:
                    continue
                column = len(self.columns)
                self.columns.append((source, (a, b)))
                balance.setdefault(b, {})[column] = 1
                if a != source:
                    balance.setdefault(a, {})[column] = -1
                load[a, b][column] = 1
            for node, row in balance.items():
                self.rows.append(row)
                self.right.append(demand.get((source, node), 0))
        self.balances = len(self.rows)
        self.arcs = list(channels)
        self.rounds = len(self.columns)
        for arc, row in load.items():
            self.rows.append({**row, self.rounds: -channels[arc]})
            self.right.append(0)
        self._solve(channels, deadline)

    def _solve(self, channels: Mapping[Arc, int], deadline: float) -> None:
        # Kept, as its variables and rows are of no use without it.
        self.program = program = LinearProgram()
        self.variables = [program.variable() for _ in self.columns]
        self.variables.append(program.variable(objective=1.0))
        self.handles = [
            program.row(
                float(right) if number < self.balances else -math.inf,
                float(right),
                ((self.variables[column], float(size)) for column, size in row.items()),
            )
            for number, (row, right) in enumerate(zip(self.rows, self.right, strict=True))
        ]
        if not program.solve(max(0.0, deadline - time.monotonic())):
            refuse_large(channels)
            if time.monotonic() > deadline:
                raise TimeoutError(OVER)
            raise InputError(
                "the linear program could not be solved",
                where="throughput",
                hint="report this defect",
            )

    def exact_flow(self) -> tuple[dict[int, dict[Arc, Fraction]], dict[Arc, int]] | None:
        """Return the exact flows by source, and prices, of the last basis if it is optimal."""
        objective = [0] * self.rounds + [1]
        dual = exact_dual(self.rows, objective, self.handles, self.variables)
        if dual is None:
            return None
        basic = [j for j, each in enumerate(self.variables) if LinearProgram.is_basic(each)]
        place = {column: k for k, column in enumerate(basic)}
        square = [{place[j]: size for j, size in self.rows[i].items() if j in place} for i in dual]
        amounts = solve_exactly(square, [self.right[i] for i in dual], len(basic))
        if amounts is None or min(amounts) < 0:
            return None
        flows: dict[int, dict[Arc, Fraction]] = {}
        for column, amount in zip(basic, amounts, strict=True):
            if column != self.rounds and amount:
                source, arc = self.columns[column]
                flows.setdefault(source, {})[arc] = amount
        prices = {
            self.arcs[i - self.balances]: -price
            for i, price in dual.items()
            if i >= self.balances and price < 0
        }
        return flows, _integers(prices)

    def float_flows(self) -> dict[int, dict[Arc, float]]:
        flows: dict[int, dict[Arc, float]] = {}
        for (source, arc), variable in zip(self.columns, self.variables, strict=False):
            amount = float(variable.solution_value())
            if amount > _TOLERANCE:
                flows.setdefault(source, {})[arc] = amount
        return flows

    def rounded_prices(self) -> Iterator[dict[Arc, int]]:
        dual = LinearProgram.duals(self.handles[self.balances :], sign=-1.0)
        for whole in roundings(np.asarray(dual)):
            yield {
                arc: int(price) for arc, price in zip(self.arcs, whole, strict=True) if price > 0
            }


def _integers(prices: Mapping[Arc, Fraction]) -> dict[Arc, int]:
    """Return the smallest integers that are proportional to prices."""
    unit = common_divisor([*prices.values()])
    return {arc: int(price / unit) for arc, price in prices.items()}


def _split(
    flows: Mapping[int, dict[Arc, Any]], demand: Mapping[Pair, int], tolerance: float = 0
) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield paths and their amounts, into which flows are decomposed; loops are left out."""
    for source, flow in flows.items():
        left = dict(flow)
        goals = {t: count for (s, t), count in demand.items() if s == source}
        found: Counter[tuple[int, ...]] = Counter()
        for goal, count in goals.items():
            missing: Any = count
            while missing > tolerance:
                graph = nx.DiGraph([(source, source), *left])
                path = nx.single_source_shortest_path(graph, source).get(goal)
                if path is None:
                    break
                hops = list(pairwise(path))
                amount = min(missing, *(left[hop] for hop in hops))
                missing -= amount
                for hop in hops:
                    left[hop] -= amount
                    if left[hop] <= tolerance:
                        del left[hop]
                found[tuple(path)] += amount
        yield from found.items()


def _rounded(
    flows: Mapping[int, dict[Arc, float]], demand: Mapping[Pair, int]
) -> dict[tuple[int, ...], Fraction]:
    """Return a path flow in fractions near one in floating point."""
    paths: dict[Pair, list[tuple[float, tuple[int, ...]]]] = {}
    for path, amount in _split(flows, demand, _TOLERANCE):
        paths.setdefault((path[0], path[-1]), []).append((amount, path))
    found: dict[tuple[int, ...], Fraction] = {}
    for pair, count in demand.items():
        carried = sorted(paths.get(pair, ()), reverse=True)
        total = sum(amount for amount, _ in carried)
        shares = [round(_SHARES * amount / total) for amount, _ in carried]
        shares[0] += _SHARES - sum(shares)
        for (_, path), share in zip(carried, shares, strict=True):
            if share:
                found[path] = Fraction(share * count, _SHARES)
    return found


def largest_load(paths: Mapping[tuple[int, ...], Any], channels: Mapping[Arc, int]) -> Fraction:
    """Return the largest load of a channel relative to its capacity."""
    load: Counter[Arc] = Counter()
    for path, amount in paths.items():
        for hop in pairwise(path):
            load[hop] += amount
    return max(Fraction(size) / channels[hop] for hop, size in load.items())
