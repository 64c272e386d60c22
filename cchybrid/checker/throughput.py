"""Throughput: rounds per chunk of an endless schedule, and the bound that none can beat.

A message is cut into many equal chunks; a round carries as many chunks over a channel as its
capacity. A ``cchybrid-throughput/1`` object has the whole ``instance`` and

- ``trees``, each with its ``root`` (the source of a message), its ``chunks`` (how many of the
  message take it) and its ``paths``: each begins at the root or where an earlier path of the tree
  ends, and the ends are the destinations of the message. Each message has ``chunks`` chunks in all,
  and no channel carries more than its capacity times ``rounds``. Sent one after another, such
  batches of chunks take ``rounds`` rounds each, whatever the trees' depth: ``rounds_per_chunk`` is
  the quotient.
- ``evidence`` of the kind ``linear`` for ``bound``, the rounds per chunk that every schedule needs
  over any routes in any number of steps.

Reductions are broadcasts read backwards: their paths lead to the root. Paths pass no endpoint,
except in store-and-forward switching.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from cchybrid.checker.features import require
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.kinds import kind_of
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.reading import read_network

FORMAT = "cchybrid-throughput/1"
_KEYS = {
    "format", "instance", "rounds_per_chunk", "chunks", "rounds", "trees", "bound", "evidence",
}  # fmt: skip
_MAX_NUMBER = 10**40


class ThroughputVerdict(NamedTuple):
    """The result of checking a throughput file.

    Attributes
    ----------
    rounds_per_chunk
        What the trees attain.
    bound
        What every schedule needs at least.
    kind
        The kind of the evidence.
    """

    rounds_per_chunk: Fraction
    bound: Fraction
    kind: str

    @property
    def optimal(self) -> bool:
        """Whether no schedule takes fewer rounds per chunk."""
        return self.rounds_per_chunk == self.bound

    @property
    def sentence(self) -> str:
        """The result in words."""
        word = "optimal" if self.optimal else f"at least {self.bound} are needed"
        return f"{self.rounds_per_chunk} rounds per chunk, {word} ({self.kind})"


def check_throughput(record: Any) -> ThroughputVerdict:
    """Check a ``cchybrid-throughput/1`` object, which may come from any file.

    Raises
    ------
    EvidenceError
        The object is not well-formed, the trees are no schedule, or the bound is not proven.
    """
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise EvidenceError(f"this is no {FORMAT}")
    if set(record) - {"made_by"} != _KEYS:
        raise EvidenceError("the file has other parts than it should")
    network = throughput_network(record["instance"])
    chunks, rounds = _positive(record["chunks"]), _positive(record["rounds"])
    attained, bound = Fraction(rounds, chunks), throughput_bound(network, record["evidence"])
    for key, value in (("rounds_per_chunk", attained), ("bound", bound)):
        if record[key] != str(value):
            raise EvidenceError(f"{key} is {value}, the file says {str(record[key])[:40]!r}")
    _check_trees(network, record["trees"], chunks, rounds)
    if bound > attained:
        raise EvidenceError("the trees refute the bound, so the checker has an error")
    return ThroughputVerdict(attained, bound, "linear")


def throughput_network(instance: Any) -> Network:
    """Return the network of an instance whose throughput is defined, with any routing.

    Raises
    ------
    EvidenceError
        The instance is not well-formed, or throughput has not been proved for its features.
    """
    network = read_network(instance, "any")
    require(network, "throughput")
    return network


def throughput_bound(network: Network, evidence: Any) -> Fraction:
    """Return the rounds per chunk that the evidence proves every schedule to need.

    Raises
    ------
    EvidenceError
        If it proves nothing.
    """
    if kind_of(evidence) != "linear":
        raise EvidenceError("evidence for throughput is of the kind linear")
    return linear_rounds(network, evidence, None)


def _check_trees(network: Network, trees: Any, chunks: int, rounds: int) -> None:
    """Raise an ``EvidenceError`` unless the trees are a schedule of that many chunks and rounds."""
    missing: Counter[tuple[int, frozenset[int]]] = Counter()
    for source, destinations in network.messages:
        missing[source, frozenset(destinations)] += chunks
    load: Counter[tuple[int, int]] = Counter()
    for tree in _list(trees):
        if not isinstance(tree, Mapping) or set(tree) != {"root", "chunks", "paths"}:
            raise EvidenceError("a tree is not well-formed")
        root, size = tree["root"], _positive(tree["chunks"])
        network.node_set([root])
        ends: set[int] = set()
        for path in _list(tree["paths"]):
            nodes = _read_path(network, path)
            if (nodes[0] != root and nodes[0] not in ends) or nodes[-1] in ends | {root}:
                raise EvidenceError("a path of a tree begins or ends where it must not")
            ends.add(nodes[-1])
            for hop in pairwise(nodes):
                load[hop] += size
        message = (root, frozenset(ends))
        if message not in missing:
            raise EvidenceError(f"no message from {root} has the destinations of a tree")
        missing[message] -= size
    if any(missing.values()):
        raise EvidenceError("the trees of a message carry more or fewer chunks than it has")
    for hop, size in load.items():
        if size > rounds * network.channels[hop]:
            raise EvidenceError(f"the channel {hop[0]}->{hop[1]} carries more than its capacity")


def _read_path(network: Network, path: Any) -> list[int]:
    """Return the nodes of a path from a holder of the message to a destination."""
    nodes = _list(path)[:: -1 if network.backwards else 1]
    if len(nodes) < 2 or not all(type(node) is int for node in nodes):
        raise EvidenceError("a path is not well-formed")
    if any(hop not in network.channels for hop in pairwise(nodes)):
        raise EvidenceError("a path uses a channel that does not exist")
    if len(set(nodes)) < len(nodes) or not network.endpoints.isdisjoint(nodes[1:-1]):
        raise EvidenceError("a path visits a node twice, or passes an endpoint")
    return nodes


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise EvidenceError("a list is missing")
    return value


def _positive(value: Any) -> int:
    if type(value) is not int or not 1 <= value <= _MAX_NUMBER:
        raise EvidenceError("a number is not a whole number above 0 of at most 40 digits")
    return value
