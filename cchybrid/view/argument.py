"""The argument of a piece of evidence in sentences, with the numbers that the checker computes."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from cchybrid.checker.certificate import ANY_ROUTING, without_parts
from cchybrid.checker.clauses import Formula
from cchybrid.checker.instance import Network
from cchybrid.checker.kinds import kind_of, shown_steps
from cchybrid.checker.linear import group_payments
from cchybrid.checker.payments import NEVER, Amount
from cchybrid.checker.prices import Prices
from cchybrid.checker.refutation import proof_lines
from cchybrid.model.shown import counted
from cchybrid.model.text import printable

_MAX_PRICES = 8
"""Prices of channels that are shown."""


class Payment(NamedTuple):
    """The least payment of some messages, by worth, for a number of sets, or for routes.

    ``value`` is the worth of all destinations, without those in the block of their source.
    """

    messages: int
    value: int | None
    paid: Amount
    sets: int = 0
    blocks: bool = False
    once: bool = False


def payments(
    network: Network, evidence: Mapping[str, Any], steps: int | None, any_rounds: bool = False
) -> tuple[Prices, list[Payment]]:
    """Return the prices of evidence of the kind ``linear``, and what its messages pay at them."""
    prices = Prices(network, evidence, steps)
    found = []
    for group, messages, paid in group_payments(network, evidence, prices, any_rounds):
        values, blocks = dict(group.get("worth", [])), group.get("blocks", [])
        block_of = {node: number for number, nodes in enumerate(blocks) for node in nodes}
        goals = (
            goal
            for source, ends in (network.messages[message] for message in messages)
            for goal in ends
            if source not in block_of or block_of[source] != block_of.get(goal)
        )
        value = sum(values.get(goal, 0) for goal in goals) if "worth" in group else None
        if messages or group:
            sets, charged = len(group.get("sets", [])), bool(group.get("once"))
            found.append(Payment(len(messages), value, paid, sets, bool(blocks), charged))
    return prices, found


def explain(instance: Any, record: Mapping[str, Any]) -> list[str]:
    """Return the argument of a certificate about an instance; the checker has accepted it."""
    claim, evidence = record["claim"], record["evidence"]
    names = instance["network"].get("node_names") or ()
    rounds = "rounds_per_chunk" in claim
    network = Network(without_parts(instance) if rounds else instance)
    if claim.get("scope") == ANY_ROUTING:
        network = network.with_any_routing()
    if rounds:
        lines = rounds_argument(network, evidence, claim["steps"])
    else:
        lines = argument(network, evidence, names)
    rows = [row for row in evidence.get("evidence", evidence).get("channels", []) if row[-1]]
    first = sorted(rows, key=lambda row: -row[-1])[:_MAX_PRICES]
    prices = f"The highest prices of channels: {', '.join(_price(row, names) for row in first)}."
    return [*lines[:-1], *[prices] * bool(rows), lines[-1]]


def _price(row: Sequence[int], names: Sequence[str]) -> str:
    a, b, *steps, price = row
    when = f" in steps {steps[0]} to {steps[1]}" if steps else ""
    return f"{_name(a, names)}->{_name(b, names)} ({price}{when})"


def _direction(network: Network) -> list[str]:
    """Return a line for a reduction, which the checker reads as a broadcast."""
    if not network.backwards:
        return []
    return [
        "Read backwards, on reversed channels, a reduction is a broadcast from its destination."
    ]


def argument(network: Network, evidence: Mapping[str, Any], names: Sequence[str] = ()) -> list[str]:
    """Return the argument that a number of steps is needed; the checker has accepted it.

    ``names`` are those of the nodes, if they have some.
    """
    return [*_direction(network), *_of_steps(network, evidence, names)]


def _of_steps(network: Network, evidence: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    kind, steps = kind_of(evidence), shown_steps(network, evidence)
    if kind == "part":
        back = "to" in evidence
        member = evidence["to" if back else "from"]
        part, node = network.part(member, back), _name(member, names)
        ends = f"all parts that node {node} needs reach it"
        if not back:
            ends = f"the part of node {node} reaches all that need it"
        first = f"Every schedule of the {network.kind} contains transfers by which {ends}."
        return [first, *argument(part, evidence["evidence"], names)]
    if kind == "exchanges":
        transfers = sum(2 * (len(members) - 1) for members in network.members)
        return [
            f"A message with n members takes at least 2(n - 1) transfers, {transfers} in all.",
            f"Channels and ports carry fewer in {counted(steps - 1, 'step')}: at least "
            f"{counted(steps, 'step')} {_are(steps)} needed.",
        ]
    if kind == "nested-sets":
        return _nested_sets(network, evidence, steps, names)
    if kind == "refutation":
        return _refutation(network, evidence, steps)
    prices, paid = payments(network, evidence, steps - 1)
    total = sum(each.paid for each in paid)
    needed = f"at least {counted(steps, 'step')} {_are(steps)} needed"
    return [
        f"Suppose that {counted(steps - 1, 'step')} {_are(steps - 1)} enough.",
        _prices(evidence, f"{prices.offered} in all these steps"),
        *map(_paid, paid),
        f"So {needed}."
        if total == NEVER
        else f"Together that is {total}, more than {prices.offered}: {needed}.",
    ]


def rounds_argument(network: Network, evidence: Mapping[str, Any], steps: int | None) -> list[str]:
    """Return the argument that rounds per chunk are needed in at most ``steps`` steps."""
    prices, paid = payments(network, evidence, steps, any_rounds=True)
    total = sum(int(each.paid) for each in paid)
    within = "any number of steps" if steps is None else f"at most {counted(steps, 'step')}"
    return [
        *_direction(network),
        f"Let the messages be cut into equal chunks and take {within}.",
        _prices(evidence, f"at most {prices.max_offer} in one round"),
        *map(_paid, paid),
        f"So all chunks need {total}/{prices.max_offer} rounds per chunk: at least "
        f"{Fraction(total, prices.max_offer)}.",
    ]


def _prices(evidence: Mapping[str, Any], offered: str) -> str:
    counts = {
        noun: len({tuple(row[:ends]) for row in evidence.get(key, []) if row[-1]})
        for key, ends, noun in (
            ("channels", 2, "channel"),
            ("inject", 1, "injection port"),
            ("accept", 1, "acceptance port"),
        )
    }
    priced = [counted(number, noun) for noun, number in counts.items() if number]
    if not priced:
        return "No channel and no port has a price."
    verb = "has" if sum(counts.values()) == 1 else "have"
    return f"{' and '.join(priced)} {verb} a price; the sum of capacity times price is {offered}."


def _paid(payment: Payment) -> str:
    who = f"{counted(payment.messages, 'message')} {'pays' if payment.messages == 1 else 'pay'}"
    if payment.paid == NEVER:
        among = "1 message" if payment.messages == 1 else f"Among {payment.messages:,} messages"
        return f"{among}: a destination is out of reach of these steps."
    if payment.sets:
        return f"{who} for entering {counted(payment.sets, 'set')} of nodes: {payment.paid} in all."
    if payment.value is None:
        return (
            f"{who} at least for the cheapest route to the most expensive destination: "
            f"{payment.paid} in all."
        )
    outside = " outside the blocks of their sources" if payment.blocks else ""
    charges = " and the largest charges of the receivers" if payment.once else ""
    return (
        f"{who} at least the worth of all destinations{outside}, {payment.value}, without what the "
        f"sources can gain{charges}: {payment.paid} in all."
    )


def _nested_sets(
    network: Network, evidence: Mapping[str, Any], steps: int, names: Sequence[str]
) -> list[str]:
    source, goals = network.message(evidence["message"])
    return [
        f"Message {evidence['message']} goes from node {_name(source, names)} to "
        f"{counted(len(goals), 'destination')}; {counted(len(evidence['sets']), 'set')} of nodes, "
        "disjoint or one inside the other, do not contain its source.",
        "In the first step in which it enters a set, it reaches at most as many of the nodes and "
        "sets inside as the channels into it carry; those that are reached later take further "
        "steps.",
        f"Added up from the inner sets to the outer ones: at least {counted(steps, 'step')}.",
    ]


def _refutation(network: Network, evidence: Mapping[str, Any], steps: int) -> list[str]:
    formula = Formula(network, steps - 1, evidence.get("order", []))
    lines = sum(1 for _ in proof_lines(evidence["proof"]))
    return [
        f"A propositional formula of {counted(len(formula.number), 'variable')} and "
        f"{counted(len(formula.clauses), 'clause')} says that there is a schedule of "
        f"{counted(steps - 1, 'step')}; the checker makes it from the instance.",
        f"A proof of {counted(lines, 'line')} derives a contradiction from it, line by line, by "
        f"unit propagation: at least {counted(steps, 'step')} {_are(steps)} needed.",
    ]


def _name(node: int, names: Sequence[str]) -> str:
    return printable(names[node]) if names else str(node)


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
