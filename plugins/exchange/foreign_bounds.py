"""Lower bounds for audits: every provider in turn, in this process, until the bound is met."""

import time
from functools import partial
from typing import NamedTuple

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Instance
from cchybrid.plugin.records import BoundInfo
from cchybrid.proof.provider_process import ask_apart

MAX_WAIT_FACTOR = 20
"""Wall-clock seconds for each second of processor time, on a machine that others use, too."""

MAX_PROGRAM_DELIVERIES = 10_000
"""Deliveries up to which providers of high effort, which cannot be ended early, are asked."""


class FoundBound(NamedTuple):
    """A lower bound that the checker has accepted, and the kind of its evidence; 0 for none.

    ``troubles`` has a line for each provider that failed.
    """

    steps: int
    kind: str
    troubles: tuple[str, ...] = ()


def best_bound(
    instance: Instance, providers: list[BoundInfo], seconds: float, enough: int | None = None
) -> FoundBound:
    """Return the best lower bound on the steps of an instance.

    Parameters
    ----------
    instance
        The instance, with its rounds.
    providers
        The bound providers, in the order in which they are asked.
    seconds
        Seconds of processor time, so that the result depends little on what else is running; in
        wall-clock time for a provider that runs in its own process.
    enough
        Stop at this bound, which a schedule attains.
    """
    ends = time.process_time() + seconds
    latest = time.monotonic() + MAX_WAIT_FACTOR * seconds

    def is_over(until: float) -> bool:
        return time.process_time() > ends or time.monotonic() > until

    best = FoundBound(0, "")
    troubles: list[str] = []
    record = instance.to_json()
    deliveries = sum(len(each.destinations) for each in instance.collective.deliver_messages)
    for info in providers:
        if info.effort == "high" and deliveries > MAX_PROGRAM_DELIVERIES:
            continue
        until = min(latest, time.monotonic() + seconds) if info.own_worker else latest
        for bound in ask_apart(info, instance, partial(is_over, until), troubles.append):
            try:
                steps = proven_steps(record, bound.evidence)
            except EvidenceError as error:
                troubles.append(f"bound {info.name}: evidence refused: {error}")
                break
            if steps > best.steps:
                best = FoundBound(steps, str(bound.evidence["kind"]))
            if enough is not None and best.steps >= enough:
                return best._replace(troubles=tuple(troubles))
    return best._replace(troubles=tuple(troubles))
