"""All networks of a small order, up to isomorphism.

Nodes are closed one after another: the first open node that has a link gets all its remaining links
at once, in every possible arrangement. Of isomorphic partial networks, with their open nodes, only
the first is continued. In a network to which no link can be added, a node may have an empty port
only if it is linked to every other node with an empty port.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from .canonical import canonical_form
from .ports import Links, ports_of
from .task import DesignTask


def all_networks(
    task: DesignTask,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    maximal: bool = True,
    spend: Callable[[int], None] = lambda forms: None,
) -> Iterator[Links]:
    """Yield the connected networks of a task, each once up to isomorphism.

    Limits of wires and redundant links are ignored.

    Parameters
    ----------
    maximal
        Whether to leave out networks to which a link can be added.
    spend
        Called with the number of canonical forms that were computed.
    """
    seen: set[bytes] = set()
    stack = [_Partial(task.nodes, task.degree, (), frozenset())]
    while stack and not should_stop():
        partial = stack.pop()
        if len(partial.closed) == task.nodes:
            yield partial.links
            continue
        for after in partial.continued(maximal):
            form = after.form()
            spend(1)
            if form not in seen:
                seen.add(form)
                stack.append(after)


@dataclass(frozen=True)
class _Partial:
    """A network of which only the links of the closed nodes are final."""

    nodes: int
    degree: int
    links: Links
    closed: frozenset[int]

    def form(self) -> bytes:
        """Return the canonical form, in which closed and open nodes differ."""
        ports = ports_of(self.nodes, self.degree, self.links)
        return canonical_form(ports, [node in self.closed for node in range(self.nodes)])

    def continued(self, maximal: bool) -> "Iterator[_Partial]":
        """Yield the networks in which the next node is closed."""
        used = [0] * self.nodes
        linked: list[set[int]] = [set() for _ in range(self.nodes)]
        for a, b in self.links:
            linked[a].add(b)
            linked[b].add(a)
            used[a] += 1
            used[b] += 1
        open_nodes = [node for node in range(self.nodes) if node not in self.closed]
        reached = [node for node in open_nodes if used[node]] if self.links else open_nodes
        if not reached:
            return  # the other nodes have no link to this part
        node = reached[0]
        deficient = {other for other in self.closed if used[other] < self.degree}
        partners = [
            other
            for other in open_nodes
            if other != node and used[other] < self.degree and other not in linked[node]
        ]
        free = self.degree - used[node]
        for count in range(min(free, len(partners)), -1, -1):
            linkable = maximal and count < free and not deficient <= linked[node]
            if linkable or used[node] + count == 0:
                return
            for chosen in combinations(partners, count):
                links = (*self.links, *((min(node, b), max(node, b)) for b in chosen))
                yield _Partial(self.nodes, self.degree, links, self.closed | {node})
