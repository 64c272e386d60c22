"""The evidence of a lower bound as a sentence, and the parts of the network that it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.instance import Network as CheckedNetwork
from cchybrid.checker.kinds import kind_of, shown_steps
from cchybrid.checker.payments import NEVER
from cchybrid.model import Instance, LowerBound
from cchybrid.model.errors import InputError
from cchybrid.view.argument import payments

Channel = tuple[int, int]


@dataclass(frozen=True)
class BoundPicture:
    """A lower bound in words, and the parts of the network that it counts.

    Parameters
    ----------
    kind
        The kind of the evidence.
    steps
        The bound.
    sentence
        The evidence in words, with the names of nodes.
    inside
        The nodes of the set, or those with a priced port, that the evidence counts.
    channels
        Weights of the channels that it counts, above 0 and at most 1.
    layers
        The nodes that a message can reach in 0, 1, 2, ... steps at the earliest.
    """

    kind: str
    steps: int
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
    """Return the evidence of a lower bound as a sentence; bounds without evidence have one, too.

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
    """Return the picture of a bound with evidence, after a check."""
    if not bound.evidence:
        return None
    network = CheckedNetwork(instance.to_json())
    try:
        kind = kind_of(bound.evidence)
        shown = shown_steps(network, bound.evidence)
    except EvidenceError as error:
        raise InputError(
            f"the evidence of the lower bound does not hold: {error}", where=instance.name
        ) from None
    if shown < bound.steps:
        raise InputError(
            f"the evidence of the lower bound shows {shown} steps, not {bound.steps}",
            where=instance.name,
        )
    if kind == "part":
        return _part_picture(instance, bound)
    # The evidence may show more than the bound says, and its numbers are for what it shows.
    reader = _Reader(instance, network, LowerBound(shown, bound.evidence))
    read: dict[str, Callable[[], BoundPicture]] = {
        "linear": reader.linear,
        "nested-sets": reader.nested_sets,
        "refutation": reader.refutation,
        "exchanges": reader.exchanges,
    }
    return read[kind]()


def _part_picture(instance: Instance, bound: LowerBound) -> BoundPicture | None:
    """Return the picture of a bound that a part of an allreduce shows."""
    back = "to" in bound.evidence
    node = bound.evidence["to" if back else "from"]
    part = instance.part_to(node) if back else instance.part_from(node)
    picture = _read(part, LowerBound(bound.steps, bound.evidence["evidence"]))
    if picture is None:
        return None
    name = instance.network.node_name(node)
    what = f"all parts reach node {name}" if back else f"the parts of node {name} reach all others"
    return replace(picture, sentence=f"Before {what}: {picture.sentence}")


class _Reader:
    """The picture and the words for each kind of evidence.

    The checker reads a reduction in reverse, as a broadcast; pictures show the channels in their
    own direction, and sentences say ``in reverse``.
    """

    def __init__(self, instance: Instance, network: CheckedNetwork, bound: LowerBound) -> None:
        self.network, self.checked = instance.network, network
        self.evidence, self.steps = bound.evidence, bound.steps
        self.kind = kind_of(bound.evidence)

    def exchanges(self) -> BoundPicture:
        """The transfers that every allreduce needs."""
        transfers = sum(2 * (len(members) - 1) for members in self.checked.members)
        sentence = f"An allreduce takes at least {transfers} transfers"
        return BoundPicture(self.kind, self.steps, f"{sentence}: {_count(self.steps, 'step')}.")

    def nested_sets(self) -> BoundPicture:
        """Sets of nodes, disjoint or nested, which few channels lead into."""
        source, _ = self.checked.message(self.evidence["message"])
        rows = self.evidence["sets"]
        members: list[set[int]] = [set(row[1:]) for row in rows]
        for number in range(len(rows) - 1, -1, -1):
            if rows[number][0] > 0:
                members[rows[number][0] - 1] |= members[number]
        into = {
            (a, b)
            for a, b in self.checked.channels
            if any(a not in inside and b in inside for inside in members)
        }
        text = (
            f"few channels lead into each of {_count(len(rows), 'set')} of nodes, disjoint or one "
            f"inside the other, and the message of {self._name(source)} has to reach them all"
        )
        inside = set().union(*members)
        return self._picture(self._reversed(text), inside, dict.fromkeys(sorted(into), 1.0))

    def linear(self) -> BoundPicture:
        """Prices of channels and ports that all messages pay."""
        fewer = self.steps - 1
        prices, paid = payments(self.checked, self.evidence, fewer)
        channels: Counter[Channel] = Counter()
        for a, b, *steps, price in self.evidence.get("channels", []):
            length = steps[1] - steps[0] + 1 if steps else fewer
            for hop in {(a, b), (b, a)} if self._shared(a, b) else {(a, b)}:
                channels[hop] += price * length
        ports = [*self.evidence.get("inject", []), *self.evidence.get("accept", [])]
        inside = {row[0] for row in ports if row[-1] > 0}
        layers: tuple[tuple[int, ...], ...] = ()
        sender = "a message"
        total = sum(each.paid for each in paid)
        source = self._spreading() if total != NEVER else self._far(fewer)
        if source is not None and not prices.offered:
            sender = f"the message of {self._name(source)}"
            if self.checked.hop_by_hop:
                layers = self._layers(source)
            else:
                inside = {source}
        if total == NEVER:
            text = f"a destination of {sender} cannot be reached within {_count(fewer, 'step')}"
        elif not prices.offered:
            text = f"{sender} cannot be at all its destinations after {_count(fewer, 'step')}"
        else:
            text = (
                f"at the prices of these channels and ports, {_count(fewer, 'step')} "
                f"{'offers' if fewer == 1 else 'offer'} {prices.offered}, and all messages "
                f"together pay at least {total}"
            )
        weights = _relative({hop: Fraction(price) for hop, price in channels.items()})
        marked = self._marked(text, inside) if prices.offered else text
        return self._picture(self._reversed(marked), inside, weights, layers)

    def _spreading(self) -> int | None:
        """Return the source of the message that the evidence is about, if that is a single one."""
        groups = [each.get("messages", []) for each in self.evidence.get("groups", [])]
        if len(groups) != 1 or len(groups[0]) != 1:
            return None
        return self.checked.message(groups[0][0])[0]

    def _far(self, steps: int) -> int | None:
        """Return the source of a message with a destination that is more than ``steps`` away."""
        for source, goals in self.checked.messages:
            hops = self.checked.hops(source)
            if any(hops.get(goal, steps + 1) > steps for goal in goals):
                return source
        return None

    def _layers(self, source: int) -> tuple[tuple[int, ...], ...]:
        hops = self.checked.hops(source)
        return tuple(
            tuple(sorted(node for node, far in hops.items() if far == step))
            for step in range(max(hops.values()) + 1)
        )

    def _shared(self, a: int, b: int) -> bool:
        return (a, b) in self.checked.half_duplex or (b, a) in self.checked.half_duplex

    def refutation(self) -> BoundPicture:
        """A propositional proof, which has no place in the network."""
        fewer = _count(self.steps - 1, "step")
        text = (
            f"a formula says that there is a schedule of {fewer}; a proof refutes it line by line"
        )
        return self._picture(text, set(), {})

    def _picture(
        self,
        text: str,
        inside: Iterable[int],
        channels: Mapping[Channel, float],
        layers: tuple[tuple[int, ...], ...] = (),
    ) -> BoundPicture:
        sentence = f"{text[0].upper()}{text[1:]}: at least {_count(self.steps, 'step')}."
        if self.checked.backwards:
            channels = {(b, a): weight for (a, b), weight in channels.items()}
        return BoundPicture(
            self.kind, self.steps, sentence, frozenset(inside), dict(channels), layers
        )

    def _reversed(self, text: str) -> str:
        return f"in reverse, as a broadcast, {text}" if self.checked.backwards else text

    def _marked(self, text: str, inside: set[int]) -> str:
        return f"{text} (priced ports at the marked nodes)" if inside else text

    def _name(self, node: int) -> str:
        # Not the name alone: at the beginning of a sentence it would get a capital letter.
        return f"node {self.network.node_name(node)}"


def _relative(prices: Mapping[Channel, Fraction]) -> dict[Channel, float]:
    """Return positive prices as shares of the highest one."""
    highest = max(prices.values(), default=Fraction(0))
    # A price of a 1e-300th of the highest one must not vanish: it counts.
    return {hop: max(float(price / highest), 1e-6) for hop, price in prices.items() if price > 0}


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
