"""Recursive doubling on any network: in every step all that are informed inform as many as fit.

The idea of McKinley, Tsai, Robinson, "Collective communication in wormhole-routed massively
parallel computers", Computer 28(12), 1995, without a plan for the network: who informs whom is
drawn, far nodes in some steps (they spread the message) and near ones in others.
"""

from __future__ import annotations

from cchybrid.model import Transfer

from .room import Room
from .setting import DoesNotApplyError, Draft, Setting

WORK = 4_000
"""Deliveries that are made altogether, over all schedules that are tried."""
MOST = 4_000
"""Deliveries of an instance; where there are more, a schedule takes seconds."""
REACH = 12
"""Nodes that an informed node tries to inform before it gives up."""


def recursive_doubling(setting: Setting) -> Draft:
    """Return the shortest of some random schedules."""
    size = sum(len(message.destinations) for message in setting.messages)
    if size == len(setting.messages):
        raise DoesNotApplyError("every message has one destination")
    if size > MOST:
        raise DoesNotApplyError(f"more than {MOST} deliveries")
    if not setting.wormhole and size < len(setting.messages) * (setting.nodes - 1):
        raise DoesNotApplyError("store-and-forward to some of the nodes only")
    best: Draft | None = None
    for _ in range(max(2, WORK // size)):
        found = _doubled(setting, None if best is None else len(best) - 1)
        best = best if found is None else found
    if best is None:
        raise DoesNotApplyError("nothing short enough found, or some destination is cut off")
    return best


def _doubled(setting: Setting, most: int | None) -> Draft | None:
    """Return a schedule of at most so many steps, ``None`` if it does not come to that."""
    holders = [[message.source] for message in setting.messages]
    missing = [set(message.destinations) for message in setting.messages]
    draft: Draft = []
    while any(missing):
        if len(draft) == most or not setting.wants(len(draft) + 1):
            return None
        room = Room(setting)
        step: list[Transfer] = []
        far = setting.random.random() < 0.5
        informers = [
            (index, node) for index, nodes in enumerate(holders) if missing[index] for node in nodes
        ]
        setting.random.shuffle(informers)
        while informers:
            setting.check()
            again = []
            for index, node in informers:
                transfer = _inform(setting, room, index, node, missing[index], far)
                if transfer is not None:
                    step.append(transfer)
                    missing[index].discard(transfer.path[-1])
                    again.append((index, node))
            informers = again
        if not step:
            return None
        for index, path in step:
            holders[index].append(path[-1])
        draft.append(step)
    return draft


def _inform(
    setting: Setting, room: Room, index: int, node: int, missing: set[int], far: bool
) -> Transfer | None:
    """Return a transfer from the node to a near or far one that misses the message, taken."""
    if not missing or not room.sends(node):
        return None
    hops = setting.distance[node]
    nodes = sorted(missing)
    setting.random.shuffle(nodes)
    nodes.sort(key=lambda other: hops[other], reverse=far)
    for other in nodes[:REACH]:
        path = room.route(node, other)
        if path is not None:
            room.take(path)
            return Transfer(index, path)
    return None
