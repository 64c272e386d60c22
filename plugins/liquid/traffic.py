"""Transfers over fixed routes, their congestions, and the enumeration of teams.

After Gabrielyan and Hersch (ICON 2004; thesis section 4.2.2): a *category* (includer, depot,
excluder) is the family of all sets of transfers that contain the includer, any part of the depot
and nothing of the excluder. A category is split by one transfer of its depot, which goes into the
includer of one half and into the excluder of the other. Two kinds of categories are dropped: *idle*
ones, whose sets cannot use every bottleneck, and *blank* ones, whose sets are not maximal because
an excluded transfer congests with none of includer and depot. Sets are bit masks in integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.usage_matrix import IntVector


@dataclass(frozen=True)
class Traffic:
    """Transfers 0, 1, ... and the resources of capacity 1 that they use.

    Parameters
    ----------
    column
        The column of the packing of each transfer.
    users
        Per resource, the set of transfers that use it.
    congests
        Per transfer, the set of others that share a resource with it.
    """

    column: tuple[int, ...]
    users: tuple[int, ...]
    congests: tuple[int, ...]

    @classmethod
    def of(cls, packing: Packing, column: IntVector) -> Traffic:
        """Return the transfers of these columns, in this order."""
        users: dict[int, int] = {}
        used = []
        for number, place in enumerate(column.tolist()):
            resources = packing.uses.row(place)[0].tolist()
            used.append(resources)
            for resource in resources:
                users[resource] = users.get(resource, 0) | 1 << number
        congests = []
        for number, resources in enumerate(used):
            others = 0
            for resource in resources:
                others |= users[resource]
            congests.append(others & ~(1 << number))
        return cls(tuple(column.tolist()), tuple(users.values()), tuple(congests))

    @property
    def everything(self) -> int:
        """The set of all transfers."""
        return (1 << len(self.column)) - 1

    def load(self, rest: int) -> int:
        """Return the maximal load of a resource, a lower bound on the steps of the transfers."""
        minimum = 1 if rest else 0
        return max((minimum, *((users & rest).bit_count() for users in self.users)))

    def columns(self, team: int) -> IntVector:
        """Return the columns of a set of transfers."""
        return np.array(sorted(self.column[number] for number in bits(team)), dtype=np.int64)

    def teams(self, rest: int, steps: int) -> Iterator[int]:
        """Yield the possible teams of one step, if these transfers are to take ``steps`` steps.

        A team is a maximal set without congestion that uses every bottleneck (a resource with as
        many remaining users as steps) and contains one given transfer, which loses nothing, as
        steps are interchangeable. 0 is yielded for every dropped category, so that the caller can
        check limits.
        """
        if not rest or self.load(rest) > steps:
            return
        left = (users & rest for users in self.users)
        bottlenecks = [users for users in left if users.bit_count() == steps]
        first = max(bits(rest), key=lambda number: (self.congests[number] & rest).bit_count())
        busy = [(self.congests[number] & rest).bit_count() for number in range(len(self.column))]
        waiting = [(1 << first, rest & ~self.congests[first] & ~(1 << first), 0)]
        while waiting:
            includer, depot, excluder = waiting.pop()
            unused = [users & depot for users in bottlenecks if not users & includer]
            idle = not all(unused)
            if idle or any(not self.congests[number] & depot for number in bits(excluder)):
                yield 0
                continue
            if not depot:
                yield includer
                continue
            # Split at the bottleneck with the fewest candidates, by the most congested of them.
            narrow = min(unused, key=int.bit_count, default=depot)
            new = max(bits(narrow), key=busy.__getitem__)
            bit, others = 1 << new, ~self.congests[new]
            waiting.append((includer, depot & ~bit, excluder | bit))
            waiting.append((includer | bit, depot & others & ~bit, excluder & others))


def bits(transfers: int) -> Iterator[int]:
    """Yield the transfers of a set."""
    while transfers:
        lowest = transfers & -transfers
        yield lowest.bit_length() - 1
        transfers ^= lowest
