"""Columns as bits of integers, and the enumeration of their maximal classes.

A class is a set of options, of different deliveries, that fit into one step together. The
enumeration is that of Bron and Kerbosch, with the pruning of Gabrielyan and Hersch (ICON 2004;
thesis sections 4.2.1 and 4.2.2): a *category* (includer, depot, excluder) is the family of all
classes that contain the includer, any part of the depot and nothing of the excluder. It is split by
one column of its depot, which goes into the includer of one half and into the excluder of the
other. Two kinds of categories are dropped: *idle* ones, whose classes cannot use the bottlenecks
enough, and *blank* ones, whose classes are not maximal because an excluded column shares no
resource with the depot.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cchybrid.problem.ragged import grouped
from cchybrid.toolkit.packing import Packing
from cchybrid.toolkit.usage_matrix import IntVector


@dataclass(frozen=True)
class Incidence:
    """Columns 0, 1, ... and the resources that they could overload; sets of columns are integers.

    Parameters
    ----------
    column
        The column of the packing of each.
    uses
        Per column, its resources.
    users
        Per resource, the set of columns that use it once or more, twice or more, and so on.
    capacity
        Per resource; a row of several columns is a resource of capacity 1.
    sharing
        Per column, the set of others that share a resource with it.
    """

    column: tuple[int, ...]
    uses: tuple[tuple[int, ...], ...]
    users: tuple[tuple[int, ...], ...]
    capacity: tuple[int, ...]
    sharing: tuple[int, ...]

    @classmethod
    def of(cls, packing: Packing, column: IntVector) -> "Incidence":
        """Return the incidence of these columns, in this order."""
        place, resource, count = packing.uses.entries(column)
        users: list[tuple[int, ...]] = []
        capacity: list[int] = []
        for found, (members, counts) in grouped(resource, place, count):
            users.append(
                tuple(
                    sum(1 << n for n, count in zip(members, counts, strict=True) if count > times)
                    for times in range(max(counts))
                )
            )
            capacity.append(int(packing.capacity[found]))
        for _, (members,) in grouped(packing.row[column], np.arange(len(column))):
            users.append((sum(1 << n for n in members),))
            capacity.append(1)
        decides = [
            number
            for number, levels in enumerate(users)
            if sum(map(int.bit_count, levels)) > capacity[number]
        ]
        users, capacity = [users[n] for n in decides], [capacity[n] for n in decides]
        uses: list[list[int]] = [[] for _ in column]
        for number, levels in enumerate(users):
            for member in bits(levels[0]):
                uses[member].append(number)
        sharing = []
        for number, resources in enumerate(uses):
            others = 0
            for each in resources:
                others |= users[each][0]
            sharing.append(others & ~(1 << number))
        return cls(
            tuple(column.tolist()),
            tuple(map(tuple, uses)),
            tuple(users),
            tuple(capacity),
            tuple(sharing),
        )

    @property
    def everything(self) -> int:
        """The set of all columns."""
        return (1 << len(self.column)) - 1

    def columns(self, chosen: int) -> IntVector:
        """Return a set as sorted columns of the packing."""
        return np.array(sorted(self.column[number] for number in bits(chosen)), dtype=np.int64)

    def load(self, resource: int, chosen: int) -> int:
        """Return how often a set of columns uses a resource."""
        found = 0
        for users in self.users[resource]:
            found += (users & chosen).bit_count()
        return found

    def min_steps(self, chosen: int) -> int:
        """Return the maximal relative load, a lower bound on the steps of all these columns."""
        loads = (
            -(-self.load(resource, chosen) // capacity)
            for resource, capacity in enumerate(self.capacity)
        )
        return max((1 if chosen else 0, *loads))

    def classes(self, rest: int, steps: int | None = None) -> Iterator[int]:
        """Yield the maximal classes of these columns, each once.

        Parameters
        ----------
        rest
            A set of columns.
        steps
            If all columns are to take this many steps: yield only classes that use every resource
            as much as needed, and that contain one given column, which loses nothing, as steps are
            interchangeable. At least ``min_steps(rest)``.

        Yields
        ------
        int
            A class, or 0 for a dropped category, so that the caller can check limits.
        """
        includer, depot = 0, rest
        needed: list[tuple[int, int]] = []
        if steps is not None:
            for resource, capacity in enumerate(self.capacity):
                need = self.load(resource, rest) - (steps - 1) * capacity
                if need > 0:
                    needed.append((resource, need))
            first = max(bits(rest), key=lambda number: (self.sharing[number] & rest).bit_count())
            includer = 1 << first
            depot &= ~includer & ~self._blocked(includer, first)
        busy = [(others & rest).bit_count() for others in self.sharing]
        waiting = [(includer, depot, 0)]
        while waiting:
            includer, depot, excluder = waiting.pop()
            short = [(r, need) for r, need in needed if self.load(r, includer) < need]
            idle = any(self.load(r, includer | depot) < need for r, need in short)
            if idle or any(not self.sharing[number] & depot for number in bits(excluder)):
                yield 0
                continue
            if not depot:
                yield includer
                continue
            # Split at the bottleneck with the fewest candidates, by the most congested of them.
            open_ = (self.users[resource][0] & depot for resource, _ in short)
            narrow = min(open_, key=int.bit_count, default=depot)
            new = max(bits(narrow), key=busy.__getitem__)
            depot &= ~(1 << new)
            waiting.append((includer, depot, excluder | 1 << new))
            includer |= 1 << new
            left = ~self._blocked(includer, new)
            waiting.append((includer, depot & left, excluder & left))

    def _blocked(self, chosen: int, new: int) -> int:
        """Return the columns that do not fit beside a class, for one of its columns' resources."""
        found = 0
        for resource in self.uses[new]:
            room = self.capacity[resource] - self.load(resource, chosen)
            levels = self.users[resource]
            if room < len(levels):
                found |= levels[room]
        return found


def bits(chosen: int) -> Iterator[int]:
    """Yield the columns of a set."""
    while chosen:
        lowest = chosen & -chosen
        yield lowest.bit_length() - 1
        chosen ^= lowest
