"""Store-and-forward all-to-all by translations: messages hop side by side, and wait in between.

As in the translated exchange, what one node of an orbit sends in a step, all others send too, so
that only the messages of one node per orbit have to be led, over one channel per orbit. In every
step as many of them as possible come a hop nearer to their destinations, first those that have
the farthest to go. Where that leaves no channel idle, as on hypercubes and rings, it is optimal.
"""

from __future__ import annotations

from cchybrid.model import Transfer

from .setting import DoesNotApplyError, Draft, Path, Setting
from .translations import Translations, alike_under, translations

WORK = 20_000
"""Hops that are made altogether, over all subgroups and orders that are tried."""
MOST = 500
"""Orbits of channels; exchanging hops for others goes as deep as there are orbits."""
Pair = tuple[int, int]
"""A message: its source and its destination."""
Waves = list[dict[Pair, Path]]
"""Per step the hops of messages."""


def relayed_exchange(setting: Setting) -> Draft:
    """Return the shortest all-to-all scatter found over some subgroups."""
    pairs = setting.exchanges()
    if setting.wormhole:
        raise DoesNotApplyError("not store-and-forward switching")
    if not setting.problem.implied[[*setting.inject, *setting.accept]].all():
        raise DoesNotApplyError("fewer ports than channels")
    setting.expect(setting.least)
    group = translations(setting)
    hops, channels = int(setting.distance.sum()), len(setting.channel)
    best: tuple[list[int], Waves] | None = None
    subgroup = list(range(setting.nodes))
    work = WORK
    while work > 0 and (best is None or len(best[1]) > setting.least):
        size = hops // len(subgroup)
        fits = size <= work and channels // len(subgroup) <= MOST
        if fits:
            found = _relayed(setting, group, subgroup, None if best is None else len(best[1]) - 1)
            best = best if found is None else (subgroup, found)
        work -= size if fits else 1 + size // 10
        subgroup = group.closure([setting.random.randrange(1, setting.nodes)])
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
    setting: Setting, group: Translations, subgroup: list[int], most: int | None
) -> Waves | None:
    """Return the hops of the messages of one node per orbit; ``None`` if that takes too many."""
    alike = alike_under(setting, group, subgroup)
    nodes = range(setting.nodes)
    first = [a for a in nodes if a == min(group.rows[g][a] for g in subgroup)]
    place = {(a, b): a for a in first for b in nodes if a != b}
    waves: Waves = []
    while place:
        setting.check()
        farthest = max(setting.hops_to(pair[1])[node] for pair, node in place.items())
        steps = len(waves) + farthest
        if (most is not None and steps > most) or not setting.wants(steps):
            return None
        wave = _Step(setting, alike, place).hops
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

    def __init__(self, setting: Setting, alike: list[int], place: dict[Pair, int]) -> None:
        self.hops: dict[Pair, Path] = {}
        self._capacity = setting.capacity
        self._users: dict[int, list[Pair]] = {}
        self._ways: dict[Pair, list[tuple[int, Path]]] = {}
        far: dict[Pair, int] = {}
        for pair, node in place.items():
            near = setting.hops_to(pair[1])
            far[pair] = near[node]
            self._ways[pair] = [
                (alike[setting.channel[node, other]], (node, other))
                for other in setting.network.successors[node]
                if near[other] == near[node] - 1
            ]
            setting.random.shuffle(self._ways[pair])
        # Whoever got a hop keeps one, so that those who come first have the right of way.
        order = list(place)
        setting.random.shuffle(order)
        order.sort(key=lambda pair: -far[pair])
        for pair in order:
            self._assign(pair, set())

    def _assign(self, pair: Pair, seen: set[int]) -> bool:
        """Find a hop for a message; others take another one where they have to."""
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
