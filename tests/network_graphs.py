"""Networks as graphs of NetworkX, for tests of their structure."""

import networkx as nx

from cchybrid.model import Network


def graph_of(net: Network) -> nx.DiGraph:
    """Return the digraph of the channels."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(net.nodes))
    graph.add_weighted_edges_from(net.channels, weight="capacity")
    return graph


def distances(net: Network) -> dict[tuple[int, int], int]:
    """Return how far the terminals are from each other if no path passes an endpoint."""
    graph = graph_of(net)
    found = {}
    for source in net.terminals:
        inner = graph.subgraph(set(graph) - set(net.endpoints) | {source})
        reached = nx.single_source_shortest_path_length(inner, source)
        for target in net.terminals:
            near = [reached[node] + 1 for node in graph.predecessors(target) if node in reached]
            if target != source and near:
                found[source, target] = min(near)
    return found


def assert_vertex_transitive(net: Network) -> None:
    """Check that some automorphism leads from node 0 to each other node."""
    graph = graph_of(net).to_undirected() if net.symmetric else graph_of(net)
    nx.set_node_attributes(graph, {node: node == 0 for node in graph}, "pinned")
    for node in range(1, net.nodes):
        other = graph.copy()
        nx.set_node_attributes(other, {each: each == node for each in graph}, "pinned")
        assert nx.vf2pp_is_isomorphic(graph, other, node_label="pinned")
