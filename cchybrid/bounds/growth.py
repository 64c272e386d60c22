"""Growth bounds: one per message that has to spread."""

from __future__ import annotations

from collections.abc import Iterator

from cchybrid.certify.growth import growth_steps
from cchybrid.certify.instance import Network
from cchybrid.distances import hop_distances
from cchybrid.model import Instance, LowerBound


def growth_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield ever better growth bounds (thesis, equation 3.3, with every node's own ports).

    Source: thesis section 3.3.1; the checker in ``certify`` defines the value.
    """
    network = Network(instance.to_json())
    best = 0
    for message in _candidates(instance):
        evidence = {"kind": "growth", "message": message}
        steps = growth_steps(network, evidence)
        if steps > best:
            best = steps
            yield LowerBound(steps, evidence)


def _candidates(instance: Instance) -> list[int]:
    """Return the messages worth checking: those that spread, else one that travels farthest."""
    messages = instance.collective.deliver_messages
    spreading = [index for index, message in enumerate(messages) if len(message.destinations) > 1]
    if spreading:
        return spreading
    if instance.model.switching == "wormhole":
        return [0]
    sources = sorted({message.source for message in messages})
    row = {source: place for place, source in enumerate(sources)}
    distance = hop_distances(instance.network, sources)
    hops = [int(distance[row[source], goal]) for source, (goal,) in messages]
    return [max(range(len(messages)), key=hops.__getitem__)]
