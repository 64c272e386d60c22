"""Maximum flows from several sources to several sinks, one after another, against networkx."""

import random

import networkx as nx
from cchybrid_plugins.pipelining.proof.max_flow import FlowNetwork
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**6))
def test_values_and_cuts(seed):
    rng = random.Random(seed)
    nodes = rng.randint(2, 7)
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b and rng.random() < 0.4]
    capacity = {pair: rng.randint(0, 9) for pair in pairs}
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from((a, b, {"capacity": size}) for (a, b), size in capacity.items())
    network = FlowNetwork(capacity)
    for _ in range(4):
        source, sink = rng.sample(range(nodes), 2)
        found = network.flow(source, sink)
        assert found.value == nx.maximum_flow_value(graph, source, sink)
        assert network.value(source, sink) == found.value
        assert sink in found.sink_side
        assert source not in found.sink_side
        entering = sum(
            size
            for (a, b), size in capacity.items()
            if a not in found.sink_side and b in found.sink_side
        )
        assert entering == found.value
