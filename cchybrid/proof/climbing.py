"""From pieces of evidence to ever better bounds: what the checker makes of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cchybrid.checker import KINDS, EvidenceError
from cchybrid.checker.instance import Network
from cchybrid.model import Instance, LowerBound


def climb(instance: Instance, evidence: Iterable[Mapping[str, Any]]) -> Iterator[LowerBound]:
    """Yield the bounds of those pieces of evidence that better all before them.

    The instance is read by the checker once; the host checks every bound again by itself.
    """
    network = Network(instance.to_json())
    best = 0
    for piece in evidence:
        try:
            steps = KINDS[piece["kind"]](network, piece)
        except EvidenceError:
            continue
        if steps > best:
            best = steps
            yield LowerBound(steps, dict(piece))
