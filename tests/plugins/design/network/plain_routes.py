"""A plain implementation of the routing rules of ``cchybrid_plugins.design.network.routes``."""

from fractions import Fraction

from cchybrid_plugins.design.network.ports import Ports


def plain_routes(
    ports: Ports, contended: bool
) -> tuple[list[int], dict[tuple[int, int], int], list[list[int]]]:
    """Return the paths per node, the messages per port (node, port), and the hops of all pairs.

    The cheapest paths come from repeated relaxation (Bellman and Ford), and every message is moved
    hop by hop.
    """
    nodes, degree = ports.shape
    through = [0] * nodes
    messages = {(node, port): 0 for node in range(nodes) for port in range(degree)}
    hops = [[0] * nodes for _ in range(nodes)]
    arcs = [
        (node, port, int(ports[node, port]))
        for node in range(nodes)
        for port in range(degree)
        if ports[node, port] != node
    ]
    for source in range(nodes):
        price = {
            (a, port): Fraction(1 + messages[a, port])
            if contended
            else 1 + Fraction(through[b], 10**9)
            for a, port, b in arcs
        }
        cost = {source: Fraction(0)}
        for _ in range(nodes):
            for a, port, b in arcs:
                if a in cost and (b not in cost or cost[a] + price[a, port] < cost[b]):
                    cost[b] = cost[a] + price[a, port]
        before = {
            b: min(
                (a, port) for a, port, c in arcs if c == b and cost[a] + price[a, port] == cost[b]
            )
            for b in range(nodes)
            if b != source
        }
        for target in range(nodes):
            node = target
            while node != source:
                a, port = before[node]
                messages[a, port] += 1
                through[node] += 1
                hops[source][target] += 1
                node = a
            through[source] += target != source
    return through, messages, hops
