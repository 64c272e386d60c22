"""The kinds of evidence for a number of steps, each with the function that checks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cchybrid.checker.arborescences import arborescence_steps
from cchybrid.checker.blocks import block_steps
from cchybrid.checker.cut import cut_steps
from cchybrid.checker.cut_over_time import cut_over_time_steps
from cchybrid.checker.exchanges import exchange_steps
from cchybrid.checker.farkas import farkas_steps
from cchybrid.checker.growth import growth_steps
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.nested_sets import nested_set_steps
from cchybrid.checker.prices import price_steps
from cchybrid.checker.refutation import refutation_steps
from cchybrid.checker.regions import region_steps
from cchybrid.checker.step_prices import step_price_steps

KINDS: Mapping[str, Callable[[Network, Mapping[str, Any]], int]] = {
    "growth": growth_steps,
    "cut": cut_steps,
    "cut-over-time": cut_over_time_steps,
    "prices": price_steps,
    "arborescences": arborescence_steps,
    "regions": region_steps,
    "nested-sets": nested_set_steps,
    "step-prices": step_price_steps,
    "blocks": block_steps,
    "farkas": farkas_steps,
    "refutation": refutation_steps,
}
"""The checking functions by kind; each takes a network and evidence of that kind."""


def kind_of(evidence: Any) -> str:
    """Return the kind that evidence of any origin names."""
    kind = evidence.get("kind") if isinstance(evidence, Mapping) else None
    if not isinstance(kind, str):
        raise EvidenceError("the kind of the evidence is missing")
    return kind


def shown_steps(network: Network, evidence: Any) -> int:
    """Return the number of steps that every schedule needs according to the evidence.

    Raises
    ------
    EvidenceError
        The evidence proves nothing.
    """
    kind = kind_of(evidence)
    if network.members:
        return _all_reduce_steps(network, kind, evidence)
    if kind not in KINDS:
        raise EvidenceError(f"no kind of evidence for a number of steps is called {kind[:40]!r}")
    return KINDS[kind](network, evidence)


def _all_reduce_steps(network: Network, kind: str, evidence: Mapping[str, Any]) -> int:
    """Return the steps that evidence of the kinds ``part`` and ``exchanges`` shows.

    Every allreduce contains the broadcasts of each member's own parts, and the reductions to it.
    """
    if kind == "exchanges":
        return exchange_steps(network)
    if kind != "part":
        raise EvidenceError(f"no kind of evidence for an allreduce is called {kind[:40]!r}")
    named = [key for key in ("from", "to") if key in evidence]
    if len(named) != 1 or type(evidence[named[0]]) is not int:
        raise EvidenceError("the member that the evidence is about is missing")
    return shown_steps(network.part(evidence[named[0]], named == ["to"]), evidence.get("evidence"))
