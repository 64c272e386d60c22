"""Throughput: rounds per chunk of an endless schedule, and the bound that none can beat.

A message is cut into many equal chunks; a round carries as many chunks over a channel as its
capacity. A ``cchybrid-throughput/1`` object has the whole ``instance``, of any routing, and

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

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from cchybrid.checker.certificate import RoundsVerdict, own_scope
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.reading import list_of, only, whole
from cchybrid.checker.routes import is_simple

FORMAT = "cchybrid-throughput/1"
_KEYS = {
    "format", "instance", "rounds_per_chunk", "chunks", "rounds", "trees", "bound", "evidence",
}  # fmt: skip

_Trees = list[tuple[int, int, list[tuple[int, ...]]]]


def check_throughput(record: Any) -> RoundsVerdict:
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
    network = Network(record["instance"])
    if network.extra_hops is not None:
        own = own_scope(record["instance"])
        raise EvidenceError(f"throughput is over any routes, the instance has {own}")
    chunks, rounds, trees = _read_trees(record)
    bound = linear_rounds(network, record["evidence"], None)
    verdict = RoundsVerdict(None, rounds, chunks, bound, "linear")
    for key, value in (("rounds_per_chunk", verdict.rounds_per_chunk), ("bound", bound)):
        if record[key] != str(value):
            raise EvidenceError(f"{key} is {value}, the file says {str(record[key])[:40]!r}")
    _check_trees(network, trees, chunks, rounds)
    if bound > verdict.rounds_per_chunk:
        raise EvidenceError("the trees refute the bound, so the checker has an error")
    return verdict


def _read_trees(record: Mapping[str, Any]) -> tuple[int, int, _Trees]:
    """Return chunks, rounds, and per tree its root, its chunks and its paths."""
    try:
        chunks, rounds = whole(record["chunks"]), whole(record["rounds"])
        trees: _Trees = []
        for tree in list_of(record["trees"]):
            only(tree, "root", "chunks", "paths")
            paths = [tuple(map(whole, list_of(path))) for path in list_of(tree["paths"])]
            trees.append((whole(tree["root"]), whole(tree["chunks"]), paths))
    except (EvidenceError, KeyError, TypeError, ValueError) as error:
        raise EvidenceError(f"chunks, rounds or trees are not well-formed: {error}") from None
    if 0 in (chunks, rounds, *(size for _, size, _ in trees)):
        raise EvidenceError("a number of chunks or rounds is 0")
    return chunks, rounds, trees


def _check_trees(network: Network, trees: _Trees, chunks: int, rounds: int) -> None:
    """Raise an ``EvidenceError`` unless the trees are a schedule of that many chunks and rounds."""
    missing: Counter[tuple[int, frozenset[int]]] = Counter()
    for source, destinations in network.messages:
        missing[source, frozenset(destinations)] += chunks
    load: Counter[tuple[int, int]] = Counter()
    for root, size, paths in trees:
        ends: set[int] = set()
        for path in paths:
            nodes = path[::-1] if network.backwards else path
            if not is_simple(network, nodes):
                raise EvidenceError(f"the path {str(list(path))[:80]} of a tree is not allowed")
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
