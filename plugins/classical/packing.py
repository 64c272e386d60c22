"""Packing paths into steps: the longest first, each into the first step that has a way for it."""

from __future__ import annotations

from collections.abc import Sequence

from cchybrid.model import Transfer

from .room import Room
from .setting import DoesNotApplyError, Draft, Path, Setting

MOST = 5_000
"""Messages of an instance; on more, this takes many seconds."""
WORK = 4_000
"""Messages that are given a place altogether, over all orders that are tried."""


def packed_scatter(setting: Setting) -> Draft:
    """Return the shortest of some schedules, of any messages with one destination each."""
    setting.scatters()
    if not setting.wormhole:
        raise DoesNotApplyError("not wormhole switching")
    if len(setting.messages) > MOST:
        raise DoesNotApplyError(f"more than {MOST} messages")
    wanted = [(message.source, message.destinations[0]) for message in setting.messages]
    least = setting.least
    setting.expect(least)
    best: list[list[Path]] | None = None
    work = WORK
    while work > 0 and (best is None or len(best) > least):
        work -= len(wanted)
        found = packed(setting, wanted, None, None if best is None else len(best) - 1)
        best = best if found is None else found
    if best is None:
        raise DoesNotApplyError("nothing short enough found, or some destination is cut off")
    indices: dict[tuple[int, int], list[int]] = {}
    for index, pair in enumerate(wanted):
        indices.setdefault(pair, []).append(index)
    return [[Transfer(indices[path[0], path[-1]].pop(), path) for path in wave] for wave in best]


def packed(
    setting: Setting,
    wanted: Sequence[tuple[int, int]],
    alike: Sequence[int] | None,
    most: int | None,
) -> list[list[Path]] | None:
    """Return, per step, paths between these pairs of nodes; the order is drawn among equally long.

    Parameters
    ----------
    alike
        As in ``Room``.
    most
        Steps that there may be, ``None`` for any number.

    Returns
    -------
    list[list[Path]] | None
        ``None`` if there would be more or nobody wants so many, or a path does not even fit into
        a step of its own.
    """
    order = list(wanted)
    setting.random.shuffle(order)
    order.sort(key=lambda pair: -setting.hops_to(pair[1])[pair[0]])
    rooms: list[Room] = []
    waves: list[list[Path]] = []
    for a, b in order:
        setting.check()
        step, path = 0, None
        while path is None:
            fresh = step == len(rooms)
            if fresh:
                if step == most or not setting.wants(step + 1):
                    return None
                rooms.append(Room(setting, alike=alike))
                waves.append([])
            path = rooms[step].route(a, b)
            if path is None and fresh:
                return None
            step += 1
        rooms[step - 1].take(path)
        waves[step - 1].append(path)
    return waves
