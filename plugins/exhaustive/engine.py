"""Exhaustive search: all networks of a small order up to isomorphism, so the best one is proven.

Nodes are closed one after another: the first open node that has a link gets all its remaining links
at once, in every possible arrangement. Of isomorphic partial networks, with their open nodes, only
the first is continued. A node may keep an empty port only if it is linked to every other node with
an empty port: else a link could be added, and no latency would grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from cchybrid.network_design.bounds import latency_bound
from cchybrid.network_design.canonical import canonical_form
from cchybrid.network_design.cost import LATENCY_TERMS, Cost
from cchybrid.network_design.designer import DesignRun
from cchybrid.network_design.ports import Links, ports_of
from cchybrid.network_design.task import DesignTask
from cchybrid.plugin.engine import Stop
from cchybrid.toolkit.options import require


@dataclass(frozen=True)
class ExhaustiveOptions:
    """The limit of exhaustive search.

    Parameters
    ----------
    nodes
        Tasks with more nodes are not searched.
    """

    nodes: int = 16

    def __post_init__(self) -> None:
        require(self, nodes=2)


class Exhaustive:
    """All networks of a task up to isomorphism, depth first."""

    Options = ExhaustiveOptions

    def __init__(self, options: ExhaustiveOptions) -> None:
        self.options = options

    def unsupported(self, task: DesignTask) -> str | None:
        """Return why the task cannot be searched, or ``None``."""
        if task.nodes > self.options.nodes:
            return f"more than {self.options.nodes} nodes are too many to list all networks"
        if task.max_wire is not None or task.redundant_links:
            return "limited wires and redundant links are not searched exhaustively"
        if not task.uses_only(LATENCY_TERMS):
            return "with terms besides latency, networks with empty ports may be better"
        return None

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        """Offer every network that is better than all before it; stop at the lower bound."""
        cost = Cost(task)
        bound = latency_bound(task).cost(task)
        for listed, links in enumerate(all_networks(task, run), 1):
            run.spend(1)
            found, best = cost(ports_of(task.nodes, task.degree, links)), run.best()
            if best is None or found < best:
                run.offer(links, found)
            run.note(networks=listed)
            if bound is not None and found <= bound + 1e-9:
                return Stop.EXHAUSTED
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED


def all_networks(task: DesignTask, run: DesignRun) -> Iterator[Links]:
    """Yield the connected networks of a task to which no link can be added, up to isomorphism.

    Ends early when ``run`` is over.
    """
    seen: set[bytes] = set()
    stack = [_Partial(task.nodes, task.degree, (), frozenset())]
    while stack and not run.should_stop():
        partial = stack.pop()
        if len(partial.closed) == task.nodes:
            yield partial.links
            continue
        for after in partial.continued():
            form = after.form()
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

    def continued(self) -> Iterator[_Partial]:
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
            if (count < free and not deficient <= linked[node]) or used[node] + count == 0:
                return
            for chosen in combinations(partners, count):
                links = (*self.links, *((min(node, b), max(node, b)) for b in chosen))
                yield _Partial(self.nodes, self.degree, links, self.closed | {node})
