"""Store-and-forward all-to-all by translations: one hop per message and step at most.

As in the translated exchange, all nodes of an orbit send alike in a step, so that
only the messages of one node per orbit are scheduled, on one channel per orbit. In every step as
many of them as possible move a hop nearer to their destinations, those with the most hops left
first. Where no channel stays idle, as on hypercubes and rings, the schedule is optimal.
"""

from __future__ import annotations

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft, Path
from .translations import Translations, representatives, translations

MAX_HOPS = 20_000
"""Hops scheduled in all, over all subgroups and orders tried, times the effort."""
MAX_ORBITS = 500
"""Orbits of channels: the recursion of the matching goes as deep."""
Pair = tuple[int, int]
"""A message: its source and its destination."""
Waves = list[dict[Pair, Path]]
"""Per step the hops of messages."""


def relayed_exchange(context: Context) -> Draft:
    """Return the shortest all-to-all scatter found over some subgroups."""
    pairs = context.message_of_pair()
    if not context.structure.hop_by_hop:
        raise DoesNotApplyError("not store-and-forward switching")
    if not context.problem.implied[[*context.inject, *context.accept]].all():
        raise DoesNotApplyError("fewer ports than channels")
    context.require_wanted(context.min_steps)
    group = translations(context)
    hops, channels = int(context.distance.sum()), len(context.channel)
    best: tuple[list[int], Waves] | None = None
    subgroup = list(range(context.nodes))
    work = MAX_HOPS * context.effort
    while work > 0 and (best is None or len(best[1]) > context.min_steps):
        size = hops // len(subgroup)
        fits = size <= work and channels // len(subgroup) <= MAX_ORBITS
        if fits:
            found = _relayed(context, group, subgroup, None if best is None else len(best[1]) - 1)
            best = best if found is None else (subgroup, found)
        work -= size if fits else 1 + size // 10
        subgroup = group.closure([context.random.randrange(1, context.nodes)])
    if best is None:
        raise DoesNotApplyError("nothing short enough found, or too many hops to try")
    images = [group.rows[g] for g in best[0]]
    return [
        [
            Transfer(pairs[image[a], image[b]], (image[hop[0]], image[hop[1]]))
            for image in images
            for (a, b), hop in wave.items()
        ]
        for wave in best[1]
    ]


def _relayed(
    context: Context, group: Translations, subgroup: list[int], max_steps: int | None
) -> Waves | None:
    """Return the hops of the messages of one node per orbit; ``None`` if too many steps."""
    representative = representatives(context, group, subgroup)
    nodes = range(context.nodes)
    first = [a for a in nodes if a == min(group.rows[g][a] for g in subgroup)]
    place = {(a, b): a for a in first for b in nodes if a != b}
    waves: Waves = []
    while place:
        context.check()
        farthest = max(context.hops_to(pair[1])[node] for pair, node in place.items())
        steps = len(waves) + farthest
        if (max_steps is not None and steps > max_steps) or not context.wants(steps):
            return None
        wave = _Step(context, representative, place).hops
        for pair, hop in wave.items():
            place[pair] = hop[1]
            if hop[1] == pair[1]:
                del place[pair]
        waves.append(wave)
    return waves


class _Step:
    """A step: a largest matching of messages and orbits of channels.

    Attributes
    ----------
    hops
        The hop of every message that moves.
    """

    def __init__(self, context: Context, representative: list[int], place: dict[Pair, int]) -> None:
        self.hops: dict[Pair, Path] = {}
        self._capacity = context.capacity
        self._users: dict[int, list[Pair]] = {}
        self._ways: dict[Pair, list[tuple[int, Path]]] = {}
        far: dict[Pair, int] = {}
        for pair, node in place.items():
            near = context.hops_to(pair[1])
            far[pair] = near[node]
            self._ways[pair] = [
                (representative[context.channel[node, other]], (node, other))
                for other in context.network.successors[node]
                if near[other] == near[node] - 1
            ]
            context.random.shuffle(self._ways[pair])
        # An assigned message keeps some hop in the matching, so the first ones have priority.
        order = list(place)
        context.random.shuffle(order)
        order.sort(key=lambda pair: -far[pair])
        for pair in order:
            self._assign(pair, set())

    def _assign(self, pair: Pair, seen: set[int]) -> bool:
        """Find a hop for a message along an augmenting path of the bipartite matching."""
        for kind, hop in self._ways[pair]:
            if kind in seen:
                continue
            seen.add(kind)
            users = self._users.setdefault(kind, [])
            if len(users) < self._capacity[kind]:
                users.append(pair)
                self.hops[pair] = hop
                return True
            for place, other in enumerate(users):
                if self._assign(other, seen):
                    users[place] = pair
                    self.hops[pair] = hop
                    return True
        return False
