"""Networks in epochs: links of any rate, switches that copy, and a lower bound by arithmetic.

The clusters are the ones that TE-CCL computes with (X. Liu et al., Rethinking machine learning
collective communication as a multi-commodity flow problem, SIGCOMM 2024; github.com/microsoft/
TE-CCL, teccl/topologies): NDv2 and DGX-2, with gigabytes per second.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import networkx as nx

from cchybrid.library.topologies import FAMILIES, network
from cchybrid.library.topologies.names import rates_of
from cchybrid.model.shown import counted

TOLERANCE = Fraction(1, 100_000)
"""Volume of a chunk below which differences are those of rounding: TE-CCL writes six digits."""

MAX_EPOCHS = 1 << 60
"""More epochs than any schedule has."""

Link = tuple[int, int]
Demands = Mapping[tuple[int, int], frozenset[int]]
"""Per source and chunk, the nodes that need it."""

_INFINIBAND, _NVSWITCH = Fraction(25, 2), 125


@dataclass(frozen=True)
class EpochNetwork:
    """A network with gigabytes per second of each link.

    Parameters
    ----------
    name
        The name for people.
    gpus, switches
        The nodes; a switch copies what it receives, and forwards it at once.
    links
        Gigabytes per second of each link.
    parts
        Sets of nodes whose cuts are tried for the bound, besides single nodes.
    """

    name: str
    gpus: frozenset[int]
    switches: frozenset[int]
    links: Mapping[Link, Fraction]
    parts: tuple[frozenset[int], ...]

    @property
    def nodes(self) -> frozenset[int]:
        """All nodes."""
        return self.gpus | self.switches


def ndv2(chassis: int) -> EpochNetwork:
    """Return an NDv2 cluster, as ``ndv2-xN``; more than two chassis are joined by switch 0."""
    cluster = network(f"ndv2-x{chassis}")
    rates = rates_of(cluster, FAMILIES)
    assert rates is not None
    # The switch is the last node there.
    first, nodes = len(cluster.switches), cluster.nodes
    links = {
        ((a + first) % nodes, (b + first) % nodes): rate
        for (a, b, _), (rate, _) in zip(cluster.channels, rates.of(cluster), strict=True)
    }
    parts = tuple(frozenset(range(base, base + 8)) for base in range(first, nodes, 8))
    gpus, switches = frozenset(range(first, nodes)), frozenset(range(first))
    return EpochNetwork(f"NDv2, {chassis} chassis", gpus, switches, links, parts)


def dgx2() -> EpochNetwork:
    """Return two DGX-2: 16 GPUs and an NVSwitch each, and 8 InfiniBand links each way."""
    links: dict[Link, Fraction] = {}
    parts = []
    for switch, other in ((0, 17), (17, 0)):
        gpus = range(switch + 1, switch + 17)
        for gpu in gpus:
            links[switch, gpu] = links[gpu, switch] = Fraction(_NVSWITCH)
        parts += [frozenset((switch, *gpus)), frozenset(gpus)]
        for k in range(1, 16, 2):
            links[switch + 1 + k, other + k] = _INFINIBAND
    switches = frozenset({0, 17})
    everyone = frozenset(range(34)) - switches
    return EpochNetwork("DGX-2, 2 chassis", everyone, switches, links, tuple(parts))


KNOWN = (ndv2(2), ndv2(4), dgx2())


def recognise(gpus: Iterable[int], links: Iterable[Link]) -> EpochNetwork | None:
    """Return the only known network that has these GPUs and links, or ``None``."""
    used, nodes = set(links), frozenset(gpus)
    fitting = [each for each in KNOWN if used <= set(each.links) and nodes <= each.gpus]
    # The cluster with the fewest GPUs that are not used.
    fitting.sort(key=lambda each: len(each.gpus - nodes))
    return fitting[0] if fitting and len(fitting[0].gpus - nodes) <= 1 else None


def nearly(gpus: Iterable[int], links: Iterable[Link]) -> str:
    """Return which known network has these GPUs, and how many of the links it lacks, in words.

    "" if none has these GPUs and more than half of the links.
    """
    used, nodes = set(links), frozenset(gpus)
    fitting = [each for each in KNOWN if nodes <= each.gpus and len(each.gpus - nodes) <= 1]
    lacking = [(sorted(used - set(each.links)), each.name) for each in fitting]
    missing, name = min(lacking, key=lambda pair: len(pair[0]), default=([], ""))
    if not missing or 2 * len(missing) >= len(used):
        return ""
    return f"{name} lacks {len(missing)} of its links, such as {'->'.join(map(str, missing[0]))}"


def epoch_bound(
    network: EpochNetwork,
    switches: frozenset[int],
    demands: Demands,
    per_epoch: Mapping[Link, Fraction],
    *,
    parts: bool,
) -> tuple[int, str]:
    """Return epochs that every schedule needs, and the arithmetic as one line.

    Into a set of nodes, every chunk that one of them needs and none of them has must enter, over
    links that carry a given number of chunks per epoch. The last one of whole chunks to enter
    still has to reach the farthest node of the set, if all of them need all chunks. Start-up times
    are not counted.

    Parameters
    ----------
    switches
        The nodes that forward at once and copy.
    per_epoch
        Chunks per epoch of each link.
    parts
        Whether parts of chunks may be sent, and none is copied; else chunks are whole.
    """
    hops = {link: 0 if link[0] in switches else ceil(1 / rate) for link, rate in per_epoch.items()}
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((a, b, epochs) for (a, b), epochs in hops.items())
    distances = dict(nx.all_pairs_dijkstra_path_length(graph))
    best, reason = 0, ""
    nodes = network.nodes
    candidates = [frozenset({node}) for node in sorted(nodes - switches)]
    candidates += [part - left for part in network.parts for left in (frozenset(), switches)]
    candidates += [nodes - part for part in candidates]
    for part in candidates:
        entering = {link: rate for link, rate in per_epoch.items() if _enters(link, part)}
        entrants = [
            needed & part
            for (source, _), needed in demands.items()
            if source not in part and needed & part
        ]
        if not entrants or not entering:
            continue
        inside = part - switches
        tail = 0
        if parts:
            # What is needed less, and carried more, within the tolerance of the checks.
            lost = TOLERANCE * ((1 + len(nodes)) * len(entrants) + len(entering))
            epochs = ceil((len(entrants) - lost) / sum(entering.values()))
        else:
            epochs = _epochs_for(len(entrants), entering, per_epoch, switches)
        if not parts and all(each == inside for each in entrants):
            heads = {b for _, b in entering}
            tail = max(min(distances[b].get(node, 0) for b in heads) for node in inside)
        if epochs + tail > best:
            best = epochs + tail
            reason = f"{counted(len(entrants), 'chunk')} into {_shown(inside)}"
            reason += f" over {counted(len(entering), 'link')}: {counted(epochs, 'epoch')}"
            reason += f", and {tail} to the farthest GPU" if tail else ""
    return best, reason


def _enters(link: Link, part: frozenset[int]) -> bool:
    return link[1] in part and link[0] not in part


def _epochs_for(
    chunks: int,
    entering: Mapping[Link, Fraction],
    per_epoch: Mapping[Link, Fraction],
    switches: frozenset[int],
) -> int:
    """Return the fewest epochs in which links carry a number of whole chunks.

    The chunks that begin within the window of a link, the epochs that it takes for a chunk, are
    limited. Out of a switch, the first one begins when one has arrived there, and the last one may
    begin at the end.
    """
    windows = {link: ceil(1 / rate) for link, rate in per_epoch.items()}
    carried = []
    for link, rate in entering.items():
        window = windows[link]
        first = window
        if link[0] in switches:
            first = min((windows[a, b] for a, b in windows if b == link[0]), default=window)
        carried.append((first, window, int(rate * window + TOLERANCE)))

    def total(epochs: int) -> int:
        return sum(
            size * -(-(epochs - first + 1) // window)
            for first, window, size in carried
            if epochs >= first
        )

    return bisect_left(range(MAX_EPOCHS), chunks, 1, key=total)


def _shown(part: frozenset[int]) -> str:
    numbers = sorted(part)
    if len(numbers) == 1:
        return f"GPU {numbers[0]}"
    if numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"GPUs {numbers[0]} to {numbers[-1]}"
    return f"{len(numbers)} GPUs"
