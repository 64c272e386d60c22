"""Growth bounds: one per message that has to spread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import climb
from cchybrid.referee.distances import message_hops


def growth_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield ever better growth bounds (thesis, equation 3.3, with every node's own ports).

    Source: thesis section 3.3.1; the checker in ``certify`` defines the value.
    """
    yield from climb(
        instance, ({"kind": "growth", "message": message} for message in _candidates(instance))
    )


def _candidates(instance: Instance) -> list[int]:
    """Return the messages worth checking: those that spread, and the one that travels farthest."""
    messages = instance.collective.deliver_messages
    found = [index for index, message in enumerate(messages) if len(message.destinations) > 1]
    if instance.model.switching == "store-and-forward":
        hops = [
            int(far.max())
            for far in message_hops(replace(instance.network, endpoints=()), messages)
        ]
        found.append(max(range(len(messages)), key=hops.__getitem__))
    return found or [0]
