"""The evidence of a lower bound as a sentence, and the parts of the network that it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from cchybrid.checker.arborescences import arborescence_totals
from cchybrid.checker.cut import cut_limits
from cchybrid.checker.cut_over_time import cut_over_time
from cchybrid.checker.growth import growth_counts
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.instance import Network as CheckedNetwork
from cchybrid.checker.kinds import kind_of, shown_steps
from cchybrid.checker.prices import price_totals
from cchybrid.checker.step_prices import step_price_totals
from cchybrid.model import Instance, LowerBound
from cchybrid.model.errors import InputError

Channel = tuple[int, int]
MAX_COUNTS = 12
"""Numbers of nodes that the sentence of a growth bound lists."""
MAX_NAMES = 6
"""Nodes that a sentence lists by name."""


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
    reader = _Reader(instance, network, bound)
    read: dict[str, Callable[[], BoundPicture]] = {
        "cut": reader.cut,
        "cut-over-time": reader.cut_over_time,
        "growth": reader.growth,
        "regions": reader.regions,
        "nested-sets": reader.nested_sets,
        "prices": reader.prices,
        "arborescences": reader.prices,
        "step-prices": reader.step_prices,
        "blocks": reader.blocks,
        "farkas": reader.farkas,
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

    def cut(self) -> BoundPicture:
        """The messages that must enter a set, over its channels or ports."""
        inside = self.checked.node_set(self.evidence["nodes"])
        limit = max(cut_limits(self.checked, self.evidence), key=lambda limit: limit.steps)
        into = [hop for hop in self.checked.channels if hop[0] not in inside and hop[1] in inside]
        both = bool(self.evidence.get("both", False))
        if both:
            into += [
                hop for hop in self.checked.channels if hop[0] in inside and hop[1] not in inside
            ]
        these = self._nodes(inside)
        messages = _count(limit.messages, "message")
        back = self.checked.backwards
        if both:
            verb = "enters or leaves" if limit.messages == 1 else "enter or leave"
            text = f"{messages} {verb} {these} over links that carry {limit.rate} per step"
        elif limit.kind == "channels":
            verb = "send out" if back else "receive"
            if len(inside) == 1:
                verb = "sends out" if back else "receives"
            over = _count(len(into), "channel")
            if limit.rate != len(into):
                over += f", which {'carries' if len(into) == 1 else 'carry'} {limit.rate} per step"
            text = f"{these} {verb} {messages} over {over}"
        else:
            # In reverse, what is injected outside is accepted there.
            word = {"inject": "injects", "accept": "accepts"}[limit.kind]
            if back:
                word = {"injects": "accepts", "accepts": "injects"}[word]
            verb = "leave" if back else "enter"
            verb += "s" if limit.messages == 1 else ""
            where = "the rest of the network" if limit.kind == "inject" else "the set"
            text = f"{messages} {verb} {these}, and {where} {word} {limit.rate} per step"
        if limit.rate > 0 and -(-limit.messages // limit.rate) < limit.steps:
            # See the module checker.cut.
            late = "leaves it late has to be collected" if back else "enters late has to spread"
            text += f"; what {late} inside, which takes further steps"
        channels = into if limit.kind == "channels" else []
        return self._picture(text, inside, dict.fromkeys(channels, 1.0))

    def cut_over_time(self) -> BoundPicture:
        """The messages that must enter a set, and in which steps they can."""
        inside = self.checked.node_set(self.evidence["nodes"])
        hardest = cut_over_time(self.checked, self.evidence)
        into = [hop for hop in self.checked.channels if hop[0] not in inside and hop[1] in inside]
        rate = self.checked.capacity_into(inside)
        over = _count(len(into), "channel")
        if rate != len(into):
            over += f", which {'carries' if len(into) == 1 else 'carry'} {rate} per step"
        text = (
            f"{self._nodes(inside)} {'receives' if len(inside) == 1 else 'receive'} "
            f"{_count(hardest.messages, 'message')} over {over}"
        )
        if hardest.first > 1:
            text += f"; none can enter before step {hardest.first}"
        if hardest.behind:
            text += f"; the last one has to go {_count(hardest.behind, 'hop')} inside"
        if hardest.spread:
            text += "; what enters late has to spread inside, which takes further steps"
        return self._picture(self._reversed(text), inside, dict.fromkeys(into, 1.0))

    def growth(self) -> BoundPicture:
        """The number of nodes that can hold a message after every step."""
        source, destinations = self.checked.message(self.evidence["message"])
        counts = growth_counts(self.checked, self.evidence)
        shown = [str(count) for count in counts]
        if len(shown) > MAX_COUNTS:
            shown[MAX_COUNTS - 1 : -1] = ["..."]
        goal = 1 + len(destinations)
        if counts[-2] < goal:
            text = (
                f"the message of {self._name(source)} is at {', '.join(shown)} nodes at most after "
                f"0, 1, 2, ... steps, and has to be at {goal}"
            )
        else:
            text = (
                f"the message of {self._name(source)} has a destination {len(counts) - 1} hops away"
            )
        layers: tuple[tuple[int, ...], ...] = ()
        inside = {source}
        if self.checked.hop_by_hop:
            hops = self.checked.hops(source)
            layers = tuple(
                tuple(sorted(node for node, far in hops.items() if far == step))
                for step in range(max(hops.values()) + 1)
            )
            inside = set()
        return self._picture(self._reversed(text), inside, {}, layers)

    def regions(self) -> BoundPicture:
        """Growth on both sides of a cut at the same time."""
        source, _ = self.checked.message(self.evidence["message"])
        inside = self.checked.node_set(self.evidence["nodes"])
        outside = set(range(self.checked.nodes)) - inside
        across = [hop for hop in self.checked.channels if (hop[0] in inside) != (hop[1] in inside)]
        text = (
            f"the message of {self._name(source)} spreads inside and outside "
            f"{self._nodes(inside)}, and only {self.checked.capacity_into(inside)} copies enter "
            f"the set in a step, {self.checked.capacity_into(outside)} leave it"
        )
        return self._picture(self._reversed(text), inside, dict.fromkeys(across, 1.0))

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

    def prices(self) -> BoundPicture:
        """Prices of channels and ports that deliveries or trees pay."""
        trees = self.kind == "arborescences"
        paid, offered = (arborescence_totals if trees else price_totals)(
            self.checked, self.evidence
        )
        payer = (
            "the cheapest trees of all messages"
            if trees
            else "the cheapest routes of all deliveries"
        )
        text = (
            f"each channel or port has a price; {payer} together cost {_times(paid, offered)} "
            "as much as all that a step offers"
        )
        channels = {(a, b): Fraction(price) for a, b, price in self.evidence.get("channels", [])}
        ports = [*self.evidence.get("inject", []), *self.evidence.get("accept", [])]
        inside = {node for node, price in ports if Fraction(price) > 0}
        link = None if trees or inside else self._only_link(channels)
        if link is not None:
            # A route takes it once or not at all, and pays one price or nothing.
            text = self._over_one_link(*link, paid, offered)
        return self._picture(self._marked(text, inside), inside, _relative(channels))

    def _only_link(self, prices: Mapping[Channel, Fraction]) -> Channel | None:
        """Return the channel that alone has a price, or one of a half-duplex pair."""
        hops = {hop for hop, price in prices.items() if price > 0}
        a, b = min(hops)
        shared = (a, b) in self.checked.half_duplex or (b, a) in self.checked.half_duplex
        return (a, b) if hops == {(a, b)} or (shared and hops == {(a, b), (b, a)}) else None

    def _over_one_link(self, a: int, b: int, paid: int, offered: int) -> str:
        """Return in words that many deliveries share one link."""
        capacity = self.checked.channels[a, b]
        count = paid * capacity // offered
        ends = self._name(a), self._name(b)
        if (a, b) in self.checked.half_duplex or (b, a) in self.checked.half_duplex:
            link = f"half-duplex link between {ends[0]} and {ends[1]}"
        else:
            source, target = ends[::-1] if self.checked.backwards else ends
            link = f"channel from {source} to {target}"
        have = "delivery has" if count == 1 else "deliveries have"
        return (
            f"{count} {have} no allowed route without the {link}, which carries {capacity} per step"
        )

    def step_prices(self) -> BoundPicture:
        """Prices that differ from step to step."""
        paid, offered = step_price_totals(self.checked, self.evidence)
        fewer = _count(self.steps - 1, "step")
        text = (
            "each channel or port has a price in every step; the cheapest routes of all messages "
            f"together cost {_times(paid, offered)} as much as {fewer} offer"
        )
        channels: Counter[Channel] = Counter()
        for a, b, first, last, price in self.evidence.get("channels", []):
            channels[a, b] += price * (last - first + 1)
            if (a, b) in self.checked.half_duplex or (b, a) in self.checked.half_duplex:
                channels[b, a] += price * (last - first + 1)
        ports = [*self.evidence.get("inject", []), *self.evidence.get("accept", [])]
        inside = {row[0] for row in ports if row[-1] > 0}
        weights = _relative({hop: Fraction(price) for hop, price in channels.items()})
        return self._picture(self._marked(text, inside), inside, weights)

    def blocks(self) -> BoundPicture:
        """Rows of the linear relaxation between blocks of nodes that contradict each other."""
        blocks = self.evidence["blocks"]
        times: Counter[tuple[int, int]] = Counter()
        for a, b, _, factor in self.evidence["rows"].get("channel", []):
            times[a, b] += factor
        block_of = {node: number for number, nodes in enumerate(blocks) for node in nodes}
        weights = {
            (a, b): Fraction(times[block_of[a], block_of[b]]) for a, b in self.checked.channels
        }
        text = f"with the nodes in {len(blocks)} blocks, {self._contradiction()}"
        return self._picture(text, set(), _relative(weights))

    def _contradiction(self) -> str:
        count = sum(map(len, self.evidence["rows"].values()))
        return (
            f"the linear relaxation of a schedule of {_count(self.steps - 1, 'step')} has no "
            f"solution: {count} of its rows, multiplied and added up, contradict each other"
        )

    def farkas(self) -> BoundPicture:
        """Rows of the linear relaxation that contradict each other."""
        rows = self.evidence["rows"]
        text = self._contradiction()
        channels: Counter[Channel] = Counter()
        for a, b, _, times in rows.get("channel", []):
            channels[a, b] += times
            if (a, b) in self.checked.half_duplex or (b, a) in self.checked.half_duplex:
                channels[b, a] += times
        inside = {row[0] for kind in ("inject", "accept") for row in rows.get(kind, [])}
        weights = _relative({hop: Fraction(times) for hop, times in channels.items()})
        return self._picture(self._marked(text, inside), inside, weights)

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

    def _nodes(self, nodes: set[int]) -> str:
        """Return a set of nodes in words, such as ``these 3 nodes`` or ``node 5``."""
        if len(nodes) == 1:
            return self._name(min(nodes))
        if len(nodes) > MAX_NAMES:
            return f"these {len(nodes)} nodes"
        *others, last = (self.network.node_name(node) for node in sorted(nodes))
        return f"these {len(nodes)} nodes ({', '.join(others)} and {last})"


def _relative(prices: Mapping[Channel, Fraction]) -> dict[Channel, float]:
    """Return positive prices as shares of the highest one."""
    highest = max(prices.values(), default=Fraction(0))
    # A price of a 1e-300th of the highest one must not vanish: it counts.
    return {hop: max(float(price / highest), 1e-6) for hop, price in prices.items() if price > 0}


def _times(paid: int, offered: int) -> str:
    """Return a quotient in words, rounded so that the bound still follows from the text."""
    if paid % offered == 0:
        return f"{paid // offered} times"
    hundredths = 100 * paid // offered
    if hundredths % 100 == 0:
        return f"more than {hundredths // 100} times"
    return f"{hundredths / 100:.2f} times"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
