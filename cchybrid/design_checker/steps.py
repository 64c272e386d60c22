"""Steps of a collective: a lower bound for all networks with n nodes of d links.

A number of steps is *open* if the counts below allow it; they allow every larger number too, so the
least open number is a lower bound. They hold for every routing, because a node has at most d links
in any case, and at most 1 + d + d (d - 1) + ... nodes are within k hops (with wires of limited
length, at most those that k wires reach). With n and d odd, some node has at most d - 1 links.

- A node that exchanges a message with every other node takes or sends at most as many per step as
  it has links, and ports. In store-and-forward, messages from nodes more than k hops away arrive
  after step k, and messages to them leave k steps before the end.
- An all-to-all broadcast makes n (n - 1) transfers, each of which uses a port of two nodes.
- A scatter's message uses as many channels as it has hops; in store-and-forward each hop also uses
  a port of two nodes.
- A broadcast: in wormhole switching every holder of a message informs at most as many nodes per
  step as it has links, and injection ports. In store-and-forward a node informs each neighbour at
  most once, and never the one that informed it; and nothing travels more than one hop per step.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cchybrid.checker import EvidenceError

_BACKWARDS = {"AOR": "OAB", "AAR": "AAB", "AOG": "OAS", "AAG": "AAS"}
"""Collectives that are others with all messages reversed."""


def steps_bound(
    nodes: int, degree: int, hops: Sequence[Sequence[int]] | None, collective: Any, model: Any
) -> int:
    """Return the number of steps that the collective needs at least, on every such network.

    Parameters
    ----------
    hops
        Per node, the wires that each other node is away, or ``None`` for wires of any length.
    collective, model
        The name of a collective between all nodes; its root is any node, except that with
        limited wires it is node 0. The model is as in ``cchybrid-instance/1``.

    Raises
    ------
    EvidenceError
        If there is no such collective or model.
    """
    inject, accept, hop_by_hop = _read_model(model, degree)
    if collective in _BACKWARDS:
        collective, inject, accept = _BACKWARDS[collective], accept, inject
    if collective not in ("OAB", "OAS", "AAB", "AAS"):
        raise EvidenceError("no bound of steps is known for this collective")
    poor = hops is None and nodes % 2 == 1 and degree % 2 == 1
    kinds = [(degree, _far(nodes, degree, degree, None if hops is None else hops[0]))]
    counts = [nodes - 1 if poor else 1 if hops is not None else nodes]
    if poor:
        kinds.append((degree - 1, _far(nodes, degree, degree - 1, None)))
        counts.append(1)
    elif hops is not None:
        kinds += [(degree, _far(nodes, degree, degree, row)) for row in hops[1:]]
        counts += [1] * (nodes - 1)

    def over_all(value: Callable[[int, Sequence[int]], int]) -> int:
        return sum(count * value(*kind) for count, kind in zip(counts, kinds, strict=True))

    sent = over_all(lambda links, far: min(links, inject))
    taken = over_all(lambda links, far: min(links, accept))
    channels = over_all(lambda links, far: links)
    distance = over_all(lambda links, far: sum(far))

    def served(kind: tuple[int, Sequence[int]], ports: int, steps: int) -> bool:
        links, far = kind
        waits = enumerate(far) if hop_by_hop else [(0, far[0])]
        return all(beyond <= min(links, ports) * max(0, steps - k) for k, beyond in waits)

    def is_open(steps: int) -> bool:
        root = kinds[0]
        if collective == "OAS":
            return served(root, inject, steps)
        if collective in ("OAB", "AAB") and not _spreads(
            nodes, degree, min(degree, inject), len(root[1]) if hop_by_hop else None, steps
        ):
            return False
        if collective == "OAB":
            return True
        if not all(served(kind, accept, steps) for kind in kinds):
            return False
        if collective == "AAB":
            return nodes * (nodes - 1) <= steps * min(sent, taken)
        if not all(served(kind, inject, steps) for kind in kinds):
            return False
        return distance <= steps * (min(sent, taken) if hop_by_hop else channels)

    high = 1
    while not is_open(high):
        high *= 2
    return bisect_left(range(high), True, high // 2 + 1, key=is_open)


def _far(nodes: int, degree: int, links: int, hops: Sequence[int] | None) -> list[int]:
    """Return the least numbers of nodes that are more than 0, 1, 2, ... hops away, above 0."""
    near, ring, k = 1, links, 0
    far: list[int] = []
    while True:
        reached = near if hops is None else min(near, sum(hop <= k for hop in hops))
        if reached >= nodes:
            return far
        if ring == 0 and near < nodes:
            raise EvidenceError("nodes with one link each are not connected")
        far.append(nodes - reached)
        near, ring, k = near + ring, ring * (degree - 1), k + 1


def _spreads(nodes: int, degree: int, rate: int, farthest: int | None, steps: int) -> bool:
    """Return whether one message may be at all nodes after these steps.

    Parameters
    ----------
    rate
        The number of nodes that a node informs per step at most.
    farthest
        The number of steps until the message can be everywhere in store-and-forward switching;
        ``None`` in wormhole switching.
    """
    if farthest is None:
        holders = 1
        for _ in range(steps):
            holders += holders * rate
            if holders >= nodes:
                return True
        return False
    if steps < farthest:
        return False
    # Holders by the number of neighbours that they have not informed.
    left, holders = {degree: 1}, 1
    for _ in range(steps):
        after: dict[int, int] = {}
        informed = 0
        for free, count in left.items():
            used = min(free, rate)
            informed += used * count
            if free > used:
                after[free - used] = after.get(free - used, 0) + count
        after[degree - 1] = after.get(degree - 1, 0) + informed
        left, holders = after, holders + informed
        if holders >= nodes:
            return True
        if informed == 0:
            return False
    return False


def _read_model(model: Any, degree: int) -> tuple[int, int, bool]:
    """Return injection and acceptance ports, at most the links, and whether it is hop by hop."""
    if not isinstance(model, Mapping) or not set(model) <= {"switching", "ports", "routing"}:
        raise ValueError
    switching, ports = model.get("switching", "wormhole"), model.get("ports", "all")
    routing = model.get("routing", "minimal")
    if switching not in ("wormhole", "store-and-forward"):
        raise ValueError
    if routing not in ("minimal", "any") and (type(routing) is not int or routing < 0):
        raise ValueError
    if ports == "all":
        inject = accept = degree
    elif isinstance(ports, Mapping):
        if set(ports) != {"inject", "accept"}:
            raise ValueError
        inject, accept = ports["inject"], ports["accept"]
    else:
        inject = accept = ports
    for number in (inject, accept):
        if type(number) is not int or number < 1:
            raise ValueError
    return inject, accept, switching == "store-and-forward"
