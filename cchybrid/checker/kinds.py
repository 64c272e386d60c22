"""The kinds of evidence: for a number of steps, for rounds per chunk, and for sums.

Theorem (``part``). Every allreduce contains, for each member, a broadcast of its part to the other
members and, read backwards, a reduction of theirs to it; a bound for one of these is one for all,
and if one has no schedule, the allreduce has none. A scan contains the broadcast to the members
that need the part, and the reduction of the parts that the member needs: from the member whose part
it is, transfers of increasing steps lead to each that needs it, and of these the first into each
node, or backwards the last out of each, are such a broadcast. In wormhole switching each of these
nodes needs the part, as the rule says, but backwards only if all others come before the member.

Theorem (``exchanges``). A message with n members takes at least 2(n - 1) transfers, also with
relays: until the first member has the whole sum, each of the n - 1 others must have sent; after
that, each of them must still receive. A step has no more transfers than its channels, and the ports
of all nodes, carry. (Gossiping by one-way calls: F. Harary and A. J. Schwenk, The communication
problem on graphs and digraphs, 1974, doi:10.1016/0016-0032(74)90146-4.)
"""

from collections.abc import Callable, Mapping
from typing import Any

from cchybrid.checker.features import require
from cchybrid.checker.instance import MAKE_ANEW, EvidenceError, Network
from cchybrid.checker.linear import linear_steps
from cchybrid.checker.nested_sets import nested_set_steps
from cchybrid.checker.reading import only
from cchybrid.checker.refutation import refutation_steps


def kind_of(evidence: Any) -> str:
    """Return the kind of evidence of any origin; an ``EvidenceError`` if it is not known."""
    kind = evidence.get("kind") if isinstance(evidence, Mapping) else None
    if not isinstance(kind, str):
        raise EvidenceError("the kind of the evidence is missing")
    if kind not in KINDS:
        raise EvidenceError(f"no kind of evidence is called {kind[:40]!r}; {MAKE_ANEW}")
    return kind


def shown_steps(network: Network, evidence: Any) -> int:
    """Return the number of steps that every schedule needs according to the evidence.

    Raises
    ------
    EvidenceError
        The evidence proves nothing.
    """
    kind = kind_of(evidence)
    require(network, kind)
    return KINDS[kind](network, evidence)


def part_of(network: Network, evidence: Mapping[str, Any]) -> tuple[Network, Any]:
    """Return the broadcast from one member, or the reduction to it, and the evidence about it."""
    require(network, "part")
    named = [*set(evidence).difference(("kind", "evidence"))]
    if named not in (["from"], ["to"]) or type(evidence[named[0]]) is not int:
        raise EvidenceError("the member that the evidence is about is missing")
    return network.part(evidence[named[0]], named == ["to"]), evidence.get("evidence")


def exchanges(network: Network) -> tuple[int, int]:
    """Return the transfers that every allreduce needs, and the most that a round carries."""
    require(network, "exchanges")
    links = {network.link(a, b): capacity for (a, b), capacity in network.channels.items()}
    limit = min(sum(links.values()), sum(network.inject), sum(network.accept))
    return sum(2 * (len(members) - 1) for members in network.members), limit


def _exchange_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the steps that the transfers of every allreduce need."""
    only(evidence, "kind")
    left, limit = exchanges(network)
    for step in range(1, len(network.rounds) + 1):
        carried = network.in_step(step, limit)
        if carried >= left:
            return step
        left -= carried
    # All further steps carry as much as this one.
    return step - (-left // carried) if carried else step


KINDS: Mapping[str, Callable[[Network, Mapping[str, Any]], int]] = {
    "linear": linear_steps,
    "nested-sets": nested_set_steps,
    "refutation": refutation_steps,
    "part": lambda network, evidence: shown_steps(*part_of(network, evidence)),
    "exchanges": _exchange_steps,
}
"""The checking functions by kind; each takes a network and evidence of that kind."""
