"""Lower bounds for audits: every provider in turn, in this process, until the bound is met."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.host.allreduce_bounds import allreduce_bounds
from cchybrid.model import Instance, LowerBound
from cchybrid.plugin.records import BoundInfo
from cchybrid.problem import count_deliveries
from cchybrid.proof.records import bounds_of
from cchybrid.system.background import iterate_in_thread

MAX_WAIT_FACTOR = 20
"""Wall-clock seconds for each second of processor time, on a machine that others use, too."""

MAX_PROGRAM_DELIVERIES = 10_000
"""Deliveries up to which linear programs, which cannot be ended early, are solved for bounds."""
PROGRAMS = ("prices", "flow-cut", "step-prices", "blocks", "farkas")
"""Providers that solve linear programs."""


class FoundBound(NamedTuple):
    """A lower bound that the checker has accepted, and the kind of its evidence; 0 for none."""

    steps: int
    kind: str


def best_bound(
    instance: Instance,
    providers: list[BoundInfo],
    seconds: float,
    enough: int | None = None,
    stop: Callable[[], object] | None = None,
) -> FoundBound:
    """Return the best lower bound on the steps of an instance.

    Parameters
    ----------
    instance
        The instance, with its rounds.
    providers
        The bound providers; cheap ones go first.
    seconds
        Seconds of processor time, so that the result depends little on what else is running.
    enough
        Stop at this bound, which a schedule attains.
    stop
        A true value ends the search.
    """
    ends = time.process_time() + seconds
    latest = time.monotonic() + MAX_WAIT_FACTOR * seconds

    def is_over() -> bool:
        late = time.process_time() > ends or time.monotonic() > latest
        return late or (stop is not None and bool(stop()))

    best = FoundBound(0, "")
    record = instance.to_json()
    for bound in iterate_in_thread(_bounds(instance, providers, is_over), is_over):
        try:
            steps = proven_steps(record, bound.evidence)
        except EvidenceError:
            continue
        if steps > best.steps:
            best = FoundBound(steps, str(bound.evidence.get("kind", "")))
        if enough is not None and best.steps >= enough:
            break
    return best


def _bounds(
    instance: Instance, providers: list[BoundInfo], is_over: Callable[[], bool]
) -> Iterator[LowerBound]:
    if instance.collective.kind == "allreduce":
        yield from (bound for _, bound in allreduce_bounds(instance, providers, is_over))
        return
    deliveries = count_deliveries(instance)
    for info in sorted(providers, key=lambda info: info.order):
        if is_over():
            return
        if deliveries > MAX_PROGRAM_DELIVERIES and info.name in PROGRAMS:
            continue
        yield from bounds_of(info.target, info.rounds, instance)
