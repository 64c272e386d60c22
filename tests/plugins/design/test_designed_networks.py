"""The designed networks among the files: remade by their script, at least as good as AMP."""

import importlib.util
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import networkx as nx
import pytest

from cchybrid.library.formats import read_network
from cchybrid.library.topologies import network
from cchybrid.library.topologies.amp import links_by_size
from cchybrid.model import Network

FOLDER = Path(__file__).parents[3] / "instances"


@pytest.fixture(name="script", scope="module")
def _script() -> ModuleType:
    path = FOLDER / "write_designs.py"
    spec = importlib.util.spec_from_file_location("write_designs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures(found: Network) -> tuple[int, Fraction]:
    """Return diameter and mean distance."""
    graph = nx.DiGraph((a, b) for a, b, *_ in found.channels)
    assert max(degree for _, degree in graph.out_degree()) <= 4
    total = sum(sum(hops.values()) for _, hops in nx.all_pairs_shortest_path_length(graph))
    return nx.diameter(graph), Fraction(total, found.nodes * (found.nodes - 1))


@pytest.mark.parametrize(
    ("nodes", "total"), [(8, 80), (23, 1058), (32, 2336), (42, 4344), (53, 7424)]
)
def test_designs_are_no_worse_than_amp(nodes: int, total: int) -> None:
    designed = figures(read_network(FOLDER / "designs" / f"design-{nodes}-4.txt").network)
    amp = figures(network(f"amp-{nodes}"))
    assert designed <= amp
    assert designed[1] == Fraction(total, nodes * (nodes - 1))
    assert (designed[1] < amp[1]) == (nodes in (42, 53))


def test_there_is_a_design_for_every_amp_network(script: ModuleType) -> None:
    assert tuple(design.nodes for design in script.DESIGNS) == (*links_by_size(),)
    files = {path.name for path in (FOLDER / "designs").iterdir()}
    assert files == {f"{design.name}.txt" for design in script.DESIGNS}


@pytest.mark.parametrize(
    "nodes", [8, 23, *(pytest.param(nodes, marks=pytest.mark.long) for nodes in (32, 42, 53))]
)
def test_the_seed_makes_the_file_again(script: ModuleType, nodes: int) -> None:
    design = next(each for each in script.DESIGNS if each.nodes == nodes)
    kept = (FOLDER / "designs" / f"{design.name}.txt").read_text()
    assert script.text_of(design) == kept
    assert f"seed {design.seed}, {design.evaluations} evaluations" in kept
