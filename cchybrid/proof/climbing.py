"""Conversion of evidence to an increasing sequence of bounds, by the checker."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.kinds import shown_steps
from cchybrid.model import Instance, LowerBound


def climb(
    instance: Instance, evidence: Iterable[Mapping[str, Any]], *, exact: bool = False
) -> Iterator[LowerBound]:
    """Yield the bound of each piece of evidence that improves on all before it.

    A piece that names its ``steps`` is checked only if these are more, by the host again; with
    ``exact``, of pieces that are sure to show these steps, by the host alone.
    """
    best = 0
    for piece in evidence:
        if piece.get("steps", best + 1) <= best:
            continue
        try:
            steps = piece["steps"] if exact else shown_steps(network_of(instance), piece)
        except EvidenceError:
            continue
        if steps > best:
            best = steps
            yield LowerBound(steps, dict(piece))


def refute_ever_more(
    instance: Instance, known: int, refute: Callable[[int], Mapping[str, Any] | None]
) -> Iterator[LowerBound]:
    """Yield the bounds of refutations of ``known`` steps and more, until one fails.

    It ends at one step per delivery, which no optimum exceeds: without a schedule at all, larger
    and larger numbers of steps could be refuted for ever.

    Parameters
    ----------
    refute
        Returns evidence that no schedule has at most this number of steps, or ``None``.
    """
    hop_by_hop = instance.model.hop_by_hop
    max_steps = sum(
        instance.network.nodes if hop_by_hop else len(message.destinations)
        for message in instance.collective.deliver_messages
    )
    for steps in range(known, max_steps):
        evidence = refute(steps)
        if evidence is None:
            return
        yield from climb(instance, [evidence])


@lru_cache(maxsize=1)
def network_of(instance: Instance) -> Network:
    """Return the instance as the checker reads it: seconds for a million messages."""
    return Network(instance.to_json())
