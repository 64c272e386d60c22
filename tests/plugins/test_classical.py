"""Classical constructions: the steps of the theory, and a reason where they do not apply."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.classical.constructions import CONSTRUCTIONS
from cchybrid_plugins.classical.context import Context, DoesNotApplyError
from cchybrid_plugins.classical.diagonal_exchange import chosen
from cchybrid_plugins.classical.engine import Classical
from cchybrid_plugins.classical.packing import packed_scatter
from cchybrid_plugins.classical.translations import hypercube_labels, translations
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem, list_transfers
from cchybrid.referee.verify import verify
from tests.examples import examples
from tests.random_instances import instances

RANDOM = settings(
    max_examples=examples(120), derandomize=True, suppress_health_check=list(HealthCheck)
)


def context_of(problem: Problem, seed: int = 0) -> Context:
    return Context(problem, seed, lambda: None)


def steps_of(name: str, instance: Instance, seed: int = 0) -> int:
    """Return the steps of a construction; assert that they are a schedule."""
    problem = build_problem(instance)
    drafted, found = list_transfers(problem, CONSTRUCTIONS[name](context_of(problem, seed)))
    assert not drafted.violations(found)
    assert verify(instance, drafted.lift(found).steps) == ()
    return found.steps


def renumbered(network: Network, seed: int) -> Network:
    """Return the same network with its nodes' numbers shuffled."""
    number = list(range(network.nodes))
    random.Random(seed).shuffle(number)
    arcs = [(number[a], number[b]) for a, b, _ in network.channels]
    return Network.from_arcs("renumbered", network.nodes, arcs)


def log2(number: int) -> int:
    return math.ceil(math.log2(number))


@pytest.mark.parametrize("nodes", [2, 8, 16, 64])
@pytest.mark.parametrize("rest", [{}, {"ports": 1}, {"switching": "store-and-forward"}])
def test_a_binomial_tree_doubles_in_every_step(nodes: int, rest: dict[str, Any]) -> None:
    instance = cchybrid.instance(f"hypercube-{nodes}", "OAB", **rest)
    assert steps_of("binomial-tree", instance) == log2(nodes)


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("root", [0, 1])
def test_a_double_tree_takes_half_the_dimensions(dimension: int, root: int) -> None:
    instance = cchybrid.instance(f"hypercube-{2**dimension}", "OAB", root=root)
    expected = max(math.ceil(dimension / 2), 1 if dimension == 1 else 2)
    assert steps_of("double-tree", instance) == expected


@pytest.mark.parametrize("sides", [(3, 4), (4, 4), (5, 7), (2, 3, 4)])
@pytest.mark.parametrize("family", ["mesh", "torus"])
def test_dimensional_trees_double_along_every_dimension(
    family: str, sides: tuple[int, ...]
) -> None:
    name = f"{family}-{'x'.join(map(str, sides))}"
    instance = cchybrid.instance(name, "OAB", root=5, ports=1)
    assert steps_of("dimensional-trees", instance) == sum(map(log2, sides))


@pytest.mark.parametrize("nodes", [4, 8, 16, 32])
def test_the_xor_exchange_is_optimal(nodes: int) -> None:
    instance = cchybrid.instance(f"hypercube-{nodes}", "AAS")
    assert steps_of("xor-exchange", instance) == nodes // 2
    one_port = cchybrid.instance(f"hypercube-{nodes}", "AAS", ports=1)
    assert steps_of("xor-exchange", one_port) == nodes - 1


@pytest.mark.parametrize("seed", range(5))
def test_hypercubes_are_found_whatever_their_numbering(seed: int) -> None:
    network = renumbered(cchybrid.instance("hypercube-16", "AAS").network, seed)
    label = hypercube_labels(network)
    assert label is not None
    for a, b, _ in network.channels:
        assert int(label[a] ^ label[b]).bit_count() == 1
    everybody = range(16)
    pairs = tuple(Message(a, (b,)) for a in everybody for b in everybody if a != b)
    assert steps_of("xor-exchange", Instance(network, Collective("AAS", pairs))) == 8
    gossip = tuple(Message(a, tuple(b for b in everybody if a != b)) for a in everybody)
    assert steps_of("disjoint-trees", Instance(network, Collective("AAB", gossip))) == 4


def test_what_is_like_a_hypercube_is_none() -> None:
    """The 4x4 torus is one; a circulant of the same degree and size is not."""
    assert hypercube_labels(cchybrid.instance("torus-4x4", "AAS").network) is not None
    assert hypercube_labels(cchybrid.instance("circulant-16-1x3", "AAS").network) is None
    assert hypercube_labels(cchybrid.instance("ring-uni-4", "AAS").network) is None


@pytest.mark.parametrize(
    ("topology", "steps"),
    [
        ("ring-bi-9", 2),
        ("ring-bi-27", 3),
        ("torus-5x5", 2),
        ("torus-8x8", 3),
        pytest.param("torus-10x10", 3, marks=pytest.mark.long),
        ("hypercube-64", 3),
    ],
)
def test_dominating_sets_grow_as_fast_as_ports_allow(topology: str, steps: int) -> None:
    instance = cchybrid.instance(topology, "OAB", root=3)
    degree = len(instance.network.successors[0])
    assert (degree + 1) ** (steps - 1) < instance.network.nodes <= (degree + 1) ** steps
    assert steps_of("dominating-sets", instance) == steps


def test_dominating_sets_double_with_one_port() -> None:
    assert steps_of("dominating-sets", cchybrid.instance("torus-4x8", "OAB", ports=1)) == log2(32)


@pytest.mark.parametrize(
    "topology",
    [
        "b-tree-8",
        "b-tree-16",
        "fat-tree-16",
        "omega-8",
        "butterfly-8",
        "clos-12",
        "2-fat-hypercube-8",
        "2-fat-spidergon-10",
        "3-fat-spidergon-8",
        "full-tree-15",
        "ring-uni-8",
    ],
)
def test_a_ring_is_optimal_where_a_node_accepts_one(topology: str) -> None:
    instance = cchybrid.instance(topology, "AAB")
    assert steps_of("ring", instance) == len(instance.network.terminals) - 1


def test_a_ring_serves_one_port_everywhere() -> None:
    for topology in ("mesh-3x3", "petersen-10", "hypercube-16"):
        instance = cchybrid.instance(topology, "AAB", ports=1)
        assert steps_of("ring", instance) == instance.network.nodes - 1
        backwards = cchybrid.instance(topology, "AAR", ports=1)
        assert steps_of("ring", backwards) == instance.network.nodes - 1


@pytest.mark.parametrize("topology", ["mesh-3x4", "mesh-4x4", "mesh-5x5", "mesh-6x6", "ring-bi-9"])
def test_a_bidirectional_ring_is_optimal_where_a_corner_accepts_two(topology: str) -> None:
    instance = cchybrid.instance(topology, "AAB")
    nodes = instance.network.nodes
    assert steps_of("two-way-ring", instance) == math.ceil((nodes - 1) / 2)


@pytest.mark.parametrize("topology", ["mesh-4x4", "mesh-3x4", "ring-bi-9"])
def test_rings_under_store_and_forward_are_hamiltonian(topology: str) -> None:
    instance = cchybrid.instance(topology, "AAB", switching="store-and-forward")
    nodes = instance.network.nodes
    assert steps_of("ring", instance) == nodes - 1
    assert steps_of("two-way-ring", instance) == math.ceil((nodes - 1) / 2)


def test_several_messages_of_a_node_go_round_one_after_the_other() -> None:
    network = cchybrid.instance("ring-bi-6", "AAB").network
    others = {a: tuple(b for b in range(6) if a != b) for a in range(6)}
    messages = tuple(Message(a, others[a]) for a in (0, 0, 0, 1, 2))
    instance = Instance(network, Collective("bursts", messages))
    assert steps_of("ring", instance) == 3 * 5
    assert steps_of("two-way-ring", instance) == 3 * 3


@pytest.mark.parametrize(
    "topology",
    [
        "hypercube-8",
        "hypercube-16",
        "hypercube-64",
        "torus-3x3",
        "torus-4x8",
        "torus-7x7",
        "torus-3x3x3",
        "ring-bi-8",
        "ring-uni-8",
        "spidergon-16",
        "spidergon-36",
        "heawood-14",
        "midimew-8",
    ],
)
@pytest.mark.parametrize("rest", [{}, {"switching": "store-and-forward"}])
def test_disjoint_trees_use_all_channels_in_all_steps(topology: str, rest: dict[str, Any]) -> None:
    instance = cchybrid.instance(topology, "AAB", **rest)
    degree = len(instance.network.successors[0])
    expected = math.ceil((instance.network.nodes - 1) / degree)
    assert steps_of("disjoint-trees", instance) == expected
    assert steps_of("disjoint-trees", cchybrid.instance(topology, "AAR", **rest)) == expected


def test_disjoint_trees_keep_to_ports_and_capacities() -> None:
    two = cchybrid.instance("torus-4x4", "AAB", ports=2)
    assert steps_of("disjoint-trees", two) == math.ceil(15 / 2)
    fat = Network.from_links("fat", 5, [(a, (a + 1) % 5) for a in range(5)] * 2)
    gossip = tuple(Message(a, tuple(b for b in range(5) if a != b)) for a in range(5))
    # Each neighbour is one node, so that the second channel to it is of use from step 2 on.
    assert steps_of("disjoint-trees", Instance(fat, Collective("AAB", gossip))) == 2


@pytest.mark.parametrize(
    ("topology", "steps"), [("torus-3x3", 3), ("spidergon-8", 4), ("spidergon-16", 16)]
)
def test_the_translated_exchange_fills_all_channels(topology: str, steps: int) -> None:
    instance = cchybrid.instance(topology, "AAS")
    assert context_of(build_problem(instance)).min_steps <= steps
    assert steps_of("translated-exchange", instance) == steps


@pytest.mark.parametrize("side", [6, 8, pytest.param(10, marks=pytest.mark.long)])
def test_the_diagonal_exchange_fills_all_channels_of_a_torus(side: int) -> None:
    instance = cchybrid.instance(f"torus-{side}x{side}", "AAS")
    assert steps_of("diagonal-exchange", instance) == side**3 // 8


@pytest.mark.long
@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 10), (4, 6), (6, 4), (8, 8), (10, 10)])
def test_the_quadrant_exchange_keeps_all_channels_in_the_middle_of_a_mesh_busy(
    rows: int, columns: int
) -> None:
    instance = cchybrid.instance(f"mesh-{rows}x{columns}", "AAS")
    shorter, longer = sorted((rows, columns))
    assert steps_of("quadrant-exchange", instance) == shorter * longer**2 // 4


@pytest.mark.parametrize("side", [4, 12, 14, 16, 20])
def test_figures_of_a_torus_hold_every_distance_once(side: int) -> None:
    found = [bend.distance(side) for figure in chosen(side) for bend in figure]
    assert len(found) == side * side
    assert set(found) == {(across, down) for across in range(side) for down in range(side)}


@pytest.mark.parametrize(
    "topology",
    [
        "hypercube-8",
        "hypercube-32",
        "ring-bi-8",
        "ring-bi-16",
        "ring-uni-8",
        "torus-4x4",
        "torus-5x5",
        "spidergon-8",
        "heawood-14",
        "midimew-8",
    ],
)
def test_the_relayed_exchange_fills_all_channels(topology: str) -> None:
    """Less than a step of channel uses is left idle."""
    instance = cchybrid.instance(topology, "AAS", switching="store-and-forward")
    hops = int(context_of(build_problem(instance)).distance.sum())
    expected = math.ceil(hops / len(instance.network.channels))
    assert steps_of("relayed-exchange", instance) == expected


def test_the_relayed_exchange_keeps_to_capacities() -> None:
    """Twice the links of a ring of 8 take half the steps, as none of them can be idle."""
    fat = Network.from_links("fat", 8, [(a, (a + 1) % 8) for a in range(8)] * 2)
    pairs = tuple(Message(a, (b,)) for a in range(8) for b in range(8) if a != b)
    model = CommunicationModel(switching="store-and-forward")
    assert steps_of("relayed-exchange", Instance(fat, Collective("AAS", pairs), model)) == 4


@pytest.mark.parametrize("topology", ["hypercube-16", "torus-5x5", "mesh-4x4", "ring-uni-8"])
@pytest.mark.parametrize("collective", ["OAS", "AOG"])
def test_packed_scatters_use_all_ports_of_the_root(topology: str, collective: str) -> None:
    """A node with one channel needs n - 1 steps, the corner of a mesh half of that."""
    instance = cchybrid.instance(topology, collective, ports=1)
    assert steps_of("packed-scatter", instance) == instance.network.nodes - 1
    wide = cchybrid.instance(topology, collective)
    degree = len(wide.network.successors[0])
    # A directed ring has to carry the messages to all nodes over its first channel.
    assert steps_of("packed-scatter", wide) == math.ceil((wide.network.nodes - 1) / degree)


def test_sequential_trees_send_one_by_one() -> None:
    """With one port, a root needs a step per message, whatever the network."""
    for topology in ("mesh-3x4", "hypercube-8", "b-tree-8"):
        for collective in ("OAS", "OAB"):
            instance = cchybrid.instance(topology, collective, ports=1)
            terminals = len(instance.network.terminals)
            assert steps_of("sequential-tree", instance) == terminals - 1


def test_recursive_doubling_works_anywhere() -> None:
    for topology in ("mesh-4x4", "b-tree-16", "spidergon-16"):
        instance = cchybrid.instance(topology, "OAB", ports=1)
        terminals = len(instance.network.terminals)
        assert steps_of("recursive-doubling", instance) == log2(terminals)


REASONS = [
    ("binomial-tree", "torus-3x3", "OAB", {}, "not a hypercube"),
    ("binomial-tree", "hypercube-8", "AAB", {}, "more than one message"),
    ("binomial-tree", "b-tree-8", "OAB", {}, "does not go to all nodes"),
    ("double-tree", "hypercube-8", "OAB", {"ports": 1}, "fewer ports than dimensions"),
    ("double-tree", "hypercube-8", "OAB", {"switching": "store-and-forward"}, "not wormhole"),
    ("dimensional-trees", "petersen-10", "OAB", {}, "no mesh, torus or hypercube"),
    ("dimensional-trees", "spidergon-16", "OAB", {}, "rows that are no shortest paths"),
    ("dominating-sets", "petersen-10", "OAB", {}, "no group of translations found"),
    ("dominating-sets", "mesh-3x3", "OAB", {}, "nodes of different degrees"),
    ("xor-exchange", "hypercube-8", "AAB", {}, "messages with several destinations"),
    ("xor-exchange", "mesh-3x3", "AAS", {}, "not a hypercube"),
    ("diagonal-exchange", "torus-5x5", "AAS", {}, "no square torus with an even side"),
    ("diagonal-exchange", "mesh-6x6", "AAS", {}, "no square torus with an even side"),
    ("diagonal-exchange", "torus-6x8", "AAS", {}, "no square torus with an even side"),
    ("diagonal-exchange", "torus-6x6", "OAS", {}, "not one message from every node to every"),
    ("quadrant-exchange", "mesh-5x6", "AAS", {}, "no mesh with even sides"),
    ("quadrant-exchange", "torus-6x6", "AAS", {}, "no mesh with even sides"),
    ("quadrant-exchange", "mesh-4x4", "OAS", {}, "not one message from every node to every"),
    ("translated-exchange", "torus-3x3", "OAS", {}, "not one message from every node to every"),
    ("translated-exchange", "ring-uni-8", "AAS", {}, "no subgroup whose translated paths fit"),
    ("relayed-exchange", "hypercube-8", "AAS", {}, "not store-and-forward"),
    (
        "relayed-exchange",
        "hypercube-8",
        "AAS",
        {"switching": "store-and-forward", "ports": 1},
        "fewer ports than channels",
    ),
    (
        "shared-switches",
        "hypercube-8",
        "AAS",
        {},
        "a terminal that is not attached to exactly one switch",
    ),
    ("packed-scatter", "torus-3x3", "OAB", {}, "messages with several destinations"),
    ("packed-scatter", "mesh-9x9", "AAS", {}, "more than 5000 messages"),
    ("ring", "mesh-3x3", "AAS", {}, "messages go to different sets of nodes"),
    ("two-way-ring", "b-tree-8", "AAB", {}, "a node has one port"),
    # Corners would use up all outer links, and nodes between them would have an odd number.
    ("two-way-ring", "mesh-3x3", "AAB", {}, "no ring found that fits into one step in both"),
    ("ring", "petersen-10", "AAB", {"switching": "store-and-forward"}, "no ring found"),
    ("two-way-ring", "kautz-12", "AAB", {}, "one-way channels"),
    ("disjoint-trees", "b-tree-8", "AAB", {}, "not one message from every node"),
    ("disjoint-trees", "hypercube-8", "OAB", {}, "not one message from every node"),
    ("recursive-doubling", "mesh-3x3", "AAS", {}, "every message has one destination"),
]


LARGE = [reason for reason in REASONS if reason[1] == "mesh-9x9"]


@pytest.mark.parametrize(
    ("name", "topology", "collective", "rest", "words"),
    [
        *(reason for reason in REASONS if reason not in LARGE),
        *(pytest.param(*reason, marks=pytest.mark.long) for reason in LARGE),
    ],
)
def test_a_construction_says_why_it_does_not_apply(
    name: str, topology: str, collective: str, rest: dict[str, Any], words: str
) -> None:
    problem = build_problem(cchybrid.instance(topology, collective, **rest))
    with pytest.raises(DoesNotApplyError, match=words):
        CONSTRUCTIONS[name](context_of(problem))


def test_all_but_the_first_construction_know_where_they_do_not_apply() -> None:
    assert {reason[0] for reason in REASONS} == set(CONSTRUCTIONS) - {"sequential-tree"}


def test_sequential_trees_are_for_a_limited_number_of_deliveries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = context_of(build_problem(cchybrid.instance("ring-6", "AAB")))
    limit = "cchybrid_plugins.classical.sequential_tree.MAX_DELIVERIES"
    monkeypatch.setattr(limit, 30)
    assert CONSTRUCTIONS["sequential-tree"](context)
    monkeypatch.setattr(limit, 29)
    with pytest.raises(DoesNotApplyError, match="more than 29 deliveries"):
        CONSTRUCTIONS["sequential-tree"](context)


@pytest.mark.parametrize("topology", ["spidergon-12", "torus-3x4", "heawood-14", "hypercube-8"])
def test_translations_are_a_regular_group_of_automorphisms(topology: str) -> None:
    problem = build_problem(cchybrid.instance(topology, "OAB"))
    group = translations(context_of(problem))
    table, nodes = group.table, problem.structure.network.nodes
    everybody = np.arange(nodes)
    assert (np.sort(table, axis=0) == everybody[:, None]).all()
    assert (np.sort(table, axis=1) == everybody).all()
    for g in range(nodes):
        assert (table[g][table] == table[table[g]]).all()
        assert (table[g, group.inverse[g]], table[group.inverse[g], g]) == (0, 0)
    channels = problem.structure.network.channel_index
    assert all((image[a], image[b]) in channels for image in group.rows for a, b in channels)


def test_terminals_and_half_duplex_links_have_no_translations() -> None:
    cycle = [(a, (a + 1) % 6) for a in range(6)]
    network = Network.from_links("shared", 6, cycle, half_duplex=tuple(cycle))
    problem = build_problem(Instance(network, Collective("one", (Message(0, (3,)),))))
    with pytest.raises(DoesNotApplyError, match="half-duplex"):
        translations(context_of(problem))


@RANDOM
@given(instances(), st.integers(0, 3))
def test_whatever_applies_gives_a_schedule(instance: Instance, seed: int) -> None:
    problem = build_problem(instance)
    applied = set()
    for name, make in CONSTRUCTIONS.items():
        try:
            drafted, found = list_transfers(problem, make(context_of(problem, seed)))
        except DoesNotApplyError:
            continue
        applied.add(name)
        assert not drafted.violations(found), name
        assert verify(instance, drafted.lift(found).steps) == (), name
        assert found.steps >= context_of(problem).min_steps, name
    assert "sequential-tree" in applied


@st.composite
def symmetric(draw: st.DrawFn) -> Instance:
    """Well-known networks under any model, with collectives that constructions are for."""
    topology = draw(
        st.sampled_from(
            ("hypercube-8", "torus-3x3", "mesh-2x3", "ring-bi-5", "ring-uni-4", "spidergon-6")
        )
    )
    collective = draw(st.sampled_from(("OAB", "AAB", "OAS", "AAS", "AOR", "AAR", "AOG")))
    network = cchybrid.instance(topology, collective).network
    limits = st.none() | st.integers(1, 3)
    inject = draw(
        limits
        | st.lists(st.integers(1, 3), min_size=network.nodes, max_size=network.nodes).map(tuple)
    )
    model = CommunicationModel(
        switching=draw(st.sampled_from(("wormhole", "store-and-forward"))),
        inject=inject,
        accept=None if inject is None else draw(st.integers(1, 3)),
        routing=draw(st.sampled_from(("minimal", "any", 1))),
    )
    links = [(a, b) for a, b, _ in network.channels if a < b and (b, a) in network.channel_index]
    shared = tuple(draw(st.lists(st.sampled_from(links), unique=True, max_size=2))) if links else ()
    shape = Network(network.name, network.nodes, network.channels, half_duplex=shared)
    return Instance(shape, cchybrid.instance(topology, collective).collective, model)


@settings(RANDOM, max_examples=examples(60))
@given(symmetric(), st.integers(0, 3), st.sampled_from([30, 400_000]))
def test_whatever_applies_to_known_networks_gives_a_schedule(
    instance: Instance, seed: int, max_options: int
) -> None:
    """Whether its paths are listed or not."""
    problem = build_problem(instance, max_options=max_options)
    for name, make in CONSTRUCTIONS.items():
        try:
            drafted, found = list_transfers(problem, make(context_of(problem, seed)))
        except DoesNotApplyError:
            continue
        assert not drafted.violations(found), name
        assert verify(instance, drafted.lift(found).steps) == (), name
        assert found.steps >= context_of(problem).min_steps, name


def solved(instance: Instance, only: str = "", **rest: Any) -> tuple[LocalRun, Stop]:
    run = LocalRun(build_problem(instance), **rest)
    stop = Classical(Classical.Options(only=only)).solve(run.problem, run)
    assert run.violations == []
    return run, stop


def test_the_engine_offers_better_and_better_schedules() -> None:
    run, stop = solved(cchybrid.instance("mesh-3x3", "AAB"))
    offered = [len(schedule.steps) for schedule in run.schedules]
    assert offered == sorted(set(offered), reverse=True)
    assert (offered[0], stop) == (8, Stop.STALLED)
    assert len(offered) > 1
    run, stop = solved(cchybrid.instance("hypercube-16", "AAB"), first_lower=4)
    assert (run.best(), stop) == (4, Stop.EXHAUSTED)
    run, stop = solved(cchybrid.instance("mesh-3x3", "AAB"), budget=Budget(evaluations=9))
    assert (len(run.schedules), stop) == (1, Stop.LIMIT)


def test_bounds_that_counting_does_not_reach_stop_nothing() -> None:
    run, _ = solved(cchybrid.instance("mesh-4x4", "AAS"), first_lower=16)
    assert min(len(schedule.steps) for schedule in run.schedules) < 20
    rest = cchybrid.instance("torus-4x4", "AAS", switching="store-and-forward")
    run, stop = solved(rest, first_lower=8)
    assert (run.best(), stop) == (8, Stop.EXHAUSTED)


def test_nothing_is_made_after_a_schedule_that_counting_shows_optimal() -> None:
    made = list(CONSTRUCTIONS)
    for topology, collective, last in (
        ("hypercube-16", "AAS", "xor-exchange"),
        ("torus-4x4", "AAB", "disjoint-trees"),
        ("mesh-4x4", "AAB", "two-way-ring"),
    ):
        run, stop = solved(cchybrid.instance(topology, collective))
        assert len(run.schedules) == 1
        assert run.spent == made.index(last) + 1
        assert stop is Stop.STALLED


def test_one_construction_alone() -> None:
    run, _ = solved(cchybrid.instance("hypercube-16", "AAB"), "ring")
    assert [len(schedule.steps) for schedule in run.schedules] == [15]
    run, stop = solved(cchybrid.instance("mesh-3x3", "OAB"), "double-tree")
    assert (run.schedules, stop) == ([], Stop.STALLED)
    with pytest.raises(ValueError, match="use binomial-tree, double-tree, "):
        Classical.Options(only="gossip")


def test_more_effort_searches_on() -> None:
    problem = build_problem(cchybrid.instance("mesh-5x5", "AAS"))
    little, much = (Context(problem, 0, lambda: None, effort=effort) for effort in (1, 4))
    assert len(packed_scatter(much)) < len(packed_scatter(little))
    with pytest.raises(ValueError, match="use at least 1"):
        Classical.Options(effort=0)


@pytest.mark.parametrize(
    ("name", "collective", "known"),
    [
        ("sequential-tree", "AAB", 27),
        ("sequential-tree", "AAS", 27),
        ("ring", "AAB", 15),
        ("two-way-ring", "AAB", 8),
        ("disjoint-trees", "AAB", 4),
        ("packed-scatter", "AAS", 8),
        ("translated-exchange", "AAS", 8),
    ],
)
def test_nothing_is_sought_that_cannot_be_better(name: str, collective: str, known: int) -> None:
    problem = build_problem(cchybrid.instance("hypercube-16", collective))
    for best, refused in ((known, True), (3 * known, False)):
        context = Context(problem, 0, lambda: None, lambda steps, best=best: steps < best)  # type: ignore[misc]
        if not refused:
            assert CONSTRUCTIONS[name](context)
            continue
        with pytest.raises(DoesNotApplyError, match="no better than the best known"):
            CONSTRUCTIONS[name](context)


@pytest.mark.parametrize(
    ("name", "topology", "collective", "rest", "fewest"),
    [
        ("packed-scatter", "mesh-4x4", "AAS", {}, 16),
        ("recursive-doubling", "mesh-3x3", "OAB", {}, 3),
        ("relayed-exchange", "torus-3x4", "AAS", {"switching": "store-and-forward"}, 6),
    ],
)
def test_a_search_ends_where_it_cannot_become_better(
    name: str, topology: str, collective: str, rest: dict[str, Any], fewest: int
) -> None:
    """Counting does not refute fewer steps here."""
    problem = build_problem(cchybrid.instance(topology, collective, **rest))
    context = Context(problem, 0, lambda: None, lambda steps: steps < fewest)
    assert context.min_steps < fewest
    with pytest.raises(DoesNotApplyError, match="no short enough schedule found"):
        CONSTRUCTIONS[name](context)


def test_stops_in_the_midst_of_a_construction() -> None:
    problem = build_problem(cchybrid.instance("torus-8x8", "AAB"))
    run = LocalRun(problem, budget=Budget(seconds=None))
    checks = []

    def enough() -> bool:
        checks.append(len(run.schedules))
        return len(checks) > 20

    run.should_stop = enough  # type: ignore[method-assign]
    assert Classical(Classical.Options()).solve(problem, run) is Stop.LIMIT
    assert len(checks) < 30


def test_equal_seeds_give_equal_schedules() -> None:
    instance = cchybrid.instance("spidergon-20", "AAS")
    first, second = (solved(instance, seed=3)[0] for _ in range(2))
    assert [s.steps for s in first.schedules] == [s.steps for s in second.schedules]


@pytest.mark.parametrize(
    ("topology", "collective", "steps"),
    [
        ("hypercube-16", "AAS", 8),
        ("hypercube-16", "AOG", 4),
        ("hypercube-32", "AAB", 7),
        ("torus-5x5", "OAB", 2),
        ("b-tree-16", "AAB", 15),
        ("b-tree-16", "AAR", 15),
    ],
)
def test_paths_that_are_not_listed_are_taken(topology: str, collective: str, steps: int) -> None:
    problem = build_problem(cchybrid.instance(topology, collective), max_options=1)
    assert not problem.complete
    run = LocalRun(problem)
    Classical(Classical.Options()).solve(problem, run)
    assert run.violations == []
    assert min(len(schedule.steps) for schedule in run.schedules) == steps
