"""The argument of a lower bound, and the parts of the network that it counts."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.kinds import kind_of, shown_steps
from cchybrid.checker.payments import NEVER
from cchybrid.model import Instance, LowerBound
from cchybrid.model.errors import InputError
from cchybrid.view.argument import argument, payments

Channel = tuple[int, int]


@dataclass(frozen=True)
class BoundPicture:
    """A lower bound in words, and the parts of the network that it counts.

    Parameters
    ----------
    kind
        The kind of the evidence.
    sentence
        The evidence in words, as ``check --explain`` has them.
    inside
        The nodes of the set, or those with a priced port, that the evidence counts.
    channels
        Weights of the channels that it counts, above 0 and at most 1.
    layers
        The nodes that a message can reach in 0, 1, 2, ... steps at the earliest.
    """

    kind: str
    sentence: str
    inside: frozenset[int] = frozenset()
    channels: Mapping[Channel, float] = field(default_factory=dict)
    layers: tuple[tuple[int, ...], ...] = ()


def bound_picture(instance: Instance, bound: LowerBound) -> BoundPicture | None:
    """Return what to draw for a lower bound, or ``None`` if there is nothing to draw.

    Raises
    ------
    InputError
        The evidence does not prove the bound.
    """
    picture = _read(instance, bound)
    if picture is None or not (picture.inside or picture.channels or picture.layers):
        return None
    return picture


def bound_sentence(instance: Instance, bound: LowerBound) -> str:
    """Return the argument of a lower bound; bounds without evidence have a sentence, too.

    Raises
    ------
    InputError
        The evidence does not prove the bound.
    """
    picture = _read(instance, bound)
    if picture is not None:
        return picture.sentence
    if bound.steps == 0:
        return "There is nothing to send."
    if bound.steps == 1:
        return "There is something to send: at least 1 step."
    return f"At least {bound.steps} steps, claimed without evidence."


def _read(instance: Instance, bound: LowerBound) -> BoundPicture | None:
    """Return the picture of a bound with evidence, after a check.

    The checker reads a reduction in reverse, as a broadcast; pictures show the channels in their
    own direction, and the argument says that it is in reverse.
    """
    evidence = bound.evidence
    if not evidence:
        return None
    network = Network(instance.to_json())
    try:
        kind, shown = kind_of(evidence), shown_steps(network, evidence)
    except EvidenceError as error:
        raise InputError(
            f"the evidence of the lower bound does not hold: {error}", where=instance.name
        ) from None
    if shown < bound.steps:
        raise InputError(
            f"the evidence of the lower bound shows {shown} steps, not {bound.steps}",
            where=instance.name,
        )
    sentence = " ".join(argument(network, evidence, instance.network.node_names or ()))
    if kind == "part":
        back = "to" in evidence
        network = network.part(evidence["to" if back else "from"], back)
        evidence = evidence["evidence"]
        kind = kind_of(evidence)
    if kind == "linear":
        return _priced(network, evidence, shown, sentence)
    if kind == "nested-sets":
        return _entered(network, evidence, sentence)
    return BoundPicture(kind, sentence)


def _entered(network: Network, evidence: Mapping[str, Any], sentence: str) -> BoundPicture:
    """Return the sets of nodes, disjoint or nested, and the channels that lead into them."""
    rows = evidence["sets"]
    members: list[set[int]] = [set(row[1:]) for row in rows]
    for number in range(len(rows) - 1, -1, -1):
        if rows[number][0] > 0:
            members[rows[number][0] - 1] |= members[number]
    into = {
        (a, b): 1.0
        for a, b in network.channels
        if any(a not in inside and b in inside for inside in members)
    }
    inside = frozenset().union(*members)
    return BoundPicture("nested-sets", sentence, inside, _as_sent(network, into))


def _priced(
    network: Network, evidence: Mapping[str, Any], steps: int, sentence: str
) -> BoundPicture:
    """Return the channels and ports with a price, or how a message spreads without prices."""
    prices, paid = payments(network, evidence, steps - 1)
    if not prices.offered:
        source = _source(network, evidence, any(each.paid == NEVER for each in paid), steps - 1)
        if source is None:
            return BoundPicture("linear", sentence)
        if not network.hop_by_hop:
            return BoundPicture("linear", sentence, frozenset({source}))
        hops = network.hops(source)
        layers = tuple(
            tuple(sorted(node for node, far in hops.items() if far == step))
            for step in range(max(hops.values()) + 1)
        )
        return BoundPicture("linear", sentence, layers=layers)
    totals: Counter[Channel] = Counter()
    for a, b, *span, price in evidence.get("channels", []):
        length = span[1] - span[0] + 1 if span else steps - 1
        shared = {(a, b), (b, a)} & network.half_duplex
        for hop in {(a, b), (b, a)} if shared else {(a, b)}:
            totals[hop] += price * length
    highest = max(totals.values(), default=0)
    # A price of a 1e-300th of the highest one must not vanish: it counts.
    weights = {hop: max(price / highest, 1e-6) for hop, price in totals.items() if price > 0}
    ports = [*evidence.get("inject", []), *evidence.get("accept", [])]
    inside = frozenset(row[0] for row in ports if row[-1] > 0)
    return BoundPicture("linear", sentence, inside, _as_sent(network, weights))


def _source(network: Network, evidence: Mapping[str, Any], is_far: bool, steps: int) -> int | None:
    """Return the source of the message that is late, or ``None`` if it is not a single one."""
    if not is_far:
        listed = [each.get("messages", []) for each in evidence.get("groups", [])]
        alone = len(listed) == 1 and len(listed[0]) == 1
        return network.message(listed[0][0])[0] if alone else None
    return next(
        source
        for source, goals in network.messages
        if any(network.hops(source).get(goal, steps + 1) > steps for goal in goals)
    )


def _as_sent(network: Network, weights: Mapping[Channel, float]) -> dict[Channel, float]:
    """Return weights by the channels in their own direction."""
    return {(b, a) if network.backwards else (a, b): size for (a, b), size in weights.items()}
