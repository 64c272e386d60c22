"""Parts of an allreduce or a scan: the broadcasts and reductions that each schedule contains.

Every schedule has the broadcasts of each member's parts and the reductions to each member, of a
scan those of the parts that members need, so every bound for one of them holds for the whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from cchybrid.checker import Network
from cchybrid.checker.kinds import shown_steps
from cchybrid.model import Instance, LowerBound
from cchybrid.model.errors import InputError
from cchybrid.proof.growth import growth_bounds
from cchybrid.proof.reach import unreachable

MAX_MEMBERS = 64
"""Members whose parts are bounded; of more, those with the fewest channels."""
MAX_BEST = 2
"""Parts about which the providers are asked that are not of low effort."""

Part = tuple[str, int]
"""``("from", member)`` or ``("to", member)``."""


def exchange_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield the bound of the number of transfers that an allreduce needs; none of other kinds."""
    if instance.collective.kind == "allreduce":
        evidence = {"kind": "exchanges"}
        yield LowerBound(shown_steps(Network(instance.to_json()), evidence), evidence)


def infeasibility(instance: Instance) -> dict[str, Any] | None:
    """Return evidence that an instance has no schedule, or ``None`` if it has one."""
    if not instance.collective.with_sums:
        return unreachable(instance.forward)
    members = _members(instance)
    if instance.collective.kind == "allreduce":
        # Members that a message's first member reaches, and that reach it, reach each other.
        members = sorted({message.source for message in instance.collective.deliver_messages})
    for part, own in _parts(instance, members).items():
        evidence = unreachable(own.forward)
        if evidence is not None:
            return evidence_of(part, evidence)
    return None


@lru_cache(maxsize=4)
def chosen_parts(instance: Instance) -> Mapping[Part, Instance]:
    """Return the parts of the members with the fewest channels, at most ``MAX_MEMBERS``."""
    degree = [0] * instance.network.nodes
    for a, b, capacity in instance.network.channels:
        degree[a] += capacity
        degree[b] += capacity
    members = sorted(_members(instance), key=lambda node: degree[node])
    return _parts(instance, members[:MAX_MEMBERS])


@lru_cache(maxsize=4)
def best_parts(instance: Instance) -> Mapping[Part, Instance]:
    """Return the chosen parts that take longest by ``growth``."""
    parts = chosen_parts(instance)
    reached = {
        part: max((bound.steps for bound in growth_bounds(own.forward.widest)), default=0)
        for part, own in parts.items()
    }
    return {part: parts[part] for part in sorted(parts, key=lambda part: -reached[part])[:MAX_BEST]}


def evidence_of(part: Part, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the evidence about an allreduce or a scan that is evidence about a part of it."""
    side, member = part
    return {"kind": "part", side: member, "evidence": evidence}


def _parts(instance: Instance, members: Iterable[int]) -> dict[Part, Instance]:
    """Return the instances that an allreduce or a scan contains, by side and member."""
    found: dict[Part, Instance] = {}
    for side, part in (("from", instance.part_from), ("to", instance.part_to)):
        for node in members:
            with suppress(InputError):  # of a scan, some members have no such part
                found[side, node] = part(node)
    return found


def _members(instance: Instance) -> list[int]:
    messages = instance.collective.deliver_messages
    return sorted({node for one, many in messages for node in (one, *many)})
