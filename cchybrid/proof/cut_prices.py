"""Evidence of a cut: prices of the channels or ports by which messages enter a set of nodes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate, count
from typing import Any

from cchybrid.checker import Network
from cchybrid.proof.entries import Need
from cchybrid.proof.linear_evidence import groups_of_goals, linear, rows_over_time

MAX_WORK = 1 << 20
"""Steps, times places that have a price, up to which late entries are valued."""

MAX_ALONE = 10_000
"""Nodes, times messages that enter, above which the nodes outside are one block: the checker then
computes incomes for all sources at once, instead of anew for each."""

MAX_ROUTED = 1_000_000
"""Nodes, times channels, above which messages pay for the set, not for their cheapest routes: the
checker takes seconds for those."""

Place = tuple[int, ...]
"""A channel or a node."""


class Crossing:
    """The messages that enter a set, and the places where each of them pays.

    Parameters
    ----------
    kind
        Which limit of the entries per step has prices: ``channels``, or ``inject`` or ``accept``,
        in store-and-forward switching those ports that carry less than the channels there.
    both
        Whether messages that leave the set count, too.
    """

    def __init__(self, network: Network, inside: set[int], kind: str, both: bool) -> None:
        self.network = network
        self.sides = [inside]
        if both:
            self.sides.append(set(range(network.nodes)) - inside)
        self.entering: dict[int, list[int]] = {}
        """The destinations across the cut, by message."""
        for message, (source, goals) in enumerate(network.messages):
            for side in self.sides:
                if source not in side:
                    across = sorted(side.intersection(goals))
                    if across:
                        self.entering[message] = across
        self.tables: dict[str, dict[Place, int]] = {"channels": {}, "inject": {}, "accept": {}}
        """The capacity of each place in a step."""
        self.hops: dict[tuple[str, Place], list[tuple[int, int]]] = {}
        """The channels into the set by table and place where those who use them pay."""
        if kind == "channels" or network.hop_by_hop:
            self._add_channels(kind)
        else:
            self._add_ports(kind)

    def _add_channels(self, kind: str) -> None:
        network = self.network
        end = {"inject": 0, "accept": 1}.get(kind)
        into: Counter[int] = Counter()
        for a, b in network.channels:
            if end is not None and self._enters(a, b):
                into[(a, b)[end]] += network.channels[a, b]
        for a, b in network.channels:
            if not self._enters(a, b):
                continue
            node = None if end is None else (a, b)[end]
            if node is not None and self._ports(kind)[node] < into[node]:
                self._add(kind, (node,), self._ports(kind)[node], (a, b))
            else:
                self._add("channels", network.link(a, b), network.channels[a, b], (a, b))

    def _add_ports(self, kind: str) -> None:
        inside = self.sides[0]
        holders = set()
        for message in self.entering:
            source, goals = self.network.messages[message]
            holders |= {source, *goals}
        chosen = holders - inside if kind == "inject" else holders & inside
        for node in sorted(chosen):
            self._add(kind, (node,), self._ports(kind)[node], None)

    def _ports(self, kind: str) -> list[int]:
        return self.network.inject if kind == "inject" else self.network.accept

    def _add(self, table: str, place: Place, size: int, hop: tuple[int, int] | None) -> None:
        self.tables[table][place] = size
        self.hops.setdefault((table, place), []).extend([] if hop is None else [hop])

    def _enters(self, a: int, b: int) -> bool:
        return any(a not in side and b in side for side in self.sides)

    @property
    def rate(self) -> int:
        """The capacity of all places in a step."""
        return sum(sum(table.values()) for table in self.tables.values())

    def evidence(self, need: Need) -> Iterator[dict[str, Any]]:
        """Yield evidence of the steps that the messages need, the simplest first."""
        if not self.rate:
            return
        steps = -(-len(self.entering) // self.rate)
        rows = {key: [[*place, 1] for place in table] for key, table in self.tables.items()}
        network, groups = self.network, list[dict[str, Any]]()
        by_hops = network.hop_by_hop or bool(self.tables["channels"])
        if by_hops and network.nodes * len(network.channels) > MAX_ROUTED:
            groups = [{"sets": [[1, *sorted(side)] for side in self.sides]}]
        yield linear(steps, **rows, groups=groups)
        if need.width > 1:
            found = self.with_shares(need.width)
            if found is not None:
                yield found

    def with_shares(
        self, width: int, first: Mapping[tuple[str, Place], int] | None = None
    ) -> dict[str, Any] | None:
        """Return evidence of the steps that messages need with this width: destinations inside.

        ``first`` is the first step in which a message can pay at a place.
        """
        goals = {m: nodes[:width] for m, nodes in self.entering.items() if len(nodes) >= width}
        paid = width * len(goals)
        values = self._values(width, {node for nodes in goals.values() for node in nodes})
        prices: dict[tuple[str, Place], list[int]] = {key: [] for key in self.hops}
        sizes = {key: self.tables[key[0]][key[1]] for key in self.hops}
        value: Mapping[int, int] = {}
        for steps in count():
            # With more steps, a place is open for as many more at the beginning.
            later = next(values, None)
            value = value if later is None else later
            highest = max(value.values(), default=0)
            for key, hops in self.hops.items():
                local = self.network.hop_by_hop and hops
                prices[key].append(max(value[b] for _, b in hops) if local else highest)
            opened = {key: steps + 2 - (first or {}).get(key, 1) for key in sizes}
            offered = sum(
                sum(prices[key][: max(0, opened[key])]) * size for key, size in sizes.items()
            )
            if offered >= paid:
                break
            if later is None and not any(row[-1] for row in prices.values()):
                return None  # no destination can be reached, however many steps there are
            if steps * len(sizes) > MAX_WORK:
                return None
        tables = {
            table: rows_over_time(
                (
                    place,
                    [
                        0 if left >= opened[table, place] - 1 else prices[table, place][left]
                        for left in reversed(range(steps))
                    ],
                )
                for place in self.tables[table]
            )
            for table in self.tables
        }
        groups = groups_of_goals(goals)
        if first is None and self.network.nodes * len(goals) > MAX_ALONE and len(self.sides) == 1:
            # Entries cost what they can lead to in every step, so nodes outside have no income.
            block = sorted(set(range(self.network.nodes)) - self.sides[0])
            groups = [group | {"blocks": [block]} for group in groups]
        return linear(steps + 1, **tables, groups=groups)

    def _values(self, width: int, goals: set[int]) -> Iterator[dict[int, int]]:
        """Yield what an entry at each node is worth with 0, 1, 2, ... steps left, until it stays.

        It is at most the number of goals that the node and those that it informs are.
        """
        network = self.network
        nodes = {v for side in self.sides for v in side if network.hop_by_hop or v in goals}
        side_of = {v: i for i, side in enumerate(self.sides) for v in side}
        inner = {
            v: [b for b in network.successors[v] if side_of.get(b) == side_of[v]] for v in nodes
        }
        income = dict.fromkeys(nodes, 0)
        while True:
            value = {v: min(width, (v in goals) + income[v]) for v in nodes}
            yield value
            before = income
            if network.hop_by_hop:
                income = {
                    v: min(width, self._hops_income(v, inner[v], value, income[v])) for v in nodes
                }
            else:
                sums = [
                    [
                        0,
                        *accumulate(
                            sorted((value[v] for v in nodes if side_of[v] == i), reverse=True)
                        ),
                    ]
                    for i in range(len(self.sides))
                ]
                income = {
                    v: min(
                        width,
                        income[v]
                        + sums[side_of[v]][min(network.inject[v], len(sums[side_of[v]]) - 1)],
                    )
                    for v in nodes
                }
            if income == before:
                return

    def _hops_income(
        self, node: int, inner: list[int], value: Mapping[int, int], income: int
    ) -> int:
        """Return what a node earns inside with one step more left, hop by hop."""
        network = self.network
        spared = set(network.predecessors[node]) <= set(network.successors[node])
        after = len(network.successors[node]) - spared
        best = sorted((value[b] for b in inner), reverse=True)[:after]
        return min(sum(best), income + sum(best[: network.inject[node]]))
