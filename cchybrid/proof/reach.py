"""Instances that have no schedule at all: some destination cannot be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from cchybrid.checker.instance import Network
from cchybrid.checker.reach import out_of_reach
from cchybrid.model import Instance
from cchybrid.referee.distances import hop_distances, message_hops


@dataclass(frozen=True)
class Unreachable:
    """A node that some message cannot reach from another one, and why, in the user's direction.

    In a collective that combines, the source is the node whose part does not arrive.
    """

    message: int
    source: int
    destination: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)

    def __str__(self) -> str:
        return (
            f"node {self.destination} cannot be reached from node {self.source} "
            f"(message {self.message}): {self.reason}"
        )


def unreachable(instance: Instance) -> dict[str, Any] | None:
    """Return evidence that a ``deliver`` instance has no schedule, or ``None`` if it has one."""
    doubtful = _doubtful(instance)
    if not doubtful:
        return None
    network = Network(instance.to_json())
    for message in doubtful:
        missed = out_of_reach(network, message)
        if missed:
            return {"kind": "unreachable", "message": message, "destination": min(missed)}
    return None


def explain(instance: Instance, evidence: Mapping[str, Any]) -> Unreachable:
    """Return what evidence of ``unreachable`` says about the instance that the user asked for."""
    message, destination = evidence["message"], evidence["destination"]
    source = instance.collective.deliver_messages[message].source
    if instance.collective.kind == "combine":
        source, destination = destination, source
    return Unreachable(message, source, destination, _reason(instance, source, destination))


def _reason(instance: Instance, source: int, destination: int) -> str:
    network, model = instance.network, instance.model
    if model.inject_limit(source) == 0:
        return f"node {source} may not inject"
    if model.accept_limit(destination) == 0:
        return f"node {destination} may not accept"
    if hop_distances(replace(network, endpoints=()), [source])[0, destination] < 0:
        return "no path leads there"
    if model.switching == "store-and-forward":
        return "every path passes a node that may not accept and inject"
    return "every path passes an endpoint"


def _doubtful(instance: Instance) -> list[int]:
    """Return the messages with a destination that their source cannot send to by itself."""
    network, model = instance.network, instance.model
    nodes = range(network.nodes)
    takes = [model.accept_limit(node) != 0 for node in nodes]
    sends = [model.inject_limit(node) != 0 for node in nodes]
    if model.switching == "store-and-forward":
        stuck = tuple(node for node in nodes if not (takes[node] and sends[node]))
        network = replace(network, endpoints=stuck)
    messages = instance.collective.deliver_messages
    hops = message_hops(network, messages)
    return [
        index
        for index, (source, goals) in enumerate(messages)
        if not (sends[source] and all(takes[goal] for goal in goals)) or (hops[index] <= 0).any()
    ]
