"""Bounds from prices per step: the dual of flows over time, for scatters in store-and-forward.

In the first steps messages are still near their sources, and in the last ones they have to be near
their destinations, so that not all channels are of use. The program maximizes the messages that
arrive within S steps: the messages of a source are a flow in the time-expanded network, in which
they wait at nodes. If not all can arrive, the dual solution is a price per channel, port and step
that refutes S steps. In large programs the steps between the first and
the last ones are one long step in which messages take any number of hops; then the dual has one
price for all of them, and the exact check decides.

References
----------
L. R. Ford, D. R. Fulkerson, "Constructing maximal dynamic flows from static flows", Operations
Research 6, 1958 (time-expanded networks). doi:10.1287/opre.6.3.419
"""

import math
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.kinds import shown_steps
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.capacity_program import link_rows, port_rows
from cchybrid.proof.climbing import refute_ever_more
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds
from cchybrid.proof.growth import growth_bounds
from cchybrid.proof.linear_program import LinearProgram, roundings

MAX_COLUMNS = 20_000
"""Sources times channels times steps up to which the program is solved; it takes about a second."""
UNITS = 2.0
"""Deterministic time, about seconds, for each program."""
_TOLERANCE = 1e-6
"""Difference to the number of messages that is taken for rounding."""


def step_price_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield bounds above those of cuts and prices, for scatters in store-and-forward switching."""
    messages = instance.collective.deliver_messages
    if not instance.model.hop_by_hop or not instance.network.channels:
        return
    if any(len(message.destinations) != 1 for message in messages):
        return
    sources = {message.source for message in messages}
    parts = MAX_COLUMNS // (len(sources) * len(instance.network.channels))
    if parts < 3:
        return
    cheaper = chain(growth_bounds(instance), cut_bounds(instance), price_bounds(instance))
    known = max((bound.steps for bound in cheaper), default=1)
    network = Network(instance.to_json())
    yield from refute_ever_more(
        instance, known, lambda steps: _refute(instance, network, lengths_of_parts(steps, parts))
    )


def lengths_of_parts(steps: int, parts: int) -> list[int]:
    """Return the steps of each part: single steps, with a long part in the middle if necessary."""
    if steps <= parts:
        return [1] * steps
    ends = (parts - 1) // 2
    return [1] * ends + [steps - 2 * ends] + [1] * ends


def _refute(instance: Instance, network: Network, lengths: list[int]) -> dict[str, Any] | None:
    """Return evidence that the steps of these parts are too few; ``None`` if there is none."""
    program = LinearProgram(maximize=True, units=UNITS)
    rows = [_capacity_rows(program, instance, length) for length in lengths]
    demand = Counter(
        (message.source, *message.destinations) for message in instance.collective.deliver_messages
    )
    for source in sorted({source for source, _ in demand}):
        _add_source(program, instance, source, demand, rows, lengths)
    if not program.solve() or program.value > demand.total() - _TOLERANCE:
        return None
    keys = [(part, key) for part, limits in enumerate(rows) for key in limits]
    dual = program.duals((rows[part][key] for part, key in keys))
    lasts = np.cumsum(lengths).tolist()
    for prices in roundings(dual):
        evidence: dict[str, Any] = {"kind": "linear", "steps": lasts[-1] + 1}
        evidence |= {"channels": [], "inject": [], "accept": []}
        for (part, (kind, *numbers)), price in zip(keys, prices.tolist(), strict=True):
            if price > 0:
                first = lasts[part] - lengths[part] + 1
                evidence[kind].append([*numbers, first, lasts[part], price])
        try:
            shown_steps(network, evidence)
        except EvidenceError:
            continue
        return evidence
    return None


Rows = dict[tuple[Any, ...], Any]
"""Capacity rows by ``("channels", a, b)``, ``("inject", node)`` or ``("accept", node)``."""


def _capacity_rows(program: LinearProgram, instance: Instance, length: int) -> Rows:
    """Return the rows of channels and ports in a part; those of a half-duplex pair once."""

    def limit(capacity: int) -> Any:
        return program.row(-math.inf, float(capacity * length))

    inject, accept = port_rows(instance, limit)
    links = link_rows(instance.network, limit)
    second = {(b, a) for a, b in instance.network.half_duplex}
    found: Rows = {("channels", *hop): row for hop, row in links.items() if hop not in second}
    found.update({("inject", node): row for node, row in inject.items()})
    found.update({("accept", node): row for node, row in accept.items()})
    return found


def _add_source(
    program: LinearProgram,
    instance: Instance,
    source: int,
    demand: Counter[tuple[int, ...]],
    rows: list[Rows],
    lengths: list[int],
) -> None:
    """Add the flow over time of the messages of a source."""
    second = {(b, a) for a, b in instance.network.half_duplex}
    nodes = [node for node in range(instance.network.nodes) if node != source]
    held: dict[int, Any] = {}
    for limits, length in zip(rows, lengths, strict=True):
        balance = {node: program.row(0.0, math.inf) for node in nodes}
        # In a single step, a node sends only what it held before.
        before = {node: program.row(0.0, math.inf) for node in nodes} if length == 1 else {}
        for node, amount in held.items():
            balance[node].SetCoefficient(amount, 1.0)
            if before:
                before[node].SetCoefficient(amount, 1.0)
        for a, b, _ in instance.network.channels:
            if b == source:
                continue
            flow = program.variable()
            hop = (b, a) if (a, b) in second else (a, b)
            for key in (("channels", *hop), ("inject", a), ("accept", b)):
                if key in limits:
                    limits[key].SetCoefficient(flow, 1.0)
            balance[b].SetCoefficient(flow, 1.0)
            if a != source:
                balance[a].SetCoefficient(flow, -1.0)
                if before:
                    before[a].SetCoefficient(flow, -1.0)
        held = {node: program.variable() for node in nodes}
        for node, amount in held.items():
            balance[node].SetCoefficient(amount, -1.0)
    for node, amount in held.items():
        if demand[source, node]:
            arrived = program.variable(1.0, float(demand[source, node]))
            program.row(0.0, math.inf, [(amount, 1.0), (arrived, -1.0)])
