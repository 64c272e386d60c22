"""Block bounds: linear rows between blocks of nodes that wide channels join.

A channel that carries more than others joins its nodes to a block, so only the narrow channels
between the blocks count. The time-expanded relaxation between blocks (``block_relaxation``) is
small, and stronger than the one between nodes, which does not see that a message that is new in two
nodes of a block is one message.
"""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from cchybrid.checker import Network
from cchybrid.model import Instance, LowerBound
from cchybrid.proof.block_relaxation import BlockRelaxation
from cchybrid.proof.climbing import refute_ever_more
from cchybrid.proof.contradiction import Contradiction, find_contradiction
from cchybrid.proof.farkas import CHEAPER, MAX_TERMS, MIN_FLOW_TERMS, UNITS
from cchybrid.proof.rounded_evidence import Part, rounded_evidence

Blocks = list[list[int]]
"""The nodes of every block."""


def block_bounds(instance: Instance) -> Iterator[LowerBound]:
    """Yield bounds above those of the cheaper kinds, for messages with several destinations."""
    if all(len(message.destinations) == 1 for message in instance.collective.deliver_messages):
        return
    record = instance.to_json()
    if not _small_divisions(Network(record), 1):
        return
    cheaper = chain.from_iterable(kind(instance.widest) for kind in CHEAPER)
    known = max((bound.steps for bound in cheaper), default=1)
    yield from refute_ever_more(instance, known, lambda steps: refute_blocks(record, steps))


def refute_blocks(instance: Mapping[str, Any], steps: int) -> dict[str, Any] | None:
    """Return evidence that no schedule has at most ``steps`` steps, or ``None``.

    Parameters
    ----------
    instance
        A ``cchybrid-instance/1`` object.
    """
    network = Network(instance)
    found = (refute_between(network, blocks, steps) for blocks in _small_divisions(network, steps))
    return next((evidence for evidence in found if evidence is not None), None)


def refute_between(network: Network, blocks: Blocks, steps: int) -> dict[str, Any] | None:
    """Return evidence of a division into blocks, or ``None``."""
    relaxation = BlockRelaxation(network, numbered(blocks), steps)
    found = find_contradiction(relaxation, relaxation.all_keys(), MAX_TERMS, units=UNITS)
    if found is None:
        return None
    return rounded_evidence(network, steps, _parts(network, blocks, found), blocks=blocks)


def numbered(blocks: Blocks) -> list[int]:
    """Return the number of the block of every node."""
    block_of = {node: number for number, nodes in enumerate(blocks) for node in nodes}
    return [block_of[node] for node in range(len(block_of))]


def _parts(network: Network, blocks: Blocks, found: Contradiction) -> dict[Part, float]:
    """Return the prices, worths and charges that a contradiction between blocks stands for.

    The destinations in a block share its worth; its first node stands for it in charges.
    """
    block_of = numbered(blocks)
    between: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for a, b in network.channels:
        between.setdefault((block_of[a], block_of[b]), []).append((a, b))
    parts: dict[Part, float] = {}
    for (kind, *numbers), times in found.rows.items():
        if kind == "channel":
            p, q, step = numbers
            parts |= {("price", "channels", hop, step): times for hop in between[p, q]}
        elif kind == "goal":
            m, q = numbers
            goals = [node for node in network.messages[m][1] if block_of[node] == q]
            left = times - found.limits.get(("served", m, q), 0.0)
            parts |= {("worth", m, node): left / len(goals) for node in goals}
    for (kind, *numbers), times in found.limits.items():
        if kind == "has":
            m, q, step = numbers
            parts["once", m, blocks[q][0], step] = times
    return parts


def wide_blocks(network: Network) -> list[Blocks]:
    """Return the divisions into the components of all channels above each capacity."""
    widths = sorted(set(network.channels.values()))
    if len(widths) < 2:
        return []
    import networkx as nx  # a quarter of a second, longer than many a run

    found: list[Blocks] = []
    for min_width in widths[1:]:
        graph = nx.Graph()
        graph.add_nodes_from(range(network.nodes))
        graph.add_edges_from(hop for hop, width in network.channels.items() if width >= min_width)
        blocks = sorted(sorted(component) for component in nx.connected_components(graph))
        if 1 < len(blocks) < network.nodes and blocks not in found:
            found.append(blocks)
    return found


def _small_divisions(network: Network, steps: int) -> list[Blocks]:
    """Return the divisions whose rows have few enough terms."""
    return [
        blocks
        for blocks in wide_blocks(network)
        if MIN_FLOW_TERMS * BlockRelaxation(network, numbered(blocks), steps).flows <= MAX_TERMS
    ]
