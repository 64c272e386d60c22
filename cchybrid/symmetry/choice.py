"""Which divisions to try, and in which order: those that can meet the bound, large groups first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from cchybrid.model import Instance
from cchybrid.symmetry.automorphisms import Automorphisms
from cchybrid.symmetry.groups import Division, divisions, groups

MAX_ELEMENTS = 2_000_000
"""Elements times nodes of a group, at most."""
EACH = 2
"""Divisions of one kind (order of the group, steps moved) that come before all others."""


def choices(
    instance: Instance,
    found: Automorphisms,
    seed: int,
    lower: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Division]:
    """Return divisions in the order in which they are worth trying.

    A schedule that keeps to a division has a multiple of its ``stretch`` steps, so first come
    those whose least multiple beyond the bound is the smallest; among them large groups, which
    leave little to search; among them a few of each kind, then the others.

    Parameters
    ----------
    seed
        Of the draws of groups.
    lower
        The lower bound known so far.
    """
    nodes = instance.network.nodes
    most = min(2 * nodes, MAX_ELEMENTS // nodes)
    moves = _may_move_steps(instance)
    listed: list[tuple[tuple[int, bool, int], Division]] = []
    seen: Counter[tuple[int, int]] = Counter()
    for division in _all(found, seed, most, moves):
        if should_stop():
            break
        kind = division.group.order, division.stretch
        seen[kind] += 1
        reach = -(-lower // division.stretch) * division.stretch
        listed.append(((reach, seen[kind] > EACH, -division.group.order), division))
    listed.sort(key=lambda entry: entry[0])
    return [division for _, division in listed]


def _all(found: Automorphisms, seed: int, most: int, moves: bool) -> Iterator[Division]:
    for group in groups(found, seed, most):
        for division in divisions(group, seed):
            if moves or division.stretch == 1:
                yield division


def _may_move_steps(instance: Instance) -> bool:
    """Return whether no delivery waits for another, so that steps may change places."""
    messages = instance.forward.collective.deliver_messages
    alone = all(len(message.destinations) == 1 for message in messages)
    return alone and instance.model.switching == "wormhole"
