"""Lower bounds of an allreduce: by its number of transfers, and by the collectives it contains.

Every allreduce contains the broadcasts of each member's parts and the reductions to each member, so
every bound for one of them holds. The first three providers take milliseconds and see every member;
the members with the best bounds are then given to all providers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from cchybrid.checker.certificate import own_scope
from cchybrid.checker.instance import Network as CheckedNetwork
from cchybrid.checker.kinds import shown_steps
from cchybrid.model import AllReduction, Instance, LowerBound
from cchybrid.model.errors import InputError
from cchybrid.model.text import error_line
from cchybrid.plugin.records import BoundInfo
from cchybrid.proof import BOUNDS
from cchybrid.proof.reach import explain, unreachable
from cchybrid.proof.records import bounds_of
from cchybrid.proof.search import Outcome, Proof
from cchybrid.system.background import run_in_thread

MAX_PARTS = 64
"""Members whose parts are bounded; of more, those with the fewest channels."""
MAX_BEST = 2
"""Parts that all providers see."""


def allreduce_bounds(
    instance: Instance,
    providers: Iterable[BoundInfo],
    should_stop: Callable[[], bool],
    trouble: Callable[[str], None] = lambda text: None,
) -> Iterator[tuple[str, LowerBound]]:
    """Yield increasing bounds with the name of their provider; the checker has accepted each.

    Parameters
    ----------
    instance
        One whose collective is an ``allreduce``.
    providers
        The bound providers, cheap ones first.
    trouble
        Called with a line for each provider that fails, or whose evidence does not hold; it is not
        asked again.

    Raises
    ------
    InputError
        A member's part cannot reach another member: every number of steps would be a bound.
    """
    refuse_unreachable(instance)
    network = CheckedNetwork(instance.to_json())
    best = 0

    def accepted(evidence: dict[str, Any]) -> LowerBound | None:
        nonlocal best
        steps = shown_steps(network, evidence)
        if steps <= best:
            return None
        best = steps
        return LowerBound(steps, evidence)

    first = accepted({"kind": "exchanges"})
    if first is not None:
        yield "exchanges", first
    providers = sorted(providers, key=lambda info: info.order)
    parts = _chosen_parts(instance)
    reached = dict.fromkeys(parts, 0)
    refused: set[str] = set()

    def bounds(info: BoundInfo, key: tuple[str, int]) -> Iterator[LowerBound | None]:
        if info.name in refused:
            return
        try:
            for bound in bounds_of(info.target, info.rounds, parts[key]):
                reached[key] = max(reached[key], bound.steps)
                yield accepted({"kind": "part", key[0]: key[1], "evidence": bound.evidence})
        except Exception as error:  # whatever a plugin raises
            refused.add(info.name)
            trouble(f"bound {info.name} failed: {error_line(error)}")

    for info in providers[:3]:
        for key in parts:
            if should_stop():
                return
            yield from ((info.name, found) for found in bounds(info, key) if found is not None)
    for key in sorted(parts, key=lambda key: -reached[key])[:MAX_BEST]:
        for info in providers[3:]:
            for found in bounds(info, key):
                if should_stop():
                    return
                if found is not None:
                    yield info.name, found


def find_allreduce_proof(
    instance: Instance,
    record: Mapping[str, Any],
    steps: int,
    seconds: float,
    should_stop: Callable[[], bool],
    report: Callable[[str], None],
) -> Outcome:
    """Search for a proof that no schedule has fewer steps; parameters as in ``find_proof``."""
    deadline = time.monotonic() + seconds
    best: list[tuple[str, LowerBound]] = []
    tried: list[str] = []

    def is_over() -> bool:
        return time.monotonic() > deadline or should_stop()

    def search() -> None:
        for name, bound in allreduce_bounds(instance, BOUNDS, is_over, tried.append):
            best.append((name, bound))
            tried.append(f"{name}: at least {bound.steps}")
            report(tried[-1])
            if bound.steps >= steps:
                return

    interrupted = False
    try:
        if not run_in_thread(search, is_over):
            tried.append("not finished")
    except KeyboardInterrupt:
        interrupted = True
    proof = None
    if best:
        bound = best[-1][1]
        proof = Proof(bound.steps, own_scope(record), bound.evidence)
    return Outcome(proof, None, tuple(tried), interrupted)


def refuse_unreachable(instance: Instance) -> None:
    """Raise an ``InputError`` if a member's part cannot reach another member."""
    messages = cast(tuple[AllReduction, ...], instance.collective.messages)
    # Members that a message's first member reaches, and that reach it, reach each other.
    for part in _parts(instance, sorted({message.members[0] for message in messages})).values():
        evidence = unreachable(part.forward)
        if evidence is not None:
            lost = explain(part, {**evidence})
            name = instance.network.node_name
            raise InputError(
                f"node {name(lost.destination)} cannot be reached from node {name(lost.source)}: "
                f"{lost.reason}",
                where=instance.name,
                hint="use a network in which every member reaches every other",
            )


def _chosen_parts(instance: Instance) -> dict[tuple[str, int], Instance]:
    """Return the parts of all members, or of the ``MAX_PARTS`` with the fewest channels."""
    messages = cast(tuple[AllReduction, ...], instance.collective.messages)
    members = sorted({node for message in messages for node in message.members})
    if len(members) > MAX_PARTS:
        degree = [0] * instance.network.nodes
        for a, b, capacity in instance.network.channels:
            degree[a] += capacity
            degree[b] += capacity
        members = sorted(members, key=lambda node: degree[node])[:MAX_PARTS]
    return _parts(instance, members)


def _parts(instance: Instance, members: Iterable[int]) -> dict[tuple[str, int], Instance]:
    """Return the instances that an allreduce contains, by side and member."""
    return {
        **{("from", node): instance.part_from(node) for node in members},
        **{("to", node): instance.part_to(node) for node in members},
    }
