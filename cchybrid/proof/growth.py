"""Growth bounds: ports and channels limit how many more nodes a message reaches per step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import climb
from cchybrid.referee.distances import message_hops


def growth_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing growth bounds; ``checker.growth`` defines the value.

    Source: thesis section 3.3.1, equation 3.3, with the ports of each node.
    """
    collective, chosen = instance.collective, _candidates(instance)
    # The bound of a message does not depend on the others, and a scatter may have a million.
    messages = tuple(collective.deliver_messages[index] for index in chosen)
    part = replace(instance, collective=replace(collective, messages=messages, chunks=1))
    rows = ({"kind": "growth", "message": place} for place in range(len(chosen)))
    for bound in climb(part, rows):
        yield LowerBound(
            bound.steps, {**bound.evidence, "message": chosen[bound.evidence["message"]]}
        )


def _candidates(instance: Instance) -> list[int]:
    """Return the messages to check: with several destinations, and the one with most hops."""
    messages = instance.collective.deliver_messages
    found = [index for index, message in enumerate(messages) if len(message.destinations) > 1]
    if instance.model.switching == "store-and-forward":
        hops = [
            int(far.max())
            for far in message_hops(replace(instance.network, endpoints=()), messages)
        ]
        found.append(max(range(len(messages)), key=hops.__getitem__))
    return found or [0]
