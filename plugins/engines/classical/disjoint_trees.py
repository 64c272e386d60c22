"""Time-arc-disjoint trees: one broadcast tree whose translations are free of conflicts.

Every node broadcasts over a translation of the same tree. That is free of conflicts if in every
step the tree uses each kind of channel (channels that translations map to each other) at most as
often as its capacity. With d channels out of a node, (n - 1) / d steps, rounded up, are optimal.
The tree is grown at random, by a maximum matching of channels and new nodes per step.

References
----------
P. Tvrdík, "Parallel systems and algorithms", Czech Technical University in Prague, 1997.
"""

import math

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft
from .matching import assign
from .translations import Translations, translations

MAX_PLACED = 25_000
"""Nodes added to trees in total, over all trees tried, times the effort."""
Tree = list[list[tuple[int, int]]]
"""Per step, the hops that inform new nodes."""


def disjoint_trees(context: Context) -> Draft:
    """Return the schedule in which every node broadcasts over its translation of one tree."""
    members = context.all_to_all_members()
    sources = sorted(message.source for message in context.messages)
    if len(members) < context.nodes or sources != list(range(context.nodes)):
        raise DoesNotApplyError("not one message from every node")
    group = translations(context)
    tree = _best_tree(context, group)
    draft: Draft = [[] for _ in tree]
    for index, message in enumerate(context.messages):
        image = group.rows[message.source]
        for step, hops in enumerate(tree):
            draft[step].extend(Transfer(index, (image[a], image[b])) for a, b in hops)
    return draft


def _best_tree(context: Context, group: Translations) -> Tree:
    """Return the tree of the fewest steps among some random trees."""
    growth = _Growth(context, group)
    by_ports = math.ceil((context.nodes - 1) / growth.ports)
    min_steps = max(by_ports, int(context.distance[0].max()))
    context.require_useful(min_steps)
    best: Tree = []
    for _ in range(max(4, MAX_PLACED * context.effort // context.nodes)):
        context.check()
        # The first tree has no limit on its steps, so it reaches all nodes.
        best = growth.tree() or best
        if len(best) <= min_steps:
            break
    return best


class _Growth:
    """Random growth of a tree, step by step, each with as many new nodes as fit."""

    def __init__(self, context: Context, group: Translations) -> None:
        self._context = context
        self._random = context.random
        self.ports = min(context.ports())
        out = context.network.successors[0]
        size = {node: context.capacity[context.channel[0, node]] for node in out}
        self._slots = [kind for kind, times in size.items() for _ in range(times)]
        self._before = {kind: [row[group.inverse[kind]] for row in group.rows] for kind in size}
        self._after = {kind: [row[kind] for row in group.rows] for kind in size}
        self._nodes = context.nodes

    def tree(self) -> Tree | None:
        """Return a tree of fewer steps than the best, ``None`` if it would need more."""
        informed = [False] * self._nodes
        informed[0] = True
        count = 1
        tree: Tree = []
        while count < self._nodes:
            left = self._context.known - 1 - len(tree)
            if count + left * self.ports < self._nodes:
                return None
            chosen = self._match(informed)
            for _, node in chosen:
                informed[node] = True
            tree.append([(self._before[kind][node], node) for kind, node in chosen])
            count += len(chosen)
        self._context.known = len(tree)
        return tree

    def _match(self, informed: list[bool]) -> list[tuple[int, int]]:
        """Return a maximum matching of kinds of channels and new nodes that they can inform."""
        reach = {
            kind: [
                node
                for node, before in enumerate(self._before[kind])
                if not informed[node] and informed[before]
            ]
            for kind in self._after
        }
        for nodes in reach.values():
            self._random.shuffle(nodes)
            # Nodes with few uninformed successors come first.
            nodes.sort(key=lambda node: self._uninformed_after(node, informed))
        candidates = {slot: reach[kind] for slot, kind in enumerate(self._slots)}
        users: dict[int, list[int]] = {}
        for slot in sorted(candidates, key=lambda slot: len(candidates[slot])):
            if len(users) == self.ports:
                break
            assign(slot, candidates, users, {}, set())
        return [(self._slots[slot], node) for node, (slot,) in users.items()]

    def _uninformed_after(self, node: int, informed: list[bool]) -> int:
        return sum(not informed[self._after[kind][node]] for kind in self._after)
