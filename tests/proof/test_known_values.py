"""Lower bounds that are known from the literature or attained by schedules."""

from dataclasses import replace
from importlib import import_module

import pytest

import cchybrid
from cchybrid.checker import EvidenceError
from cchybrid.checker.certificate import prove
from cchybrid.library.collectives import collective
from cchybrid.library.routing_tables import routing_table
from cchybrid.library.topologies import FAMILIES
from cchybrid.library.topologies.names import resolve
from cchybrid.model import CommunicationModel, Instance, Network
from cchybrid.proof import BOUNDS
from cchybrid.proof.flow import price_bounds


def best_bound(instance: Instance) -> int:
    best = 1
    for info in BOUNDS:
        module, _, name = info.target.partition(":")
        for bound in getattr(import_module(module), name)(instance.forward):
            best = max(best, bound.steps)
    return best


def instance_of(network: str, pattern: str, root: int | None = None, **model: object) -> Instance:
    found = resolve(network, FAMILIES)
    return Instance(found, collective(pattern, found, root=root), CommunicationModel(**model))


# All-to-all broadcast and scatter, one-to-all broadcast and scatter (from node 0).
VALUES = [
    ("hypercube-8", (3, 4, 2, 3)),
    ("ring-bi-8", (4, 8, 2, 4)),
    ("k-ring-8", (2, 3, 2, 2)),
    ("amp-8", (2, 3, 2, 2)),
]
LONG = [
    ("midimew-8", (2, 3, 2, 2)),
    ("mesh-3x3", (4, 6, 2, 4)),
    ("mesh-6x6", (18, 54, 3, 18)),
    ("levi-30", (10, 28, 3, 10)),
    ("2-fat-hypercube-4", (7, 8, 3, 7)),
    ("kautz-12", (4, 7, 2, 4)),
    ("ring-uni-16", (15, 120, 4, 15)),
    ("torus-5x5", (6, 15, 2, 6)),
    ("torus-4x8", (8, 32, 3, 8)),
    ("kautz-36", (12, 34, 3, 13)),
    ("omega-16", (15, 15, 4, 15)),
    ("butterfly-8", (7, 7, 3, 7)),
    ("b-tree-16", (15, 64, 4, 15)),
    ("fat-tree-16", (15, 15, 4, 15)),
    ("full-tree-15", (14, 56, 3, 7)),
]


@pytest.mark.parametrize(
    ("network", "values"), [*VALUES, *(pytest.param(*row, marks=pytest.mark.long) for row in LONG)]
)
def test_published_bounds(network, values):
    found = tuple(best_bound(instance_of(network, name)) for name in ("AAB", "AAS", "OAB", "OAS"))
    assert found == values


def test_other_roots():
    # Edge centre and centre.
    assert [best_bound(instance_of("mesh-5x5", "OAS", root)) for root in (2, 12)] == [8, 6]
    assert [best_bound(instance_of("mesh-4x8", "OAS", root)) for root in (4, 20)] == [11, 8]
    assert best_bound(instance_of("mesh-4x4", "OAB", 1)) == 2


@pytest.mark.slow
def test_routing_changes_the_bound():
    """The shortest paths of the Kautz digraph meet in one channel that longer ones avoid."""
    assert best_bound(instance_of("kautz-36", "AAS")) == 34
    assert best_bound(instance_of("kautz-36", "AAS", routing="any")) == 32
    assert best_bound(instance_of("kautz-36", "OAS", 0)) == 13
    assert best_bound(instance_of("kautz-36", "OAS", 0, routing="any")) == 12


LATE = [pytest.param(*row, marks=pytest.mark.long) for row in (("20-3-2", 9), ("22-3-1", 18))]


@pytest.mark.slow
@pytest.mark.parametrize(("network", "steps"), [("24-3-1", 11), *LATE])
def test_cuts_count_late_entries_in_part(network, steps):
    """Schedules of 9 and 11 steps exist; the cuts without their late steps say 7, 10 and 17."""
    assert best_bound(instance_of(f"random-regular-{network}", "AAB")) == steps


@pytest.mark.long
@pytest.mark.parametrize(
    ("network", "steps"), [("mesh-3x5", 16), ("mesh-5x5", 26), ("mesh-5x7", 36), ("mesh-4x4", 15)]
)
def test_deliveries_from_the_smaller_colour_of_a_mesh_with_one_port(network, steps):
    """Hop by hop, the larger colour class of a 5x5 mesh receives 312 times from 12 nodes."""
    instance = instance_of(network, "AAB", switching="store-and-forward", inject=1, accept=1)
    assert best_bound(instance) == steps


def test_deliveries_over_the_half_duplex_links_of_a_part():
    """A chain of 3 nodes beside a complete network of 6: 24 deliveries over the chain's 4 links.

    All 72 deliveries over all 19 links show 4 steps, and the cut around the chain 5.
    """
    links = [(a, b) for b in range(6) for a in range(b)] + [(0, 6), (6, 7), (7, 8), (1, 8)]
    whole = Network.from_links("chain", 9, links)
    network = replace(whole, half_duplex=tuple(links))
    found = max(price_bounds(Instance(network, collective("AAB", network))), key=lambda b: b.steps)
    assert found.steps == 6
    assert {tuple(price) for price in found.evidence["channels"]} >= {(6, 7, 1)}


CLOCKWISE = [[(v + (v != goal)) % 4 for goal in range(4)] for v in range(4)]


@pytest.mark.parametrize(
    ("words", "collective", "routing", "steps"),
    [
        ("mesh-4x4", "AAS", "xy", 16),  # the bisection
        ("mesh-3x4", "AAS", "yx", 12),
        ("hypercube-8", "AAS", "e-cube", 4),
        ("ring-bi-4", "AAS", CLOCKWISE, 6),  # 1, 2 and 3 hops to the others; 2 steps without
        ("ring-bi-4", "OAS", CLOCKWISE, 3),
        ("ring-bi-4", "AOG", CLOCKWISE, 3),
    ],
)
def test_the_channel_of_the_largest_load_decides_a_scatter(words, collective, routing, steps):
    network = cchybrid.network(words)
    table = routing_table(routing, network)
    instance = instance_of(words, collective, 0 if collective != "AAS" else None, routing=table)
    assert max(bound.steps for bound in price_bounds(instance.forward)) == steps


def test_the_port_of_the_largest_load_decides_a_scatter():
    table = routing_table("xy", cchybrid.network("mesh-2x2"))
    found = instance_of("mesh-2x2", "AAS", routing=table, inject=1, accept=2)
    assert max(bound.steps for bound in price_bounds(found)) == 3


def test_the_scope_of_such_a_bound_is_the_table():
    table = routing_table(CLOCKWISE, cchybrid.network("ring-bi-4"))
    record = instance_of("ring-bi-4", "AAS", routing=table).to_json()
    evidence = {"kind": "linear", "steps": 6, "channels": [[0, 1, 1]]}
    assert prove(record, evidence, "routing table") == 6
    for scope in ("any routing", "minimal routing", "at most 1 extra hops"):
        with pytest.raises(EvidenceError):
            prove(record, evidence, scope)
