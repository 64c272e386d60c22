"""All automorphisms of a small instance, by trying every permutation of its nodes."""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from cchybrid.model import Instance


def is_automorphism(instance: Instance, name: Sequence[int]) -> bool:
    """Return whether a permutation of the nodes maps an instance to itself."""
    forward = instance.forward
    network, model = forward.network, forward.model
    channels = {(a, b): c for a, b, c in network.channels}
    pairs = {frozenset(pair) for pair in network.half_duplex}
    messages = Counter((m.source, frozenset(m.destinations)) for m in collective(instance))
    moved = Counter(
        (name[m.source], frozenset(name[v] for v in m.destinations)) for m in collective(instance)
    )
    return (
        channels == {(name[a], name[b]): c for (a, b), c in channels.items()}
        and pairs == {frozenset((name[a], name[b])) for a, b in network.half_duplex}
        and {name[v] for v in network.endpoints} == set(network.endpoints)
        and all(
            model.inject_limit(v) == model.inject_limit(name[v])
            and model.accept_limit(v) == model.accept_limit(name[v])
            for v in range(network.nodes)
        )
        and messages == moved
    )


def collective(instance: Instance) -> tuple:
    return instance.forward.collective.deliver_messages


def count(instance: Instance) -> int:
    """Return the number of automorphisms."""
    nodes = range(instance.network.nodes)
    return sum(is_automorphism(instance, name) for name in permutations(nodes))
