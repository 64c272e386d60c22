"""Store-and-forward all-to-all by translations: at most one hop per message and step.

As in the translated exchange, all nodes of an orbit send alike in a step, so only the messages of
one node per orbit are scheduled, on one channel per orbit. In every step a maximum matching moves
as many messages as possible a hop nearer to their destinations, those with the most remaining hops
first. Where no channel is idle, as on hypercubes and rings, the schedule is optimal.
"""

from .context import Context, DoesNotApplyError, Draft, Path
from .matching import assign
from .translations import Pair, Translations, Waves, representatives, translations

MAX_HOPS = 20_000
"""Hops scheduled in total, over all subgroups and orders tried, times the effort."""
MAX_ORBITS = 500
"""Orbits of channels: a limit on the depth of the recursion in the matching."""


def relayed_exchange(context: Context) -> Draft:
    """Return the shortest all-to-all scatter found over some subgroups."""
    pairs = context.message_of_pair()
    if not context.structure.hop_by_hop:
        raise DoesNotApplyError("not store-and-forward switching")
    if not context.problem.implied[[*context.inject, *context.accept]].all():
        raise DoesNotApplyError("fewer ports than channels")
    context.require_useful(context.min_steps)
    group = translations(context)
    hops, channels = int(context.distance.sum()), len(context.channel)
    best: Draft = []
    subgroup = list(range(context.nodes))
    work = MAX_HOPS * context.effort
    while work > 0 and context.known > context.min_steps:
        size = hops // len(subgroup)
        fits = size <= work and channels // len(subgroup) <= MAX_ORBITS
        if fits:
            waves = _relayed(context, group, subgroup)
            best = group.draft(subgroup, waves, pairs) if waves else best
        work -= size if fits else 1 + size // 10
        subgroup = group.closure([context.random.randrange(1, context.nodes)])
    if not best:
        raise DoesNotApplyError("no short enough schedule found, or too many hops")
    return best


def _relayed(context: Context, group: Translations, subgroup: list[int]) -> Waves | None:
    """Return the hops of the messages of one node per orbit; ``None`` for too many steps."""
    representative = representatives(context, group, subgroup)
    place = {(a, b): a for a, b in group.orbit_pairs(subgroup)}
    waves: Waves = []
    while place:
        context.check()
        farthest = max(context.hops_to(pair[1])[node] for pair, node in place.items())
        if not context.improves(len(waves) + farthest):
            return None
        wave = _moves(context, representative, place)
        for pair, hop in wave.items():
            place[pair] = hop[1]
            if hop[1] == pair[1]:
                del place[pair]
        waves.append(wave)
    context.known = len(waves)
    return waves


def _moves(context: Context, representative: list[int], place: dict[Pair, int]) -> dict[Pair, Path]:
    """Return the hops of one step: a maximum matching of messages and orbits of channels."""
    random = context.random
    far: dict[Pair, int] = {}
    moves: dict[Pair, dict[int, Path]] = {}
    for pair, node in place.items():
        near = context.hops_to(pair[1])
        far[pair] = near[node]
        others = [v for v in context.network.successors[node] if near[v] == near[node] - 1]
        random.shuffle(others)
        moves[pair] = {}
        for other in others:
            moves[pair].setdefault(representative[context.channel[node, other]], (node, other))
    # Augmenting paths never unassign a message, so the first ones have priority.
    order = list(place)
    random.shuffle(order)
    capacity = dict(enumerate(context.capacity))
    users: dict[int, list[Pair]] = {}
    for pair in sorted(order, key=lambda pair: -far[pair]):
        assign(pair, moves, users, capacity, set())
    return {pair: moves[pair][kind] for kind, pairs in users.items() for pair in pairs}
