"""The independent checker of lower bounds: the standard library, exact arithmetic, nothing else.

This package is the trusted base of every ``certified`` verdict. It reads the instance by itself
from its JSON object and shares no code with the layers that find schedules and bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cchybrid.certify.cut import cut_steps
from cchybrid.certify.growth import growth_steps
from cchybrid.certify.instance import EvidenceError, Network
from cchybrid.certify.prices import price_steps
from cchybrid.certify.reach import check_unreachable
from cchybrid.certify.regions import region_steps

__all__ = ["KINDS", "EvidenceError", "proven_steps", "proves_infeasible"]

KINDS: Mapping[str, Callable[[Network, Mapping[str, Any]], int]] = {
    "growth": growth_steps,
    "cut": cut_steps,
    "prices": price_steps,
    "regions": region_steps,
}
"""The kinds of evidence for a number of steps, each with the function that checks it."""


def proven_steps(instance: Mapping[str, Any], evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the evidence proves no schedule can beat.

    Parameters
    ----------
    instance
        A well-formed ``cchybrid-instance/1`` object.
    evidence
        An object with a ``kind`` out of ``KINDS`` and what that kind needs.

    Raises
    ------
    EvidenceError
        If the evidence proves nothing.
    """
    kind = _kind(evidence)
    if kind not in KINDS:
        raise EvidenceError(f"no kind of evidence for a number of steps is called {kind[:40]!r}")
    return KINDS[kind](Network(instance), evidence)


def proves_infeasible(instance: Mapping[str, Any], evidence: Mapping[str, Any]) -> None:
    """Raise ``EvidenceError`` unless the evidence shows that the instance has no schedule."""
    if _kind(evidence) != "unreachable":
        raise EvidenceError("only unreachable destinations make an instance infeasible")
    check_unreachable(Network(instance), evidence)


def _kind(evidence: Any) -> str:
    # Evidence comes out of files, so that it is an object at all is not certain.
    kind = evidence.get("kind") if isinstance(evidence, Mapping) else None
    if not isinstance(kind, str):
        raise EvidenceError("the kind of the evidence is missing")
    return kind
