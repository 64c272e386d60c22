"""Recognition of the named collectives among messages."""

from collections.abc import Iterable
from typing import cast

from cchybrid.model import AllReduction, Message, Reduction
from cchybrid.model.collective import AnyMessage, one_and_many


def pattern_of(messages: Iterable[AnyMessage], terminals: Iterable[int]) -> str:
    """Return the name of the pattern of messages, each listed once; ``custom`` if it has none.

    A name is about all terminals.
    """
    listed = list(messages)
    nodes = {node for m in listed for node in (one_and_many(m)[0], *one_and_many(m)[1])}
    if nodes != {*terminals}:
        return "custom"
    first = listed[0]
    # The ends of a message are distinct, so their number tells whether they are all nodes.
    to_all = all(len(one_and_many(m)[1]) == len(nodes) - 1 for m in listed)
    if isinstance(first, AllReduction):
        return "allreduce" if to_all and len(listed) == 1 else "custom"
    ones = {one_and_many(m)[0] for m in listed}
    combines = isinstance(first, Reduction)
    if to_all and len(ones) == len(listed) == len(nodes):
        return "AAR" if combines else "AAB"
    if to_all and len(listed) == 1:
        return "AOR" if combines else "OAB"
    if combines:
        return "custom"
    pairs = {(m.source, m.destinations[0]) for m in cast(list[Message], listed)}
    single = all(len(one_and_many(m)[1]) == 1 for m in listed)
    if single and len(pairs) == len(listed):
        if len(listed) == len(nodes) * (len(nodes) - 1):
            return "AAS"
        if len(listed) == len(nodes) - 1 and len(ones) == 1:
            return "OAS"
        if len(listed) == len(nodes) - 1 and len({d for _, d in pairs}) == 1:
            return "AOG"
    return "custom"
