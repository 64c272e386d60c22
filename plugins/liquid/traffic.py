"""Transfers whose routes are laid down, which of them congest, and their division into teams.

Gabrielyan and Hersch ("Efficient liquid schedule search strategies for collective communications",
ICON 2004, which the thesis names in section 4.2.2): sets of transfers are divided into categories
(includer, depot, excluder): all sets that hold the includer, take what they like from the depot and
leave the excluder out. A category is divided by one transfer of its depot, which goes into the
includer of one half and into the excluder of the other. *Idle* categories, which cannot use every
bottleneck, and *blank* ones, in which something excluded has nothing to keep it out, are dropped.
Sets of transfers are bits of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.usage_matrix import IntVector


@dataclass(frozen=True)
class Traffic:
    """Transfers 0, 1, ... and what they use, every resource once a step.

    Parameters
    ----------
    column
        The column of the packing that each transfer is.
    users
        Per resource, the transfers that use it.
    congests
        Per transfer, the others that it shares a resource with.
    """

    column: tuple[int, ...]
    users: tuple[int, ...]
    congests: tuple[int, ...]

    @classmethod
    def of(cls, packing: Packing, column: IntVector) -> Traffic:
        """Return the traffic of these columns, in this order."""
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
        """All transfers."""
        return (1 << len(self.column)) - 1

    def load(self, rest: int) -> int:
        """Return how many of these transfers use the most used resource: steps they need."""
        minimum = 1 if rest else 0
        return max((minimum, *((users & rest).bit_count() for users in self.users)))

    def columns(self, team: int) -> IntVector:
        """Return the columns of some transfers."""
        return np.array(sorted(self.column[number] for number in bits(team)), dtype=np.int64)

    def teams(self, rest: int, steps: int) -> Iterator[int]:
        """Yield the teams that one of so many steps could make, for these transfers to be made.

        They are the maximal sets without congestion that use every bottleneck (a resource that
        has as many users left as there are steps) and hold one given transfer: some step makes
        it, and steps can change places. 0 is yielded while the search finds nothing: time to look
        at the clock.
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
            # The bottleneck with the fewest transfers to choose from, and of these the busiest.
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
