"""Networks as graphs of NetworkX, for tests of their structure."""

import networkx as nx

from cchybrid.model import Network


def graph_of(net: Network) -> nx.DiGraph:
    """Return the digraph of the channels."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(net.nodes))
    graph.add_weighted_edges_from(net.channels, weight="capacity")
    return graph
