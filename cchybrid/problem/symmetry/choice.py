"""Which divisions to try, and in which order: those that can meet the bound, large groups first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from cchybrid.model import Instance
from cchybrid.problem import is_ordered
from cchybrid.problem.symmetry.automorphisms import Automorphisms
from cchybrid.problem.symmetry.groups import Division, divisions, groups

MAX_ELEMENTS = 2_000_000
"""Elements times nodes of a group, at most."""
EACH = 2
"""Divisions of one kind (order of the group, steps moved) that come before all others."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A division to try.

    Parameters
    ----------
    rank
        How many of the same kind (order of the group, steps moved) were drawn before it.
    """

    division: Division
    rank: int

    def promise(self, lower: int) -> tuple[int, bool, int]:
        """Return a key by which to sort choices, the most promising first.

        A schedule that keeps to a division has a multiple of its ``stretch`` steps, so first come
        those whose least multiple from the lower bound on is the smallest; among them a few of
        each kind; among them large groups, which leave little to search.
        """
        stretch = self.division.stretch
        return -(-lower // stretch) * stretch, self.rank >= EACH, -self.division.group.order


def choices(
    instance: Instance,
    found: Automorphisms,
    seed: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> list[Choice]:
    """Return divisions that may be of use, large groups first.

    Parameters
    ----------
    seed
        Of the draws of groups.
    """
    nodes = instance.network.nodes
    most = min(2 * nodes, MAX_ELEMENTS // nodes)
    listed: list[Choice] = []
    seen: Counter[tuple[int, int]] = Counter()
    ordered = is_ordered(instance)
    drawn = (division for group in groups(found, seed, most) for division in divisions(group, seed))
    for division in drawn:
        if ordered and division.stretch > 1:
            continue
        if should_stop():
            break
        kind = division.group.order, division.stretch
        listed.append(Choice(division, seen[kind]))
        seen[kind] += 1
    return listed
