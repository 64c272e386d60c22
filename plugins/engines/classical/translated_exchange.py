"""All-to-all by translations: all nodes of an orbit send alike in every step.

A subgroup of the network's translations maps paths to paths, so only the messages of one node per
orbit are scheduled, on one channel per orbit; longest paths come first, each into the first step
where it fits. (On hypercubes and HyperX the whole group suffices: see the offset exchange.)
"""

from .context import Context, DoesNotApplyError, Draft
from .packing import packed
from .translations import representatives, translations

MAX_NODES = 256
"""Nodes of the network; with more, this takes many seconds."""
MAX_PLACED = 6_000
"""Messages placed in total, over all subgroups and orders tried, times the effort."""


def translated_exchange(context: Context) -> Draft:
    """Return the shortest all-to-all scatter found over some subgroups."""
    pairs = context.message_of_pair()
    context.require_wormhole()
    if context.nodes > MAX_NODES:
        raise DoesNotApplyError(f"more than {MAX_NODES} nodes")
    count = len(pairs)
    group = translations(context)
    best: Draft = []
    context.require_useful(context.min_steps)
    work = MAX_PLACED * context.effort
    while work > 0 and context.known > context.min_steps:
        generators, subgroup = list[int](), [0]
        while not generators or count // len(subgroup) > MAX_PLACED:
            generators.append(context.random.randrange(1, context.nodes))
            subgroup = group.closure(generators)
        size = count // len(subgroup)
        if best and size > work:
            break
        representative = representatives(context, group, subgroup)
        found = packed(context, group.orbit_pairs(subgroup), representative)
        # A failure, a path that does not fit into an empty step, is found early and costs little.
        work -= size if found or best else 1 + size // 4
        if found:
            waves = [{(path[0], path[-1]): path for path in wave} for wave in found]
            best = group.draft(subgroup, waves, pairs)
    if not best:
        raise DoesNotApplyError("no subgroup whose translated paths fit into a step")
    return best
