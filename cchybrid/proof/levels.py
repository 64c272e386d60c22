"""Level bounds: how many nodes at each distance from its source a message can reach in time.

Hop by hop, a message gets from distance d at most to distance d + 1 in a step. Where ports limit
what a node sends in a step, it reaches one neighbour without delay, and the others later: of the
nodes at distance d, one has the message after d steps. The relaxation of ``farkas`` is added up
over the nodes of each distance, the levels, so its size does not depend on their number. Its
columns are how many nodes of a level have the message after a step, and how many it informs in a
step in each of the levels around it. If not all destinations can be informed, the dual values are
their worth, and charges.
"""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from cchybrid.checker import Network
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import network_of, refute_ever_more
from cchybrid.proof.growth import growth_bounds, sending_power
from cchybrid.proof.linear_program import LinearProgram
from cchybrid.proof.rounded_evidence import Part, rounded_evidence

MAX_MESSAGES = 8
"""Largest number of messages with several destinations; for more, ports and channels decide."""
MAX_FLOWS = 10_000
"""Pairs of levels times steps up to which a program is solved; it takes about a second."""
UNITS = 2.0
"""Deterministic time, about seconds, for each program."""
_TOLERANCE = 1e-6
"""Difference to the number of destinations that is taken for rounding."""

Columns = dict[tuple[int, int], Any]
"""The number of nodes that have the message, by level and step."""


def level_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield bounds above those of growth, for few messages that spread hop by hop."""
    if not instance.model.hop_by_hop:
        return
    spreading = {m for m in instance.collective.deliver_messages if len(m.destinations) > 1}
    if not 0 < len(spreading) <= MAX_MESSAGES:
        return
    network = network_of(instance)
    # Without limited ports, a message can be everywhere after as many steps as its distance.
    if not network.limited_ports:
        return
    known = max((bound.steps for bound in growth_bounds(instance)), default=1)
    for source, goals in sorted({each for each in network.messages if len(each[1]) > 1}):
        levels = Levels(network, network.messages.index((source, goals)))
        for bound in refute_ever_more(instance, known, levels.refute):
            known = bound.steps
            yield bound


class Levels:
    """The nodes by their distance from the source of a message."""

    def __init__(self, network: Network, message: int) -> None:
        self.network, self.message = network, message
        source, goals = network.messages[message]
        hops = network.hops(source)
        self.nodes: dict[int, list[int]] = {}
        self.goals: dict[int, list[int]] = {}
        """The destinations of each level that has any."""
        self.power: Counter[int] = Counter()
        """The largest number of nodes that a node of each level can inform in a step."""
        self.across: Counter[tuple[int, int]] = Counter()
        """The same for those in each level around it."""
        for node, level in hops.items():
            self.nodes.setdefault(level, []).append(node)
            if node in goals:
                self.goals.setdefault(level, []).append(node)
            power = sending_power(network, node, source)
            self.power[level] = max(power, self.power[level])
            ahead = Counter(hops[b] for b in network.successors[node] if b != source)
            for other, number in ahead.items():
                pair = level, other
                self.across[pair] = max(min(power, number), self.across[pair])

    def refute(self, steps: int) -> dict[str, Any] | None:
        """Return evidence that the message needs more steps, or ``None``."""
        if len(self.across) * steps > MAX_FLOWS:
            return None
        program = LinearProgram(maximize=True, units=UNITS)
        has: Columns = {(0, 0): program.variable(upper=1.0)}
        for t in range(1, steps + 1):
            self._add_step(program, has, t)
        rows = {}
        for level, goals in self.goals.items():
            met = program.variable(1.0, float(len(goals)))
            terms = [(has[level, steps], 1.0)] if (level, steps) in has else []
            rows[level] = program.row(0.0, math.inf, [*terms, (met, -1.0)])
        needed = sum(map(len, self.goals.values()))
        if not program.solve() or program.value > needed - _TOLERANCE:
            return None
        # Duals of ">=" rows of a maximum are not positive.
        values = program.duals(rows.values(), sign=-1.0).tolist()
        parts: dict[Part, float] = {}
        for level, amount in zip(rows, values, strict=True):
            parts.update((("worth", self.message, v), amount) for v in self.goals[level])
        for (level, t), column in has.items():
            charge = column.reduced_cost()
            if level and charge > 0.0:
                parts.update((("once", self.message, v, t), charge) for v in self.nodes[level])
        return rounded_evidence(self.network, steps, parts)

    def _add_step(self, program: LinearProgram, has: Columns, t: int) -> None:
        """Add the rows of a step: what every level sends and has."""
        before = {level: has[level, s] for level, s in has if s == t - 1}
        into: dict[int, list[tuple[Any, float]]] = {}
        out: dict[int, list[tuple[Any, float]]] = {}
        for (level, other), number in self.across.items():
            if level in before:
                flow = program.variable()
                into.setdefault(other, []).append((flow, 1.0))
                out.setdefault(level, []).append((flow, -1.0))
                program.row(0.0, math.inf, [(flow, -1.0), (before[level], float(number))])
        for level, flows in out.items():
            program.row(0.0, math.inf, [*flows, (before[level], float(self.power[level]))])
        has[0, t] = has[0, 0]
        for level, flows in into.items():
            has[level, t] = program.variable(upper=float(len(self.nodes[level])))
            kept = [(before[level], 1.0)] if level in before else []
            program.row(0.0, math.inf, [*flows, *kept, (has[level, t], -1.0)])
