"""All-to-all by translations: what one node of an orbit sends in a step, all others send too.

A subgroup of the network's translations carries paths along, so that only the messages of one
node per orbit have to be given a place, on one channel per orbit; longest paths come first, each
into the first step with room. (On hypercubes the whole group does it: see the XOR exchange.)
"""

from __future__ import annotations

from cchybrid.model import Transfer

from .packing import packed
from .setting import DoesNotApplyError, Draft, Path, Setting
from .translations import alike_under, translations

MOST = 256
"""Nodes; on more, this takes many seconds."""
WORK = 6_000
"""Messages that are given a place altogether, over all subgroups and orders that are tried."""


def translated_exchange(setting: Setting) -> Draft:
    """Return the shortest all-to-all scatter found over some subgroups."""
    pairs = setting.exchanges()
    if not setting.wormhole:
        raise DoesNotApplyError("not wormhole switching")
    if setting.nodes > MOST:
        raise DoesNotApplyError(f"more than {MOST} nodes")
    count = len(pairs)
    group = translations(setting)
    best: tuple[list[int], list[list[Path]]] | None = None
    least = setting.least
    setting.expect(least)
    work = WORK
    while work > 0 and (best is None or len(best[1]) > least):
        generators = [setting.random.randrange(1, setting.nodes)]
        subgroup = group.closure(generators)
        while count // len(subgroup) > WORK:
            generators.append(setting.random.randrange(1, setting.nodes))
            subgroup = group.closure(generators)
        size = count // len(subgroup)
        if best is not None and size > work:
            break
        nodes = range(setting.nodes)
        first = [a for a in nodes if a == min(group.rows[g][a] for g in subgroup)]
        wanted = [(a, b) for a in first for b in nodes if a != b]
        alike = alike_under(setting, group, subgroup)
        found = packed(setting, wanted, alike, None if best is None else len(best[1]) - 1)
        # What does not even fit into a step, a long path, is tried first and takes no time.
        work -= size if found is not None or best is not None else 1 + size // 4
        best = best if found is None else (subgroup, found)
    if best is None:
        raise DoesNotApplyError("no subgroup whose translated paths fit into a step")
    subgroup, waves = best
    draft: Draft = []
    for wave in waves:
        paths = [tuple(group.rows[g][node] for node in path) for path in wave for g in subgroup]
        draft.append([Transfer(pairs[path[0], path[-1]], path) for path in paths])
    return draft
