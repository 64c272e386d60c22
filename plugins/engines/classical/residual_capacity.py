"""Residual capacity: of one step, and of all steps."""

from collections import Counter
from collections.abc import Iterable, Sequence

from .context import Context, Path, branch


class ResidualCapacity:
    """The residual capacity of one step.

    Parameters
    ----------
    bidirectional
        Allocate every path together with its reverse.
    representative
        Shape (resources,): the representative of each resource's orbit; ``None``: itself.
    multi_hop
        Allow routes of several hops under store-and-forward switching, too.
    """

    def __init__(
        self,
        context: Context,
        *,
        bidirectional: bool = False,
        representative: Sequence[int] | None = None,
        multi_hop: bool = False,
    ) -> None:
        self._context = context
        self._bidirectional = bidirectional
        self._multi_hop = multi_hop
        self._distinct = representative is None and not bidirectional
        self._representative = representative or range(len(context.capacity))
        self._left = list(context.capacity)

    def allocate(self, path: Path) -> None:
        """Allocate the capacity that a path uses."""
        for resource in self._uses(path):
            self._left[resource] -= 1

    def release(self, path: Path) -> None:
        """Undo ``allocate``."""
        for resource in self._uses(path):
            self._left[resource] += 1

    def fits(self, path: Path) -> bool:
        """Return whether the residual capacity suffices for a path."""
        left, uses = self._left, self._uses(path)
        if self._distinct:
            return all(left[resource] > 0 for resource in uses)
        return all(left[resource] >= times for resource, times in Counter(uses).items())

    def can_inject(self, node: int) -> bool:
        """Return whether the node can inject a message."""
        return self._left[self._representative[self._context.inject[node]]] > 0

    def route(self, source: int, target: int) -> Path | None:
        """Return a shortest allowed path that fits, ``None`` if there is none."""
        accept = self._representative[self._context.accept[target]]
        if not self.can_inject(source) or self._left[accept] <= 0:
            return None
        max_hops = self._context.max_hops(source, target, multi_hop=self._multi_hop)
        path = self._search(source, target, max_hops)
        return path if path is not None and self.fits(path) else None

    def _search(self, source: int, target: int, max_hops: int) -> Path | None:
        """Search breadth first over free channels, among nodes near enough to the target."""
        context, left, representative = self._context, self._left, self._representative
        near, channel, endpoints = context.hops_to(target), context.channel, context.endpoints
        before = {source: source}
        level = [source]
        for hops in range(1, max_hops + 1):
            following = []
            for node in level:
                for other in context.network.successors[node]:
                    if other in before or left[representative[channel[node, other]]] <= 0:
                        continue
                    if other == target:
                        return (*branch(before, node), target)
                    if other not in endpoints and 0 < near[other] <= max_hops - hops:
                        before[other] = node
                        following.append(other)
            level = following
            if not level:  # the number of hops may be huge
                break
        return None

    def _uses(self, path: Path) -> list[int]:
        uses = self._context.uses(path)
        if self._distinct:
            return uses
        if self._bidirectional:
            uses = uses + self._context.uses(path[::-1])
        return [self._representative[resource] for resource in uses]


class Timetable:
    """The loads of all steps, for list scheduling: each transfer in the first step where it fits.

    Parameters
    ----------
    capacity
        Shape (resources,): the capacity per step.
    """

    def __init__(self, capacity: Sequence[int]) -> None:
        self._capacity = capacity
        self._full = [0] * len(capacity)
        self._used: Counter[tuple[int, int]] = Counter()

    def place(self, uses: Iterable[int], first_step: int = 0) -> int:
        """Allocate distinct resources in the first step that they fit into; return the step."""
        resources = tuple(uses)
        # A bit per step in which some resource is full; the lowest unset bit is the step.
        busy = (1 << first_step) - 1
        for resource in resources:
            busy |= self._full[resource]
        step = (~busy & (busy + 1)).bit_length() - 1
        for resource in resources:
            self._used[resource, step] += 1
            if self._used[resource, step] >= self._capacity[resource]:
                self._full[resource] |= 1 << step
        return step
