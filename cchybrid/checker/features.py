"""The gate: features of instances, and for which of them each argument has been proved.

The list of features is closed. An argument accepts an instance only if it is proved for all of its
features; the reasons stand in the theorem at the head of the argument's file. A feature that is new
is refused by every argument for which it is not listed here.
"""

from __future__ import annotations

from cchybrid.checker.instance import EvidenceError, Network

FEATURES = frozenset({
    "wormhole", "store-and-forward", "limited ports", "wide channels", "half duplex", "endpoints",
    "extra hops", "any routing", "delivering", "combining", "allreduce", "scan", "chunks", "rounds",
})  # fmt: skip
"""All features of instances of the formats ``cchybrid-instance/1`` and ``/2``."""

_COPIES = FEATURES - {"allreduce", "scan"}
PROVED = {
    "schedule": FEATURES,
    "unreachable": _COPIES,
    "linear": _COPIES,
    "nested-sets": _COPIES,
    "refutation": _COPIES,
    "part": FEATURES - {"delivering", "combining"},
    "exchanges": FEATURES - {"delivering", "combining", "scan"},
    "rounds per chunk": _COPIES - {"wormhole", "chunks", "rounds"},
    "throughput": _COPIES - {"limited ports", "half duplex", "chunks", "rounds"},
}
"""The features for which each argument has been proved."""


def features(network: Network) -> set[str]:
    """Return the features of an instance."""
    present = {
        "wormhole": not network.hop_by_hop,
        "store-and-forward": network.hop_by_hop,
        "limited ports": network.limited_ports,
        "wide channels": max(network.channels.values(), default=0) > max(network.rounds),
        "half duplex": network.half_duplex,
        "endpoints": network.endpoints,
        "extra hops": network.extra_hops,
        "any routing": not network.hop_by_hop and network.extra_hops is None,
        "delivering": not network.backwards and not network.members,
        "combining": network.backwards,
        "allreduce": network.members and network.kind == "allreduce",
        "scan": network.members and network.kind != "allreduce",
        "chunks": network.chunks > 1,
        "rounds": network.rounds != [1],
    }
    return {name for name, there in present.items() if there}


def require(network: Network, argument: str) -> None:
    """Raise ``EvidenceError`` unless the argument is proved for all features of the instance."""
    missing = features(network) - PROVED[argument]
    if missing:
        raise EvidenceError(f"{argument}: not proved for {', '.join(sorted(missing))}")
