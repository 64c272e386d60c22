"""Tasks: bad input gets one line with a hint, layouts are as the paper describes them."""

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.ports import check_links, links_of, network_of, ports_of
from cchybrid_plugins.design.network.random_networks import random_network
from cchybrid_plugins.design.network.task import LAYOUTS, DesignTask, layout
from cchybrid_plugins.design.network.term_functions import longest_wire
from cchybrid_plugins.design.network.terms import CHEAPEST_FIRST, TERMS
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker.instance import EvidenceError
from cchybrid.design_checker import DESIGN_FORMAT, check_design
from cchybrid.design_checker.figures import _wires
from cchybrid.model import CommunicationModel
from cchybrid.model.errors import InputError
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import examples
from tests.plugins.design.network.plain_distances import plain_total, ring, torus

ROOT = Path(__file__).parents[4]
PORTS_PER_NODE = CommunicationModel(inject=(1,) * 8, accept=(1,) * 8)
DECIMALS = st.integers(-30, 30).map(lambda tenths: tenths / 10)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"nodes": 1}, "1 nodes; use 2 to 2048"),
        ({"nodes": 5000}, "5000 nodes"),
        ({"degree": 0}, "degree 0; use at least 1"),
        ({"degree": 8}, "use at most 7, or allow redundant links"),
        ({"degree": 1}, "not connected"),
        ({"degree": 5000, "redundant_links": True}, "degree 5000"),
        ({"weights": ()}, "no cost term"),
        ({"weights": (("latncy", 1.0),)}, "did you mean latency?"),
        ({"weights": (("latency", 0.0),)}, "weight 0.0 of latency; use a positive number"),
        ({"weights": (("latency", math.inf),)}, "weight inf"),
        ({"weights": (("latency", math.nan),)}, "weight nan"),
        ({"weights": (("latency", 1.0), ("latency", 1.0))}, "listed twice"),
        ({"weights": (("latency", 1e-12),)}, "weight 1e-12 of latency; use 1e-06 to 1e"),
        ({"weights": (("latency", 1e-3), ("max-latency", 2.0))}, "within a factor of 1,000"),
        ({"weights": (("wire", 1.0),)}, "needs positions"),
        ({"max_wire": 3.0}, "needs positions; give a layout"),
        ({"positions": ((0.0,),)}, "1 positions for 8 nodes"),
        ({"positions": ((0.0,),) * 7 + ((0.0, 1.0),)}, r"positions\[7\]: 2 coordinates"),
        ({"positions": ((0.0,),) * 7 + ((math.nan,),)}, "not finite"),
        ({"positions": layout("backplane", 8), "max_wire": 0.0}, "longest wire 0"),
        ({"positions": layout("backplane", 8), "max_wire": math.nan}, "longest wire nan"),
        ({"positions": layout("backplane", 8), "max_wire": 0.5}, "do not connect the nodes"),
        ({"collective": "multicast"}, "not designed for 'multicast'"),
        ({"collective": "AAX"}, "not designed for 'AAX'"),
        ({"weights": (("steps", 1.0),)}, "needs a collective"),
        ({"collective": "AAS", "model": PORTS_PER_NODE}, "ports per node"),
    ],
)
def test_bad_tasks_are_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        DesignTask(**{"nodes": 8, "degree": 3, **fields})
    assert caught.value.hint
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "nodes", "message"),
    [
        ("plane", 4, "use backplane, centreplane, grid-WxH"),
        ("centreplane", 5, "not two equal lines"),
        ("grid-2x3", 5, "6 places for 5 nodes"),
        ("grid-2x", 4, "no layout"),
    ],
)
def test_bad_layouts_are_refused(name: str, nodes: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        layout(name, nodes)


@pytest.mark.parametrize("weight", [1e-6, 1.0, 1e6])
def test_costs_that_count_as_equal_are_closer_than_any_two_latencies(weight: float) -> None:
    task = DesignTask(2048, 3, (("latency", weight), ("max-latency", 1.0 * weight)))
    assert 0 < task.tolerance < weight / 2048**2


def test_layouts() -> None:
    assert layout("backplane", 3) == ((0, 0), (1, 0), (2, 0))
    assert layout("centreplane", 4) == ((0, 0), (1, 0), (0, 1), (1, 1))
    assert layout("grid-3x2", 6)[4] == (1, 1)


def test_a_hypercube_of_16_nodes_fits_a_centreplane_and_no_backplane() -> None:
    """Table 4: wires of at most 4."""
    cube = [(a, a ^ bit) for bit in (1, 2, 4, 8) for a in range(16) if not a & bit]
    fits, long = (
        DesignTask(16, 4, positions=layout(name, 16), max_wire=4)
        for name in ("centreplane", "backplane")
    )
    check_links(fits, cube)
    with pytest.raises(InputError, match="has length 8; use wires of at most 4"):
        check_links(long, cube)
    assert [longest_wire(task, ports_of(16, 4, cube)) for task in (fits, long)] == [4, 8]


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([(0, 0)], "link two different nodes"),
        ([(0, 8)], "of 0 to 7"),
        ([(-1, 2)], "a link from -1"),
        ([(0, 1), (0, 2), (0, 3), (0, 4)], "node 0 has more than 3 links"),
        ([(0, 1), (1, 0)], "redundant"),
    ],
)
def test_bad_links_are_refused(links: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_links(DesignTask(8, 3), links)


def test_ports_and_links_are_the_same_network() -> None:
    links = tuple(sorted(torus(4, 4)))
    assert links_of(ports_of(16, 4, links)) == links
    assert links_of(ports_of(16, 6, links)) == links
    twice = ((0, 1), (0, 1), (1, 2))
    assert links_of(ports_of(3, 4, twice)) == twice


def test_a_network_has_the_links_and_the_positions() -> None:
    task = DesignTask(4, 2, positions=((0.0,), (1.0,), (2.0,), (3.0,)), max_wire=3)
    network = network_of(task, [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert (network.nodes, len(network.channels), network.symmetric) == (4, 8, True)
    assert network.positions == ((0, 0), (1, 0), (2, 0), (3, 0))


def test_all_terms_are_defined() -> None:
    assert all(name == term.name and term.summary for name, term in TERMS.items())
    targets = [TERMS[name].target for name in CHEAPEST_FIRST]
    assert sorted(targets) == sorted({term.target for term in TERMS.values()})
    places = sorted((term.target, term.index) for term in TERMS.values())
    assert len(set(places)) == len(places)


def test_the_cost_is_the_weighted_sum() -> None:
    task = DesignTask(
        16,
        4,
        weights=(("latency", 2.0), ("max-latency", 0.5), ("connectivity", 3.0), ("wire", 1.0)),
        positions=layout("grid-4x4", 16),
    )
    cost = Cost(task)
    ports = ports_of(16, 4, torus(4, 4))
    assert cost.values(ports) == {"latency": 2, "max-latency": 4, "connectivity": 4, "wire": 3}
    assert cost(ports) == 2 * 2 + 0.5 * 4 - 3 * 4 + 3
    assert cost(ports_of(16, 4, ring(15))) == math.inf


@pytest.mark.parametrize("name", TERMS)
def test_costs_do_not_depend_on_the_order_of_ports(name: str) -> None:
    task = DesignTask(
        20, 5, weights=((name, 1.0),), positions=layout("backplane", 20), redundant_links=True,
        collective="AAS",
    )  # fmt: skip
    generator = np.random.default_rng(5)
    for seed in range(10):
        ports = random_network(task, seed_state(seed), 0.5)
        shuffled = generator.permuted(ports, axis=1)
        assert Cost(task)(shuffled) == Cost(task)(ports)
        assert Cost(task)(ports_of(20, 5, links_of(ports))) == Cost(task)(ports)


@pytest.mark.parametrize("seed", range(5))
def test_random_networks_are_connected_and_repeat(seed: int) -> None:
    tasks = [
        DesignTask(30, 3),
        DesignTask(30, 2),
        DesignTask(30, 4, redundant_links=True),
        DesignTask(30, 4, positions=layout("grid-6x5", 30), max_wire=2),
        DesignTask(2, 1),
    ]
    for task in tasks:
        ports = random_network(task, seed_state(seed), 0.5)
        check_links(task, links_of(ports))
        assert plain_total(task.nodes, links_of(ports))[0] > 0
        assert np.array_equal(ports, random_network(task, seed_state(seed), 0.5))


def test_ports_that_cannot_suffice_are_reported() -> None:
    star = ((0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
    task = DesignTask(5, 3, positions=star, max_wire=1)
    with pytest.raises(InputError, match="no connected network was found"):
        random_network(task, seed_state(0))
    assert dataclasses.replace(task, degree=4)


def test_every_term_and_layout_is_documented() -> None:
    page = (ROOT / "docs" / "design.md").read_text()
    table = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert tuple(name for cell in table for name in re.findall(r"`([^`]+)`", cell)) == tuple(TERMS)
    assert all(f"`{name}`" in page for name in LAYOUTS)


@given(st.lists(st.tuples(DECIMALS, DECIMALS), min_size=3, max_size=8, unique=True), DECIMALS)
@settings(max_examples=examples(60))
def test_finder_and_checker_allow_the_same_wires(
    points: list[tuple[float, float]], limit: float
) -> None:
    """Sums and differences of decimals are compared without rounding errors."""
    task = DesignTask(len(points), 2, positions=tuple(points), max_wire=abs(limit) + 100)
    object.__setattr__(task, "max_wire", abs(limit) + 0.1)
    task.__dict__.pop("allowed")
    record = {"max_wire": task.max_wire, "positions": points}
    reachable = _wires(record, len(points))
    assert reachable == [np.flatnonzero(row).tolist() for row in task.allowed]


@pytest.mark.parametrize(
    ("points", "allowed"),
    [((0.1, 0.4), True), ((0.0, 0.1 + 0.2), False), ((0.7, 1.0), True), ((-0.1, 0.2), True)],
    ids=str,
)
def test_a_wire_as_long_as_allowed(points: tuple[float, float], allowed: bool) -> None:
    """0.4 - 0.1 and 0.1 + 0.2 are 0.30000000000000004 in floats; the second one is so as given."""
    positions = tuple((value,) for value in points)
    record = {
        "format": DESIGN_FORMAT, "nodes": 2, "degree": 1, "links": [[0, 1]], "max_wire": 0.3,
        "positions": [list(position) for position in positions],
    }  # fmt: skip
    if allowed:
        assert DesignTask(2, 1, positions=positions, max_wire=0.3).allowed[0, 1]
        assert check_design(record).diameter == 1
    else:
        with pytest.raises(InputError, match="do not connect"):
            DesignTask(2, 1, positions=positions, max_wire=0.3)
        with pytest.raises(EvidenceError, match="too long"):
            check_design(record)
