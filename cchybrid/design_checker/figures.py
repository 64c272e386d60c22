"""Designed networks: degree, wires and latencies as claimed, and lower bounds of the latencies.

The record of a designed network is a ``cchybrid-design/1`` object:

- ``nodes``, ``degree``, ``links`` (pairs of nodes),
- optionally ``positions`` and ``max_wire`` (Manhattan distance), ``redundant_links`` and
  ``fault_tolerant`` (true, false; the latter: any one node may fail),
- optionally ``collective`` (the name of one between all nodes) and ``model``, as in
  ``cchybrid-instance/1``,
- ``claims``: any of ``diameter``, ``total_distance`` (the sum over all ordered pairs of nodes),
  ``diameter_bound`` and ``total_distance_bound`` (lower bounds for all networks of the same nodes,
  degree, positions and wires); with a collective also ``steps_bound``, a lower bound of its steps
  on all these networks.
"""

import math
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.reading import only
from cchybrid.design_checker.steps import steps_bound

DESIGN_FORMAT = "cchybrid-design/1"
NETWORK_FORMAT = "cchybrid-network/1"
_MAX_NODES = 2048
_MAX_NUMBER = 10**40


class DesignFigures(NamedTuple):
    """The latencies of a designed network, and the lower bounds that were proven for them.

    ``mean`` and ``mean_bound`` are over ordered pairs of different nodes.
    """

    diameter: int
    mean: Fraction
    diameter_bound: int
    mean_bound: Fraction

    @property
    def optimal(self) -> bool:
        """Whether no network has a smaller mean distance or a smaller diameter."""
        return self.diameter == self.diameter_bound and self.mean == self.mean_bound


def check_design(record: Any) -> DesignFigures:
    """Return the figures of a designed network, computed from its links.

    Raises
    ------
    EvidenceError
        If the record is not well-formed, the network breaks its own limits, or a claim is false.
    """
    try:
        return _check(record)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise EvidenceError("the designed network is not well-formed") from None


def check_network(record: Any) -> DesignFigures:
    """Return the figures of the design in a ``cchybrid-network/1`` object.

    Raises
    ------
    EvidenceError
        If the object is not well-formed, the network has other channels than one each way per link
        of its design, or as for ``check_design``.
    """
    try:
        only(record, "format", "network", "design")
        if record["format"] != NETWORK_FORMAT:
            raise ValueError
        # The network is read as that of an instance, with any collective.
        pair = {"name": "", "kind": "deliver", "messages": [{"source": 0, "destinations": [1]}]}
        form = {"format": "cchybrid-instance/1", "name": "", "collective": pair}
        network = Network({**form, "network": record["network"]})
        design = record["design"]
    except (EvidenceError, KeyError, TypeError, ValueError):
        raise EvidenceError("the network file is not well-formed") from None
    if {"half_duplex", "endpoints", "switches"} & set(record["network"]):
        raise EvidenceError(
            "the network has half-duplex links, endpoints or switches, which no design has"
        )
    figures = check_design(design)
    links = Counter(pair for a, b in design["links"] for pair in ((a, b), (b, a)))
    if network.nodes != design["nodes"] or network.channels != links:
        raise EvidenceError("the links of the design are not those of the network")
    shown, placed = record["network"].get("positions"), design.get("positions")
    if None not in (shown, placed) and [*map(list, shown)] != [*map(list, placed)]:
        raise EvidenceError("the positions of the design are not those of the network")
    return figures


def _check(record: Any) -> DesignFigures:
    known = {
        "format", "nodes", "degree", "links", "positions", "max_wire", "redundant_links",
        "fault_tolerant", "collective", "model", "claims",
    }  # fmt: skip
    if not isinstance(record, Mapping) or not set(record) <= known:
        raise ValueError
    if record["format"] != DESIGN_FORMAT:
        raise EvidenceError(f"this is no {DESIGN_FORMAT}")
    nodes, degree = _whole(record["nodes"]), _whole(record["degree"])
    if not 2 <= nodes <= _MAX_NODES or not 1 <= degree <= _MAX_NODES:
        raise EvidenceError("the number of nodes or links is out of range")
    neighbours = _read_links(record, nodes, degree)
    reachable = _wires(record, nodes)
    if reachable is not None:
        for a, others in enumerate(neighbours):
            if not set(others) <= set(reachable[a]):
                raise EvidenceError(f"a wire of node {a} is too long")
    hops = [_distances(neighbours, node) for node in range(nodes)]
    if any(len(row) < nodes for row in hops):
        raise EvidenceError("the network is not connected")
    if _flag(record, "fault_tolerant"):
        _check_faults(neighbours)
    total = sum(map(sum, hops))
    diameter = max(map(max, hops))
    total_bound, diameter_bound = _bounds(nodes, degree, reachable)
    figures = {
        "diameter": diameter,
        "total_distance": total,
        "diameter_bound": diameter_bound,
        "total_distance_bound": total_bound,
    }
    if "collective" in record:
        wires = None if reachable is None else [_distances(reachable, v) for v in range(nodes)]
        figures["steps_bound"] = steps_bound(
            nodes, degree, wires, record["collective"], record.get("model", {})
        )
    elif "model" in record:
        raise ValueError
    claims = record.get("claims", {})
    if not isinstance(claims, Mapping) or not set(claims) <= set(figures):
        raise ValueError
    for name, value in claims.items():
        bound = name.endswith("_bound")
        if _whole(value) > figures[name] or (not bound and value != figures[name]):
            raise EvidenceError(f"{name.replace('_', ' ')} is {figures[name]}, not {value}")
    pairs = nodes * (nodes - 1)
    return DesignFigures(
        diameter, Fraction(total, pairs), diameter_bound, Fraction(total_bound, pairs)
    )


def _read_links(record: Mapping[str, Any], nodes: int, degree: int) -> list[list[int]]:
    """Return the neighbours of every node."""
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    redundant = _flag(record, "redundant_links")
    for link in record["links"]:
        a, b = map(_whole, link)
        if a >= nodes or b >= nodes or a == b:
            raise EvidenceError(f"a link from {a} to {b}")
        if b in neighbours[a] and not redundant:
            raise EvidenceError(f"the link from {a} to {b} is redundant")
        neighbours[a].append(b)
        neighbours[b].append(a)
    for node, others in enumerate(neighbours):
        if len(others) > degree:
            raise EvidenceError(f"node {node} has {len(others)} links")
    return neighbours


def _check_faults(neighbours: Sequence[Sequence[int]]) -> None:
    """Raise an ``EvidenceError`` if the failure of one node disconnects others."""
    nodes = len(neighbours)
    for failed in range(nodes):
        left = [[] if a == failed else [b for b in others if b != failed]
                for a, others in enumerate(neighbours)]  # fmt: skip
        if len(_distances(left, 1 if failed == 0 else 0)) < nodes - 1:
            raise EvidenceError(f"without node {failed} the network is not connected")


def _wires(record: Mapping[str, Any], nodes: int) -> list[list[int]] | None:
    """Return the nodes that a wire from every node can reach, ``None`` for all of them."""
    if "positions" not in record and "max_wire" not in record:
        return None
    points = [[_number(value) for value in point] for point in record["positions"]]
    if len(points) != nodes or len({len(point) for point in points}) != 1:
        raise ValueError
    if "max_wire" not in record:
        return None
    limit = _number(record["max_wire"])
    return [
        [b for b in range(nodes) if a != b and _manhattan(points[a], points[b]) <= limit]
        for a in range(nodes)
    ]


def _manhattan(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((abs(x - y) for x, y in zip(a, b, strict=True)), Fraction(0))


def _bounds(nodes: int, degree: int, reachable: list[list[int]] | None) -> tuple[int, int]:
    """Return lower bounds of the sum of all distances and of the diameter.

    Within k hops of a node are at most the nodes that k wires reach, and at most
    1 + d + d (d - 1) + ... + d (d - 1)^(k - 1).
    """
    total = diameter = 0
    for node in range(nodes):
        hops = [0] + [1] * (nodes - 1) if reachable is None else _distances(reachable, node)
        if len(hops) < nodes:
            raise EvidenceError("wires of this length do not connect the nodes")
        within, ring, k = 1, degree, 0
        while (missing := nodes - min(within, sum(hop <= k for hop in hops))) > 0:
            if ring == 0 and within < nodes:
                raise EvidenceError("nodes with one link each are not connected")
            total += missing
            k += 1
            within += ring
            ring *= degree - 1
        diameter = max(diameter, k)
    return total, diameter


def _distances(neighbours: Sequence[Sequence[int]], source: int) -> list[int]:
    """Return the distances from a node to all nodes that it reaches."""
    hops = {source: 0}
    queue = deque([source])
    while queue:
        node = queue.popleft()
        for other in neighbours[node]:
            if other not in hops:
                hops[other] = hops[node] + 1
                queue.append(other)
    return list(hops.values())


def _flag(record: Mapping[str, Any], name: str) -> bool:
    flag = record.get(name, False)
    if type(flag) is not bool:
        raise TypeError
    return flag


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MAX_NUMBER:
        raise TypeError
    return value


def _number(value: Any) -> Fraction:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise TypeError
    # A JSON number is a decimal: the shortest one that rounds to the float.
    return Fraction(repr(value))
