"""What resources have left: in one step (``Room``), and in all of them (``Timetable``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .setting import Path, Setting


class Room:
    """One step: which transfers fit, and which way they may take.

    Parameters
    ----------
    returning
        Whether every path is taken together with its reverse.
    alike
        Shape (resources,): the resource that stands for each; ``None`` if each stands for itself.
    passing
        Whether routes may be of several hops whatever the switching.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        returning: bool = False,
        alike: Sequence[int] | None = None,
        passing: bool = False,
    ) -> None:
        self._setting = setting
        self._returning = returning
        self._passing = passing
        self._alike = range(len(setting.capacity)) if alike is None else alike
        self._distinct = alike is None and not returning
        self._left = list(setting.capacity)

    def emptied(self) -> Room:
        """Return the room as it was before anything was taken."""
        return Room(
            self._setting,
            returning=self._returning,
            alike=self._alike,
            passing=self._passing,
        )

    def take(self, path: Path) -> None:
        """Use up what the path uses."""
        for resource in self._uses(path):
            self._left[resource] -= 1

    def give_back(self, path: Path) -> None:
        """Undo ``take``."""
        for resource in self._uses(path):
            self._left[resource] += 1

    def fits(self, path: Path) -> bool:
        """Return whether there is room for the path."""
        left, uses = self._left, self._uses(path)
        if self._distinct:
            return all(left[resource] > 0 for resource in uses)
        return all(left[resource] >= times for resource, times in Counter(uses).items())

    def sends(self, node: int) -> bool:
        """Return whether the node can inject a message."""
        return self._left[self._alike[self._setting.inject[node]]] > 0

    def accepts(self, node: int) -> bool:
        """Return whether the node can accept a message."""
        return self._left[self._alike[self._setting.accept[node]]] > 0

    def route(self, source: int, target: int) -> Path | None:
        """Return an allowed path that fits, a shortest one of those; ``None`` without one."""
        if not self.sends(source) or not self.accepts(target):
            return None
        setting = self._setting
        most = setting.most_hops(source, target, passing=self._passing)
        if most == 0:
            return None
        path = self._search(source, target, most)
        return path if path is not None and self.fits(path) else None

    def _search(self, source: int, target: int, most: int) -> Path | None:
        """Search breadth first over what is left, among nodes near enough to the target."""
        setting, left, alike = self._setting, self._left, self._alike
        near, channel, barred = setting.hops_to(target), setting.channel, setting.barred
        before = {source: source}
        level = [source]
        for hops in range(1, most + 1):
            following = []
            for node in level:
                for other in setting.network.successors[node]:
                    if other in before or left[alike[channel[node, other]]] <= 0:
                        continue
                    if other == target:
                        return _walk_back(before, node, target)
                    if other not in barred and 0 < near[other] <= most - hops:
                        before[other] = node
                        following.append(other)
            level = following
        return None

    def _uses(self, path: Path) -> list[int]:
        uses = self._setting.uses(path)
        if self._distinct:
            return uses
        if self._returning:
            uses = uses + self._setting.uses(path[::-1])
        return [self._alike[resource] for resource in uses]


def _walk_back(before: dict[int, int], node: int, target: int) -> Path:
    path = [target, node]
    while before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return tuple(path[::-1])


class Timetable:
    """All steps: places transfers one after the other, each into the first step with room.

    Parameters
    ----------
    capacity
        Uses that each resource allows per step.
    """

    def __init__(self, capacity: Sequence[int]) -> None:
        self._capacity = capacity
        self._full = [0] * len(capacity)
        self._used: Counter[tuple[int, int]] = Counter()

    def place(self, uses: Iterable[int], begin: int = 0) -> int:
        """Take the first step from ``begin`` on that has room for these distinct resources."""
        resources = tuple(uses)
        # A bit per step that has no room; the lowest unset one is wanted.
        busy = (1 << begin) - 1
        for resource in resources:
            busy |= self._full[resource]
        step = (~busy & (busy + 1)).bit_length() - 1
        for resource in resources:
            self._used[resource, step] += 1
            if self._used[resource, step] >= self._capacity[resource]:
                self._full[resource] |= 1 << step
        return step
