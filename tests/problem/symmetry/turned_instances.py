"""Random instances with a rotation: copies of a random instance, joined in a circle."""

from itertools import chain

from hypothesis import strategies as st

from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
)
from tests.random_instances import instances


@st.composite
def turned_instances(draw: st.DrawFn, max_nodes: int = 4, **narrow: object) -> tuple[Instance, int]:
    """Return an instance, and by how many nodes its rotation shifts every node."""
    base = draw(instances(max_nodes=max_nodes, max_messages=3, **narrow))
    copies = draw(st.sampled_from((2, 2, 3, 4)))
    size = base.network.nodes
    nodes = copies * size

    def moved(node: int, turns: int) -> int:
        return (node + turns * size) % nodes

    network = base.network
    inner = {(a, b): capacity for a, b, capacity in network.channels}
    arcs = {(moved(a, k), moved(b, k)): c for (a, b), c in inner.items() for k in range(copies)}
    switches = [node for node in range(size) if node not in network.endpoints]
    bridges = draw(st.lists(st.sampled_from(switches), min_size=1, max_size=2, unique=True))
    capacity = draw(st.sampled_from((1, 2)))
    for k in range(copies):
        for node in bridges:
            arcs[moved(node, k), moved(node, k + 1)] = capacity
            arcs[moved(node, k + 1), moved(node, k)] = capacity
    messages: list[Message | Reduction] = []
    for one, many in base.forward.collective.deliver_messages:
        shifts = draw(st.lists(st.integers(0, copies - 1), min_size=len(many), max_size=len(many)))
        goals = {moved(v, shift) for v, shift in zip(many, shifts, strict=True)} - {one}
        for k in range(copies if goals else 0):
            ends = moved(one, k), tuple(sorted(moved(v, k) for v in goals))
            combine = base.collective.kind == "combine"
            messages.append(Reduction(*ends[::-1]) if combine else Message(*ends))
    model = base.model
    limits = {
        side: tuple(list(limit) * copies) if isinstance(limit, tuple) else limit
        for side, limit in (("inject", model.inject), ("accept", model.accept))
    }
    channels = tuple(Channel(a, b, c) for (a, b), c in arcs.items())
    pairs = [[(moved(a, k), moved(b, k)) for k in range(copies)] for a, b in network.half_duplex]
    turned = Network(
        "turned", nodes, channels, half_duplex=tuple(chain.from_iterable(pairs)),
        endpoints=tuple(sorted(moved(v, k) for v in network.endpoints for k in range(copies))),
    )  # fmt: skip
    model = CommunicationModel(model.switching, limits["inject"], limits["accept"], model.routing)
    return Instance(turned, Collective("turned", tuple(messages)), model), size
