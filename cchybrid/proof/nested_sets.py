"""Nested-set bounds: parts of the network that a message enters through one node."""

from collections.abc import Iterator
from typing import Any

from cchybrid.model import Instance, LowerBound
from cchybrid.proof.climbing import climb

MAX_MESSAGES = 8
"""Largest number of messages with several destinations; for more, cut bounds are better."""
MAX_WIDTHS = 4
"""Families of sets per message: by capacity of the channels into a set, narrow sets first."""


def nested_set_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield increasing nested-set bounds; ``checker.nested_sets`` defines the value."""
    messages = instance.collective.deliver_messages
    spreading = [k for k, message in enumerate(messages) if len(message.destinations) > 1]
    if 0 < len(spreading) <= MAX_MESSAGES:
        yield from climb(instance, _evidence(instance, spreading))


def _evidence(instance: Instance, messages: list[int]) -> Iterator[dict[str, Any]]:
    for index in messages:
        source, destinations = instance.collective.deliver_messages[index]
        tree = _DominatorTree(instance, source, set(destinations))
        # Hop by hop, the channels into the one first node of a set do not matter.
        hop_by_hop = instance.model.hop_by_hop
        widths = sorted({tree.width[node] for node in tree.heads})
        for width in widths[-1:] if hop_by_hop else widths[:MAX_WIDTHS]:
            heads = {node for node in tree.heads if tree.width[node] <= width}
            rows = tree.sets(heads, hop_by_hop)
            yield {"kind": "nested-sets", "message": index, "sets": rows}


class _DominatorTree:
    """The dominators of a source: a node dominates those that no path reaches without it."""

    def __init__(self, instance: Instance, source: int, destinations: set[int]) -> None:
        import networkx as nx  # a quarter of a second, longer than many a run

        channels = instance.network.channels
        graph = nx.DiGraph((a, b) for a, b, _ in channels)
        graph.add_node(source)
        parent = nx.immediate_dominators(graph, source)
        parent.pop(source, None)
        tree = nx.DiGraph((above, node) for node, above in parent.items())
        tree.add_node(source)
        self.source = source
        self.children = {node: sorted(tree[node]) for node in tree}
        self.order: list[int] = list(nx.dfs_preorder_nodes(tree, source))
        size = dict.fromkeys(self.order, 1)
        served = {node: int(node in destinations) for node in self.order}
        for node in reversed(self.order[1:]):
            size[parent[node]] += size[node]
            served[parent[node]] += served[node]
        self.served = served
        self.heads = [node for node in self.order[1:] if size[node] > 1 and served[node]]
        """The nodes that dominate others, a destination among them or itself."""
        rank = {node: place for place, node in enumerate(self.order)}
        self.width = dict.fromkeys(self.heads, 0)
        """Capacity of the channels into the set of a head and the nodes that it dominates."""
        for a, b, capacity in channels:
            inside = a in rank and rank[b] <= rank[a] < rank[b] + size[b]
            if b in self.width and not inside:
                self.width[b] += capacity

    def sets(self, heads: set[int], without_head: bool) -> list[list[int]]:
        """Return the sets of these heads as rows of the evidence.

        ``without_head``: inside each set also that of its nodes without the head.
        """
        rows: list[list[int]] = []
        around = {self.source: 0}
        for node in self.order:
            number = around[node]
            if node in heads:
                rows.append([number, node])
                number = len(rows)
                below = [child for child in self.children[node] if self.served[child]]
                if without_head and len(self.children[node]) > 1 and below:
                    rows.append([number])
                    number = len(rows)
            elif number:
                rows[number - 1].append(node)
            for child in self.children[node]:
                around[child] = number
        return rows
