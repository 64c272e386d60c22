"""The gate: features of instances, and for which of them each argument has been proved.

The list of features is closed. An argument accepts an instance only if it is proved for all of its
features; the reasons stand in the theorem at the head of the argument's file. A feature that is new
is refused by every argument for which it is not listed here.
"""

from collections.abc import Callable
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network

_PRESENT: dict[str, Callable[[Network], Any]] = {
    "wormhole": lambda network: not network.hop_by_hop and not network.periodic,
    "tdm": lambda network: network.periodic,
    "store-and-forward": lambda network: network.hop_by_hop,
    "limited ports": lambda network: network.limited_ports,
    "wide channels": lambda each: max(each.channels.values(), default=0) > max(each.rounds),
    "half duplex": lambda network: network.half_duplex,
    "endpoints": lambda network: network.endpoints,
    "extra hops": lambda network: network.extra_hops,
    "any routing": lambda each: not each.hop_by_hop and each.extra_hops is None and not each.table,
    "routing table": lambda network: network.table,
    "delivering": lambda network: not network.backwards and not network.members,
    "combining": lambda network: network.backwards,
    "allreduce": lambda network: network.members and network.kind == "allreduce",
    "scan": lambda network: network.members and network.kind != "allreduce",
    "chunks": lambda network: network.chunks > 1,
    "rounds": lambda network: network.rounds != [1],
    "times": lambda network: network.times,
    "groups": lambda network: network.groups,
}
FEATURES = frozenset(_PRESENT)
"""All features of instances of the formats ``cchybrid-instance/1`` and ``/2``."""

_COPIES = FEATURES - {"allreduce", "scan", "tdm", "times", "groups"}
PROVED = {
    "schedule": FEATURES,
    "unreachable": _COPIES | {"tdm", "times", "groups"},
    "linear": _COPIES | {"tdm", "times", "groups"},
    "nested-sets": _COPIES,
    "refutation": _COPIES,
    "part": FEATURES - {"delivering", "combining"},
    "exchanges": FEATURES - {"delivering", "combining", "scan"},
    "rounds per chunk": _COPIES - {"routing table", "chunks", "rounds"},
    "throughput": _COPIES - {"routing table", "limited ports", "half duplex", "chunks", "rounds"},
}
"""The features for which each argument has been proved."""


def features(network: Network) -> set[str]:
    """Return the features of an instance."""
    return {name for name, is_present in _PRESENT.items() if is_present(network)}


def require(network: Network, argument: str) -> None:
    """Raise ``EvidenceError`` unless the argument is proved for all features of the instance."""
    missing = features(network) - PROVED[argument]
    if missing:
        raise EvidenceError(f"{argument}: not proved for {', '.join(sorted(missing))}")
