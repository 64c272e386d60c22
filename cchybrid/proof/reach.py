"""Distances of messages, and instances without a schedule: a destination cannot be reached."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from cchybrid.checker.instance import Network as CheckedNetwork
from cchybrid.checker.reach import out_of_reach
from cchybrid.model import Instance, Network
from cchybrid.model.errors import InputError
from cchybrid.referee.distances import hop_distances


@dataclass(frozen=True)
class Unreachable:
    """A destination that a message cannot reach, and the reason, in the user's direction.

    In a ``combine`` collective, the source is the node whose part cannot reach the destination.
    """

    message: int
    source: int
    destination: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return asdict(self)

    def words(self, network: Network) -> str:
        """Return the sentence that says so, with the names of the nodes."""
        ends = network.node_name(self.destination), network.node_name(self.source)
        what = f"node {ends[0]} cannot be reached from node {ends[1]}"
        return f"{what} (message {self.message}): {self.reason}"


def unreachable(instance: Instance) -> dict[str, Any] | None:
    """Return evidence that a ``deliver`` instance has no schedule, or ``None`` if it has one."""
    suspects = _suspects(instance)
    if not suspects:
        return None
    network = CheckedNetwork(instance.to_json())
    for message in suspects:
        missed = out_of_reach(network, message)
        if missed:
            return {"kind": "unreachable", "message": message, "destination": min(missed)}
    return None


def farthest(instance: Instance) -> int:
    """Return how many transfers one after another the farthest destination needs at least.

    Hop by hop these are its hops; in wormhole switching only destinations send on.

    Raises
    ------
    InputError
        A destination cannot be reached.
    """
    lost = unreachable(instance.forward)
    if lost is not None:
        raise InputError(
            explain(instance, lost).words(instance.network),
            where=instance.name,
            hint="use a connected network",
        )
    network = CheckedNetwork(instance.to_json())
    hops = cache(network.hops)
    if network.hop_by_hop:
        return max(hops(source)[goal] for source, goals in network.messages for goal in goals)
    transfers = 0
    for source, goals in network.messages:
        left, senders, number = set(goals), {source}, 0
        while left:
            senders = left.intersection(chain.from_iterable(map(hops, senders)))
            left, number = left - senders, number + 1
        transfers = max(transfers, number)
    return transfers


def explain(instance: Instance, evidence: Mapping[str, Any]) -> Unreachable:
    """Return the meaning of evidence of ``unreachable``, in the user's direction.

    That of an allreduce or a scan is about a ``part`` of it.
    """
    if evidence["kind"] == "part":
        back = "to" in evidence
        member = evidence["to" if back else "from"]
        part = instance.part_to(member) if back else instance.part_from(member)
        lost = explain(part, evidence["evidence"])
        number, _ = instance.other_members(member, back)[lost.message]
        return replace(lost, message=number)
    message, destination = evidence["message"], evidence["destination"]
    source = instance.collective.deliver_messages[message].source
    if instance.collective.kind == "combine":
        source, destination = destination, source
    return Unreachable(message, source, destination, _reason(instance, source, destination))


def _reason(instance: Instance, source: int, destination: int) -> str:
    network, model = instance.network, instance.model
    if model.inject_limit(source) == 0:
        return f"node {network.node_name(source)} may not inject"
    if model.accept_limit(destination) == 0:
        return f"node {network.node_name(destination)} may not accept"
    if model.table is not None:
        return "the routing table has no path"
    if hop_distances(replace(network, endpoints=()), [source])[0, destination] < 0:
        return "no path leads there"
    if model.hop_by_hop:
        return "every path passes a node that may not accept and inject"
    return "every path passes an endpoint"


def _suspects(instance: Instance) -> list[int]:
    """Return the messages with a destination to which their source cannot send directly."""
    network, model = instance.network, instance.model
    nodes = range(network.nodes)
    accepts = np.array([model.accept_limit(node) != 0 for node in nodes])
    sends = np.array([model.inject_limit(node) != 0 for node in nodes])
    if model.hop_by_hop:
        stuck = tuple(node for node in nodes if not (accepts[node] and sends[node]))
        network = replace(network, endpoints=stuck, switches=())
    each, counts, goals = map(np.array, instance.collective.flat)
    sources, row = np.unique(each, return_inverse=True)
    row = np.repeat(row, counts)
    hops = hop_distances(network, sources.tolist())
    if (table := model.table) is not None:
        hops = np.array([[len(table.path(a, b)) - 1 for b in nodes] for a in sources.tolist()])
    stopped = (hops[row, goals] <= 0) | ~sends[sources][row] | ~accepts[goals]
    suspects: list[int] = np.unique(np.repeat(np.arange(len(counts)), counts)[stopped]).tolist()
    return suspects
