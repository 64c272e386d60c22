"""Linear: all messages together pay more than all steps offer.

Theorem. Give every channel and port a price in every step. In a valid schedule of T steps, each
transfer uses capacity of its own, so all messages pay, over all steps, at most the sum of capacity
times price. If together they pay more than that (``payments`` has what a message pays at least),
there is no schedule of T steps, nor of fewer, which would leave steps empty.

In ticks a transfer pays the prices of the ticks in which it begins to use channels and ports, and
what these offer is in ``prices``; messages pay for sets or their routes.

In time slots a message uses a channel some slots after its start, maybe in the next period, and is
forwarded in any slot, so the prices have to be the same in all steps, and messages pay for sets or
their routes, which the tree of their transfers has in any order of the slots.

If the messages are cut into C equal chunks, and a step of r rounds carries r times the capacity,
every chunk pays as much, and all steps offer at most the number of all rounds times the largest sum
of capacity times price in a step. So the rounds per chunk are at least what the messages pay over
that offer; for any number of steps if the prices are the same in all of them.

What pays more than is offered depends on the prices alone, so their origin is irrelevant.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from cchybrid.checker.features import require
from cchybrid.checker.instance import MAKE_ANEW, EvidenceError, Network
from cchybrid.checker.payments import NEVER, Amount, Spread, paid_for_routes, paid_for_sets
from cchybrid.checker.prices import MAX_STEPS, Prices
from cchybrid.checker.reading import list_of, only

_TABLES = ("kind", "channels", "inject", "accept", "groups")


def linear_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the field ``steps`` of the evidence, if one step less is not enough.

    ``groups`` lists messages that pay for sets or by the worth of their destinations; all others
    pay for their routes.
    """
    shown = evidence.get("steps")
    only(evidence, *_TABLES, "steps")
    if type(shown) is not int or not 1 <= shown <= MAX_STEPS:
        raise EvidenceError("the evidence is not well-formed")
    prices = Prices(network, evidence, shown - 1)
    paid = sum(part[2] for part in group_payments(network, evidence, prices, any_rounds=False))
    if paid <= prices.offered:
        raise EvidenceError(f"the prices do not rule out {shown - 1} steps")
    return shown


def linear_rounds(network: Network, evidence: Any, steps: int | None) -> Fraction:
    """Return the rounds per chunk that all schedules of at most ``steps`` steps need.

    With ``None`` for any number of steps.
    """
    require(network, "rounds per chunk" if steps is not None else "throughput")
    if not isinstance(evidence, Mapping) or evidence.get("kind") != "linear":
        raise EvidenceError(f"evidence about rounds is of the kind linear; {MAKE_ANEW}")
    only(evidence, *_TABLES)
    prices = Prices(network, evidence, steps)
    paid = sum(part[2] for part in group_payments(network, evidence, prices, any_rounds=True))
    if paid == NEVER or paid <= 0 or prices.max_offer == 0:
        raise EvidenceError("the evidence shows no number of rounds")
    return Fraction(int(paid), prices.max_offer)


def group_payments(
    network: Network, evidence: Mapping[str, Any], prices: Prices, any_rounds: bool
) -> Iterator[tuple[Mapping[str, Any], list[int], Amount]]:
    """Yield every group, its messages, and their least payment; an empty group for the others.

    A payment is infinite if no schedule has so few steps.
    """
    left = set(range(len(network.messages)))
    for group, messages in read_groups(network, evidence.get("groups", [])):
        left.difference_update(messages)
        if "sets" in group:
            yield group, messages, paid_for_sets(network, prices, group["sets"], messages)
        else:
            if network.times:
                raise EvidenceError("the worth of destinations: not proved for times")
            yield group, messages, Spread(network, prices, group, any_rounds).paid(messages)
    yield {}, sorted(left), paid_for_routes(network, prices, sorted(left))


def read_groups(network: Network, groups: Any) -> Iterator[tuple[Mapping[str, Any], list[int]]]:
    """Yield the groups of evidence, each with its messages; a message is in one group at most."""
    free = set(range(len(network.messages)))
    for group in list_of(groups):
        keys = set(group) - {"messages"} if isinstance(group, dict) else set()
        if keys != {"sets"} and not {"worth"} <= keys <= {"worth", "once", "blocks"}:
            raise EvidenceError("a group of messages has the wrong form")
        chosen = list_of(group["messages"]) if "messages" in group else sorted(free)
        for message in chosen:
            network.message(message)
            if message not in free:
                raise EvidenceError("a message is in two groups")
            free.remove(message)
        yield group, chosen
