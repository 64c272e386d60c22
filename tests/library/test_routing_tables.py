"""Routing tables by name and from files, and the check for deadlocks."""

from dataclasses import replace
from itertools import pairwise

import networkx as nx
import pytest

import cchybrid
from cchybrid.cli.app import run
from cchybrid.library.routing_tables import dependency_cycle, routing_table
from cchybrid.model import Network, RoutingTable
from tests.refusals import refused


def table_of(network: str, words: str) -> RoutingTable:
    table = routing_table(words, cchybrid.network(network))
    table.check(cchybrid.network(network))
    return table


@pytest.mark.parametrize(
    ("network", "words", "nodes"),
    [
        ("mesh-3x4", "xy", (0, 1, 2, 6, 10)),  # along the row, then along the column
        ("mesh-3x4", "XY", (0, 1, 2, 6, 10)),
        ("mesh-3x4", "e-cube", (0, 1, 2, 6, 10)),
        ("mesh-3x4", "yx", (0, 4, 8, 9, 10)),
        ("mesh-2x2x2", "xy", (6, 7, 5, 1)),
        ("torus-4x5", "xy", (0, 4, 19)),  # around, as that is shorter
        ("torus-4x4", "xy", (0, 1, 2, 6, 10)),  # both sides are equally long
        ("torus-2x3", "xy", (0, 2, 5)),
        ("hypercube-16", "e-cube", (0, 1, 3, 11)),  # the lowest bit first
        ("hypercube-16", "yx", (0, 8, 10, 11)),
    ],
)
def test_dimension_orders(network, words, nodes):
    assert table_of(network, words).path(nodes[0], nodes[-1]) == nodes


@pytest.mark.parametrize("network", ["mesh-3x4", "torus-4x5", "torus-2x2x3", "hypercube-16"])
@pytest.mark.parametrize("words", ["xy", "yx"])
def test_paths_of_dimension_orders_are_shortest(network, words):
    table = table_of(network, words)
    graph = nx.Graph(channel[:2] for channel in cchybrid.network(network).channels)
    for a, lengths in nx.all_pairs_shortest_path_length(graph):
        assert all(len(table.path(a, b)) == hops + 1 for b, hops in lengths.items())


@pytest.mark.parametrize(
    "network",
    ["spidergon-8", "ring-bi-6", "mesh-4x4 without link 0-1", "mesh-3x4", "mesh-0x4", "torus-2x"],
)
def test_other_networks_have_no_dimensions(network):
    named = Network.from_links(network, 8, [(v, (v + 1) % 8) for v in range(8)])
    words = "is no mesh, torus or hypercube by its name, channels and nodes; give a .csv"
    with refused(f"routing: {network} {words}"):
        cchybrid.instance(named, "AAS", routing="xy")


GRID = cchybrid.network("mesh-3x3")
CUBE = cchybrid.network("hypercube-8")
BY_COLUMNS = tuple((float(node // 3), -float(node % 3)) for node in range(9))
SWAPPED = [0, 1, 2, 4, 3, 5, 6, 7]
FORWARD = tuple((v, v - v % 4 + (v + 1) % 4, 1) for v in range(16))


@pytest.mark.parametrize(
    "network",
    [
        Network.from_links("mesh-2x4", 8, [(v, (v + 1) % 8) for v in range(8)]),
        replace(GRID, positions=BY_COLUMNS),
        replace(GRID, positions=None, node_names=tuple("abcdefghi")),
        replace(GRID, channels=GRID.channels[2:]),
        replace(cchybrid.network("torus-3x3"), name="mesh-3x3"),
        replace(GRID, name="torus-3x3"),
        replace(cchybrid.network("torus-4x4"), channels=FORWARD),
        replace(CUBE, channels=tuple((SWAPPED[a], SWAPPED[b], c) for a, b, c in CUBE.channels)),
    ],
    ids=["ring", "columns", "names", "link", "torus", "mesh", "one-way", "permuted"],
)
@pytest.mark.parametrize("words", ["xy", "yx", "e-cube"])
def test_a_network_that_is_not_what_its_name_says_is_refused(network: Network, words: str) -> None:
    with refused(f"routing: {network.name} is no mesh, torus or hypercube by its name, channels"):
        cchybrid.instance(network, [(0, network.nodes - 1)], routing=words)


def test_capacities_and_numbers_as_names_leave_the_coordinates() -> None:
    thick = tuple(channel._replace(capacity=2) for channel in GRID.channels)
    names = tuple(map(str, range(9)))
    network = replace(GRID, channels=thick, positions=None, node_names=names)
    assert routing_table("xy", network) == routing_table("xy", GRID)


def test_faults_leave_no_dimension_order(capsys):
    assert run(["bound", "mesh-4x4", "AAS", "--routing", "xy", "--fail-link", "0-1"]) == 2
    assert "mesh-4x4 without link 0-1 is no mesh" in capsys.readouterr().err


def test_a_file_has_a_line_for_every_hop(tmp_path):
    file = tmp_path / "Down.csv"
    lines = ["Node,Destination,Next", "R1,R3,R2", "", "# the same back", "2,0,1", "R2,R1,R1"]
    file.write_text("\n".join([*lines, "R2,R3,R3", "R1,R2,R2", "R3,R2,R2"]))
    names = ("R1", "R2", "R3")
    line = Network.from_links("line", 3, [(0, 1), (1, 2)], node_names=names)
    found = cchybrid.instance(line, "AAS", routing=str(file))
    assert found.model.table.hops == ((0, 1, 1), (0, 1, 2), (1, 1, 2))
    assert found == cchybrid.instance(line, "AAS", routing=[[0, 1, 1], [0, 1, 2], [1, 1, 2]])
    assert found == cchybrid.instance(line, "AAS", routing=found.model.table)
    for text, message in (
        ("R1,R2", f"{file}: line 1: 'R1,R2' is no row; write node,destination,next"),
        ("R1,R2,R4", f"{file}: line 1: no node 'R4' in line; its nodes are R1, R2, R3"),
        ("R1,R3,R2\n0,2,2", f"{file}: two lines from R1 to R3; keep one"),
        ("0,1,1\n0,2,2", "model.routing: no path between R1 and R3 over R3"),
    ):
        file.write_text(text)
        with refused(message):
            cchybrid.instance(line, "AAS", routing=file)
    with refused(f"{tmp_path / 'none.csv'}: cannot be read"):
        cchybrid.instance(line, "AAS", routing=tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("network", "words", "cycle"),
    [
        ("mesh-4x4", "xy", ""),
        ("hypercube-8", "e-cube", ""),
        ("torus-3x3", "xy", ""),
        ("torus-4x4", "xy", "0->1, 1->2, 2->3, 3->0"),
    ],
)
def test_cycles_of_channels(network, words, cycle):
    found = cchybrid.network(network)
    assert dependency_cycle(words, found) == cycle
    table = table_of(network, words)
    paths = [table.path(a, b) for a in range(found.nodes) for b in range(found.nodes)]
    graph = nx.DiGraph(pair for nodes in paths for pair in pairwise(pairwise(nodes)))
    assert nx.is_directed_acyclic_graph(graph) == (not cycle)
    assert bool(dependency_cycle(table.reversed(), found.reversed())) == bool(cycle)


def test_the_directions_of_a_half_duplex_link_are_one_channel() -> None:
    wires = [(0, 1), (1, 2)]
    hops = [[0, 1, 1], [0, 1, 2], [1, 1, 2]]
    half = replace(Network.from_links("bus", 3, wires), half_duplex=tuple(wires))
    assert dependency_cycle(hops, replace(half, half_duplex=())) == ""
    # 0 to 2 holds the first link and waits for the second, 2 to 0 holds that and waits for this.
    assert dependency_cycle(hops, half) == "0->1, 1->2"
    assert dependency_cycle(hops, replace(half, half_duplex=tuple(wires[:1]))) == ""


CLOCKWISE = [[(v + (v != goal)) % 4 for goal in range(4)] for v in range(4)]


@pytest.mark.parametrize(
    ("collective", "has_cycle"),
    [
        ("pairs:0>1", False),
        ("pairs:0>2,1>3,2>0", False),
        ("pairs:0>2,1>3,2>0,3>1", True),
        ("OAS", False),
        ("AOG", False),
        ("AAS", True),
        # What node 2 has it may forward over 3 and 0 to 1.
        ("OAB", True),
        ("AOR", True),
        ("allreduce", True),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_only_paths_of_messages_count(collective: str, has_cycle: bool, backwards: bool) -> None:
    found = cchybrid.instance("ring-bi-4", collective).in_chunks(2)
    table, messages = RoutingTable(CLOCKWISE), found.collective
    if backwards:  # the same paths by the node before each one
        table = RoutingTable([[(v - (v != a)) % 4 for a in range(4)] for v in range(4)]).reversed()
    assert bool(dependency_cycle(table, found.network, messages)) == has_cycle


@pytest.mark.parametrize(("collective", "has_cycle"), [("scan", False), ("allreduce", True)])
def test_no_path_to_the_first_member_of_a_scan_counts(collective: str, has_cycle: bool) -> None:
    ring = Network("one-way", 3, ((0, 1), (1, 2), (2, 0)))
    messages = cchybrid.instance("ring-bi-3", collective).collective
    hops = [[(v + (v != goal)) % 3 for goal in range(3)] for v in range(3)]
    assert bool(dependency_cycle(RoutingTable(hops), ring, messages)) == has_cycle


def test_a_cycle_of_paths_of_messages_is_noted_once(capsys: pytest.CaptureFixture[str]) -> None:
    line = "torus-4x4 AAS, routing table xy: deadlock is not excluded: the paths that its messages "
    assert run(["bound", "torus-4x4", "AAS", "--routing", "xy"]) == 0
    assert capsys.readouterr().err.count(line) == 1
    assert run(["bound", "torus-4x4", "OAS", "--routing", "xy"]) == 0
    assert "deadlock" not in capsys.readouterr().err
    with pytest.warns(UserWarning, match="deadlock is not excluded"):
        cchybrid.instance("torus-4x4", "AAS", routing="xy")


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        ("mesh-4x4 --routing xy", 0, "cycle of channels by xy: none: no deadlock"),
        ("torus-4x4 --routing xy", 0, "cycle of channels by xy: 0->1, 1->2, 2->3, 3->0"),
        ("mesh-4x4 --routing any", 2, "no routing table; use xy, e-cube or a .csv file"),
    ],
)
def test_the_command_network_says_whether_there_is_a_cycle(words, status, line, capsys):
    assert run(["network", *words.split()]) == status
    assert line in "".join(capsys.readouterr())
