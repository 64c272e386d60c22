"""Arborescence bounds: cheapest trees against NetworkX, and optima that no other kind shows."""

from __future__ import annotations

import random
from dataclasses import replace

import networkx as nx
import pytest

import cchybrid
from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.checker.arborescences import cheapest_arborescence
from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.proof.arborescences import arborescence_bounds, cheapest_tree
from cchybrid.proof.flow import price_bounds

ONE_PORT = {"switching": "store-and-forward", "ports": 1}


def best(instance: Instance) -> int:
    return max((bound.steps for bound in arborescence_bounds(instance.forward)), default=0)


def random_arcs(seed: int) -> tuple[int, list[tuple[int, int, int]]]:
    draw = random.Random(seed)
    nodes = draw.randint(1, 9)
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    chosen = [pair for pair in pairs if draw.random() < 0.5]
    return nodes, [(a, b, draw.choice((0, 1, 1, 2, 7))) for a, b in chosen]


def networkx_price(nodes: int, arcs: list[tuple[int, int, int]], root: int) -> int | None:
    """Return the price of a cheapest arborescence by NetworkX; ``None`` if there is none."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_weighted_edges_from(arc for arc in arcs if arc[1] != root)
    try:
        tree = nx.minimum_spanning_arborescence(graph)
    except nx.NetworkXException:
        return None
    return int(tree.size("weight"))


@pytest.mark.parametrize("seed", range(150))
def test_cheapest_trees_are_those_of_networkx(seed: int) -> None:
    nodes, arcs = random_arcs(seed)
    expected = networkx_price(nodes, arcs, 0)
    tree = cheapest_tree(nodes, arcs, 0)
    if expected is None:
        assert tree is None
        with pytest.raises(EvidenceError, match="out of reach"):
            cheapest_arborescence(nodes, arcs, 0)
        return
    assert tree is not None
    assert cheapest_arborescence(nodes, arcs, 0) == expected
    assert sum(arcs[k][2] for k in tree) == expected
    assert sorted(arcs[k][1] for k in tree) == list(range(1, nodes))
    reached = nx.DiGraph([arcs[k][:2] for k in tree])
    reached.add_node(0)
    assert nx.descendants(reached, 0) == set(range(1, nodes))


def test_many_nested_cycles_do_not_exhaust_the_stack() -> None:
    """Each pair of neighbours is a cheap cycle, and one cycle after the other is contracted."""
    nodes = 1200  # above Python's limit of recursion
    arcs = [(a, a + 1, nodes - a) for a in range(nodes - 1)]
    arcs += [(a + 1, a, 1) for a in range(nodes - 1)]
    assert cheapest_arborescence(nodes, arcs, 0) == sum(nodes - a for a in range(nodes - 1))


@pytest.mark.parametrize(
    ("topology", "steps"),
    [
        ("random-links-8-10-1", 17),
        ("random-links-8-9-2", 17),
        ("random-links-10-12-4", 16),
        ("scale-free-9-1-1", 28),
        ("random-links-20-36-1", 24),
        ("mesh-5x5", 26),
    ],
)
def test_optima_with_one_port(topology: str, steps: int) -> None:
    """Schedules of so few steps exist."""
    assert best(cchybrid.instance(topology, "AAB", **ONE_PORT)) == steps
    reduction = cchybrid.instance(topology, "AAR", **ONE_PORT)
    assert best(reduction) == steps


def test_half_duplex_links() -> None:
    """Every message crosses each of the five bridges, in one direction or the other."""
    links = [(a, a + 1) for a in range(5)] + [(0, 6), (6, 7), (0, 7), (5, 8), (8, 9), (5, 9)]
    whole = Network.from_links("dumbbell", 10, links)
    network = replace(whole, half_duplex=tuple(links))
    messages = tuple(Message(a, tuple(v for v in range(10) if v != a)) for a in range(10))
    instance = Instance(network, Collective("AAB", messages))
    assert best(instance) == 10
    assert max(bound.steps for bound in price_bounds(instance)) < 10


def test_where_cuts_are_as_good_nothing_is_computed() -> None:
    assert not list(arborescence_bounds(cchybrid.instance("mesh-4x4", "AAB")))
    assert not list(arborescence_bounds(cchybrid.instance("mesh-4x4", "AAS", **ONE_PORT)))


def test_a_network_without_channels_has_no_bound() -> None:
    instance = Instance(Network("two", 2, ()), Collective("one", (Message(0, (1,)),)))
    ports = {"switching": "store-and-forward", "inject": (1, 1), "accept": (1, 1)}
    assert not list(arborescence_bounds(instance.with_model(**ports)))


def test_what_is_refused() -> None:
    prices = [[0, 1, 1], [1, 0, 1], [1, 2, 1], [2, 1, 1]]
    network = Network.from_links("line", 3, [(0, 1), (1, 2)])

    def proven(*messages: Message, **more: object) -> int:
        record = Instance(network, Collective("some", messages)).to_json()
        return proven_steps(record, {"kind": "arborescences", "channels": prices, **more})

    everyone = Message(0, (1, 2)), Message(1, (0, 2))
    assert proven(*everyone) == 1
    with pytest.raises(EvidenceError, match="does not go to all nodes"):
        proven(*everyone, Message(2, (0,)))
    with pytest.raises(EvidenceError, match="ports in wormhole switching"):
        proven(*everyone, inject=[[0, 1]])
    with pytest.raises(EvidenceError, match="nothing has a price"):
        proven(*everyone, channels=[])
