"""Random models for hypothesis: anything that the model allows, small."""

from dataclasses import replace

from hypothesis import strategies as st

from cchybrid.model import (
    Channel,
    CommunicationModel,
    Instance,
    LowerBound,
    Network,
    Schedule,
    Transfer,
)
from tests.random_instances import collectives

# A quote, a line break and letters beyond ASCII: what writing and reading could trip over.
NAMES = st.text(alphabet='ab -"\n\u00e9\u2192', max_size=4)
RECORDS = st.dictionaries(NAMES, st.integers() | NAMES | st.lists(st.booleans()), max_size=3)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.sets(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])))
    sizes = {pair: draw(st.integers(1, 3)) for pair in sorted(pairs)}
    order = draw(st.permutations(sorted(sizes)))
    opposite = [(a, b) for a, b in sorted(sizes) if a < b and sizes.get((b, a)) == sizes[a, b]]
    finite = st.floats(allow_nan=False, allow_infinity=False)
    position = st.tuples(finite, finite)
    return Network(
        name=draw(NAMES), nodes=nodes, channels=tuple(Channel(a, b, sizes[a, b]) for a, b in order),
        half_duplex=tuple(pair for pair in opposite if draw(st.booleans())),
        endpoints=tuple(sorted(draw(st.sets(node)))),
        positions=draw(st.none() | st.tuples(*[position] * nodes)),
        node_names=draw(st.sampled_from([None, tuple(f"R{node}" for node in range(nodes))])),
    )  # fmt: skip


@st.composite
def models(draw: st.DrawFn, nodes: int) -> CommunicationModel:
    side = st.integers(1, 4) | st.tuples(*[st.integers(0, 4)] * nodes)
    inject, accept = draw(st.none() | st.tuples(side, side)) or (None, None)
    return CommunicationModel(
        switching=draw(st.sampled_from(["wormhole", "store-and-forward"])), inject=inject,
        accept=accept, routing=draw(st.sampled_from(["minimal", "any"]) | st.integers(0, 9)),
    )  # fmt: skip


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    network = draw(networks().filter(lambda network: network.nodes > 1))
    return Instance(
        network=network, collective=replace(draw(collectives(network.nodes)), name=draw(NAMES)),
        model=draw(models(network.nodes)), name=draw(NAMES),
    )  # fmt: skip


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    number = st.integers(-1, 9)
    transfer = st.builds(Transfer, number, st.lists(number, max_size=4).map(tuple))
    steps = st.lists(st.lists(transfer, max_size=3).map(tuple), max_size=3).map(tuple)
    bound = st.builds(LowerBound, st.integers(0, 99), RECORDS)
    return Schedule(draw(instances()), draw(steps), draw(st.none() | bound), draw(RECORDS))
