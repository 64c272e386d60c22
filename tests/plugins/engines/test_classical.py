"""Classical constructions: the steps of the theory, and a reason where they do not apply."""

import random
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.engines.classical.constructions import CONSTRUCTIONS
from cchybrid_plugins.engines.classical.context import Context, DoesNotApplyError
from cchybrid_plugins.engines.classical.coset_exchange import classed
from cchybrid_plugins.engines.classical.diagonal_exchange import chosen
from cchybrid_plugins.engines.classical.engine import Classical
from cchybrid_plugins.engines.classical.figures import Options
from cchybrid_plugins.engines.classical.hamming import hamming_labels, hypercube_labels
from cchybrid_plugins.engines.classical.residual_capacity import ResidualCapacity
from cchybrid_plugins.engines.classical.rings import hamiltonian_cycle
from cchybrid_plugins.engines.classical.translations import translations
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem, list_transfers
from cchybrid.referee.verify import verify
from tests.examples import drawn, examples
from tests.named_instances import named
from tests.plugins.engines.runs import solved
from tests.random_instances import instances, models

RANDOM = drawn(120)


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


STEPS = {
    "binomial-tree": "hypercube-2 OAB 1, hypercube-64 OAB ports=1 6, hypercube-16 OAB hops 4",
    "double-tree": """hypercube-2 OAB 1, hypercube-4 OAB root=1 2, hypercube-8 OAB 2,
        hypercube-32 OAB 3, hypercube-64 OAB root=1 3""",
    "dimensional-trees": """mesh-3x4 OAB root=5 ports=1 4, torus-5x7 OAB root=5 ports=1 6,
        mesh-2x3x4 OAB root=5 ports=1 5, torus-2x3x4 OAB root=5 ports=1 5""",
    "offset-exchange": """hypercube-4 AAS 2, hypercube-32 AAS 16, hypercube-4 AAS ports=1 3,
        hypercube-32 AAS ports=1 31, hypercube-256 AAS 128, hyperx-3x5 AAS 5, hyperx-5x3 AAS 5,
        hyperx-4x4x4 AAS 16, hyperx-2x3x4 AAS 12, hyperx-4x6 AAS ports=2 12, hyperx-16x16 AAS 16,
        complete-9 AAS 1, complete-9 AAS ports=1 8, torus-3x3x3 AAS 9""",
    "dominating-sets": """ring-bi-27 OAB root=3 3, torus-5x5 OAB root=3 2, torus-8x8 OAB root=3 3,
        hypercube-64 OAB root=3 3, torus-4x8 OAB ports=1 5""",
    "ring": """b-tree-16 AAB 15, fat-tree-16 AAB 15, omega-8 AAB 7, butterfly-8 AAB 7,
        clos-12 AAB 11, 2-fat-spidergon-10 AAB 19, full-tree-15 AAB 14, ring-uni-8 AAB 7,
        mesh-3x3 AAR ports=1 8, petersen-10 AAB ports=1 9, mesh-4x4 AAB hops 15,
        hypercube-64 AAB ports=1 63, random-regular-64-4-1 AAB ports=1 63,
        random-regular-36-3-1 AAB hops ports=1 35""",
    "two-way-ring": """mesh-3x4 AAB 6, mesh-5x5 AAB 12, mesh-6x6 AAB 18, ring-bi-9 AAB 4,
        mesh-4x4 AAB hops 8""",
    "disjoint-trees": """torus-3x3 AAB 2, torus-4x8 AAB 8, torus-7x7 AAB 12, torus-3x3x3 AAB 5,
        hypercube-64 AAB 11, ring-uni-8 AAB 7, spidergon-36 AAB 12, midimew-8 AAB 2,
        torus-4x8 AAR hops 8, heawood-14 AAR 5, torus-4x4 AAB ports=2 8""",
    "translated-exchange": "torus-3x3 AAS 3, spidergon-8 AAS 4, spidergon-16 AAS 16",
    "diagonal-exchange": "torus-6x6 AAS 27, torus-8x8 AAS 64, torus-10x10 AAS 125",
    "coset-exchange": """torus-3x3 AAS 3, torus-5x5 AAS 15, torus-7x7 AAS 42, torus-8x16 AAS 256,
        torus-9x9 AAS 90, torus-5x5x5 AAS 75""",
    "quadrant-exchange": """mesh-2x2 AAS 2, mesh-2x10 AAS 50, mesh-4x6 AAS 36, mesh-6x4 AAS 36,
        mesh-8x8 AAS 128, mesh-10x10 AAS 250""",
    "relayed-exchange": """hypercube-32 AAS hops 16, ring-bi-16 AAS hops 32, ring-uni-8 AAS hops 28,
        torus-5x5 AAS hops 15, heawood-14 AAS hops 9""",
    "shared-switches": """2-fat-hypercube-16 AAS 32, 3-fat-hypercube-8 AAS 36,
        2-fat-spidergon-8 AAS 16""",
    "switched-trees": """rails-4x8 AAB 4, rails-4x8 AAB hops 6, rails-4x8 AAR 4, rails-4x8x1 AAB 16,
        rails-8x4x2 AAB 11, cluster-4x8 AAB 4, dgx-a100-x2 AAB 2, dgx-2 AAB 15, omega-8 AAB 7""",
    "switched-exchange": """rails-4x8 AAS 24, rails-4x8 AAS hops 25, rails-9x8x1 AAS 64,
        cluster-4x8 AAS 24, dgx-a100-x2 AAS 8, dgx-2 AAS ports=1 15, butterfly-8 AAS 7""",
    "packed-scatter": """hypercube-16 OAS ports=1 15, hypercube-16 AOG 4, torus-5x5 OAS 6,
        mesh-4x4 AOG ports=1 15, ring-uni-8 OAS 7""",
    "sequential-tree": "mesh-3x4 OAS ports=1 11, mesh-3x4 OAB ports=1 11, b-tree-8 OAB ports=1 7",
    "recursive-doubling": "mesh-4x4 OAB ports=1 4, b-tree-16 OAB ports=1 4",
}
"""Steps of every construction by its theory: all channels, ports or dimensions in use."""

LARGE = {
    "torus-10x10 AAS 125", "torus-8x16 AAS 256", "torus-9x9 AAS 90", "torus-5x5x5 AAS 75",
    "mesh-8x8 AAS 128", "mesh-10x10 AAS 250", "mesh-2x10 AAS 50",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, marks=[pytest.mark.long] * (case in LARGE))
        for name, cases in STEPS.items()
        for case in map(str.strip, cases.split(","))
    ],
)
def test_a_construction_takes_the_steps_of_its_theory(name, case):
    words, _, steps = case.rpartition(" ")
    assert steps_of(name, named(words)) == int(steps)


@pytest.mark.parametrize("seed", range(5))
def test_hypercubes_are_found_whatever_their_numbering(seed):
    network = renumbered(cchybrid.instance("hypercube-16", "AAS").network, seed)
    label = hypercube_labels(network)
    for a, b, _ in network.channels:
        assert int(label[a] ^ label[b]).bit_count() == 1
    assert steps_of("offset-exchange", cchybrid.instance(network, "AAS")) == 8
    assert steps_of("disjoint-trees", cchybrid.instance(network, "AAB")) == 4


def test_several_messages_of_a_node_go_round_one_after_the_other():
    messages = [(a, [b for b in range(6) if a != b]) for a in (0, 0, 0, 1, 2)]
    instance = cchybrid.instance("ring-bi-6", messages)
    assert steps_of("ring", instance) == 3 * 5
    assert steps_of("two-way-ring", instance) == 3 * 3


@pytest.mark.parametrize(
    ("name", "nodes", "collective", "more", "steps"),
    [
        # Each neighbour is one node, so that the second channel to it is of use from step 2 on.
        ("disjoint-trees", 5, "AAB", {}, 2),
        # Twice the links of a ring of 8 take half the steps, as none of them can be idle.
        ("relayed-exchange", 8, "AAS", {"switching": "store-and-forward"}, 4),
    ],
)
def test_capacities_are_used(name, nodes, collective, more, steps):
    fat = Network.from_links("fat", nodes, [(a, (a + 1) % nodes) for a in range(nodes)] * 2)
    assert steps_of(name, cchybrid.instance(fat, collective, **more)) == steps


@pytest.mark.parametrize("side", [4, 12, 14, 20, 26, 32])
def test_figures_of_a_torus_hold_every_distance_once(side):
    found = [bend.distance(side) for figure in chosen(side) for bend in figure]
    assert len(found) == side * side
    assert set(found) == {(across, down) for across in range(side) for down in range(side)}


@pytest.mark.parametrize(("sides", "longest"), [((5, 5), 4), ((4, 8), 6)])
def test_figures_share_no_channel_and_have_opposites(sides, longest):
    """Every node of a class sends over the paths of a figure, all nodes in one step per class."""
    group, _, _ = classed(sides, [(0, 1), (0, sides[1] - 1), (1, 0), (sides[0] - 1, 0)])
    options = Options(group, np.random.default_rng(0), lambda: None)
    every = np.ones(len(options.opposite), dtype=np.bool_)
    found = list(options.figures([*range(len(every))] * 4, every, 4))
    assert found
    for items, figure in found:
        assert options.mask[list(figure)].sum(axis=0).max() == 1
        assert items == {int(options.opposite[item]) for item in items}
        parts = options.with_opposite(figure)
        distances = [part.distance for group in parts for part in group]
        assert len(set(distances)) == len(distances) >= len(items)
        assert max(len(part.word) for group in parts for part in group) <= longest


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("rails-4x3 AAB", 4), ("rails-3x3x1 AAS", 6), ("cluster-3x4 AAB", 3),
        ("cluster-3x4 AAS", 8), ("dgx-a100-x2 AAB hops", 6), ("rails-4x3 AAR hops", 6),
    ],
)  # fmt: skip
def test_clusters_are_found_whatever_their_numbering(words, steps, seed):
    """Participants are divided by their switches, not by their numbers."""
    instance = named(words)
    network, collective = instance.network, words.split()[1]
    number = list(range(network.nodes))
    random.Random(seed).shuffle(number)
    moved = Network.from_arcs(
        "renumbered", network.nodes,
        [(number[a], number[b]) for a, b, size in network.channels for _ in range(size)],
        switches=tuple(sorted(number[node] for node in network.switches)),
    )  # fmt: skip
    shuffled = replace(cchybrid.instance(moved, collective), model=instance.model)
    assert steps_of("switched-" + ("exchange" if "AAS" in words else "trees"), shuffled) == steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "steps"), [("rails-16x8 AAB", 16), ("rails-16x8 AAR", 16), ("cluster-8x8 AAS", 56)]
)
def test_clusters_end_at_a_certified_bound(words, steps):
    result = cchybrid.solve(named(words), time_limit=120)
    assert (result.steps, result.status, result.certified) == (steps, "optimal", True)


def test_boxes_of_different_sizes_have_no_translations():
    boxes = [(gpu, 7 if gpu < 3 else 8) for gpu in range(7)]
    links = [*boxes, *((gpu, 9) for gpu in range(7))]
    network = Network.from_links("uneven", 10, links, switches=(7, 8, 9))
    for collective, name in (("AAB", "switched-trees"), ("AAS", "switched-exchange")):
        problem = build_problem(cchybrid.instance(network, collective))
        with pytest.raises(DoesNotApplyError, match="moves no switches along"):
            CONSTRUCTIONS[name](context_of(problem))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["hyperx-2x3x4", "hyperx-3x5", "hyperx-4x4", "complete-7"])
def test_hyperx_is_found_whatever_its_numbering(name, seed):
    network = renumbered(cchybrid.instance(name, "AAS").network, seed)
    sides, label = hamming_labels(network)
    assert sorted(sides) == list(sides)
    assert len({tuple(row) for row in label.tolist()}) == prod(sides) == network.nodes
    for a, b, _ in network.channels:
        assert (label[a] != label[b]).sum() == 1
    steps = steps_of("offset-exchange", cchybrid.instance(network, "AAS"))
    assert steps == network.nodes // sides[0]


@pytest.mark.parametrize(
    "links",
    [
        [(a, b) for a in range(6) for b in range(a + 1, 6) if b - a != 3],  # octahedron
        [(a, b) for a in range(4) for b in range(4, 8)],
        [(a, (a + 1) % 6) for a in range(6)],
        [(a, (a + j) % 16) for a in range(16) for j in (1, 4)],
    ],
)
def test_other_regular_networks_are_no_hamming_graphs(links):
    nodes = 1 + max(max(link) for link in links)
    network = Network.from_links("regular", nodes, links)
    assert hamming_labels(network) is None


REASONS = [
    ("binomial-tree", "torus-3x3 OAB", "not a hypercube"),
    ("binomial-tree", "circulant-16-1x3 OAB", "not a hypercube"),
    ("binomial-tree", "hypercube-8 AAB", "more than one message"),
    ("binomial-tree", "b-tree-8 OAB", "does not go to all nodes"),
    ("double-tree", "hypercube-8 OAB ports=1", "fewer ports than dimensions"),
    ("double-tree", "hypercube-8 OAB hops", "not wormhole"),
    ("dimensional-trees", "petersen-10 OAB", "no mesh, torus or hypercube"),
    ("dimensional-trees", "spidergon-16 OAB", "rows that are no shortest paths"),
    ("dominating-sets", "petersen-10 OAB", "no group of translations found"),
    ("dominating-sets", "mesh-3x3 OAB", "nodes of different degrees"),
    ("offset-exchange", "hypercube-8 AAB", "messages with several destinations"),
    ("offset-exchange", "torus-4x5 AAS", "not a hypercube, complete graph or HyperX"),
    ("offset-exchange", "hyperx-3x5 AAS hops", "not wormhole"),
    ("diagonal-exchange", "torus-6x8 AAS", "no square torus with an even side"),
    ("diagonal-exchange", "torus-6x6 OAS", "not one message from every node to every"),
    ("coset-exchange", "mesh-3x3 AAS", "no network of an abelian group"),
    ("coset-exchange", "complete-9 AAS", "too many channels per node"),
    ("coset-exchange", "torus-5x7 AAS", "no classes of nodes that divide the steps"),
    ("coset-exchange", "torus-6x8 AAS", "too many paths per figure"),
    ("coset-exchange", "torus-4x8 AAS", "no cover by figures found"),
    ("coset-exchange", "ring-uni-8 AAS", "one-way channels"),
    ("coset-exchange", "torus-3x3 AAS ports=1", "fewer ports than channels"),
    ("quadrant-exchange", "mesh-5x6 AAS", "no mesh with even sides"),
    ("translated-exchange", "ring-uni-8 AAS", "no subgroup whose translated paths fit"),
    ("relayed-exchange", "hypercube-8 AAS", "not store-and-forward"),
    ("relayed-exchange", "hypercube-8 AAS hops ports=1", "fewer ports than channels"),
    ("shared-switches", "hypercube-8 AAS", "a terminal that is not attached to exactly one switch"),
    ("switched-trees", "hypercube-8 AAB", "no switches"),
    ("switched-trees", "dgx-2 OAB", "not one message from every participant"),
    ("switched-trees", "mi250-x2 AAB", "no group of translations found"),
    ("switched-trees", "clos-8 AAB", "images do not fit into a step"),
    ("switched-trees", "4-ary-2-tree AAB hops", "no short enough tree"),
    ("switched-exchange", "dgx-2 OAS", "not one message from every participant"),
    ("switched-exchange", "full-tree-7 AAS", "no switches"),
    ("switched-exchange", "2-fat-hypercube-8 AAS", "moves no switches along"),
    ("switched-exchange", "fat-tree-8 AAS", "images do not fit into a step"),
    ("packed-scatter", "mesh-9x9 AAS", "more than 5000 messages"),
    ("ring", "mesh-3x3 AAS", "messages go to different sets of nodes"),
    ("ring", "petersen-10 AAB hops", "no ring found"),
    ("two-way-ring", "b-tree-8 AAB", "a node has one port"),
    # Corners would use up all outer links, and nodes between them would have an odd number.
    ("two-way-ring", "mesh-3x3 AAB", "no ring found that fits into one step in both"),
    ("two-way-ring", "kautz-12 AAB", "one-way channels"),
    ("disjoint-trees", "hypercube-8 OAB", "not one message from every node"),
    ("recursive-doubling", "mesh-3x3 AAS", "every message has one destination"),
]


@pytest.mark.parametrize(
    ("name", "case", "words"),
    [pytest.param(*row, marks=[pytest.mark.long] * ("mesh-9x9" in row[1])) for row in REASONS],
)
def test_a_construction_says_why_it_does_not_apply(name, case, words):
    with pytest.raises(DoesNotApplyError, match=words):
        CONSTRUCTIONS[name](context_of(build_problem(named(case))))


def test_all_but_the_first_construction_know_where_they_do_not_apply():
    assert {reason[0] for reason in REASONS} == set(CONSTRUCTIONS) - {"sequential-tree"}


@pytest.mark.parametrize(
    ("name", "length"),
    [("random-regular-96-4-2", 96), ("hypercube-256", 256), ("petersen-10", 0), ("mesh-3x3", 0)],
)
def test_a_hamiltonian_cycle_is_one(name, length):
    """The Petersen graph has none, nor has a bipartite graph of nine nodes."""
    network = cchybrid.instance(name, "OAB").network
    context = context_of(build_problem(cchybrid.instance(network, "OAB")))
    cycle = hamiltonian_cycle(context, tuple(range(network.nodes)))
    assert len(cycle) == len(set(cycle)) == length
    assert all(hop in context.channel for hop in pairwise((*cycle, *cycle[:1])))


def test_sequential_trees_are_for_a_limited_number_of_deliveries(monkeypatch):
    context = context_of(build_problem(cchybrid.instance("ring-6", "AAB")))
    limit = "cchybrid_plugins.engines.classical.sequential_tree.MAX_DELIVERIES"
    monkeypatch.setattr(limit, 30)
    assert CONSTRUCTIONS["sequential-tree"](context)
    monkeypatch.setattr(limit, 29)
    with pytest.raises(DoesNotApplyError, match="more than 29 deliveries"):
        CONSTRUCTIONS["sequential-tree"](context)


def test_terminals_and_half_duplex_links_have_no_translations():
    cycle = [(a, (a + 1) % 6) for a in range(6)]
    network = Network.from_links("shared", 6, cycle, half_duplex=tuple(cycle))
    problem = build_problem(Instance(network, Collective("one", (Message(0, (3,)),))))
    with pytest.raises(DoesNotApplyError, match="half-duplex"):
        translations(context_of(problem))


def applied(instance: Instance, seed: int, max_options: int = 400_000) -> set[str]:
    """Return the constructions that apply; assert that each gives a schedule."""
    problem = build_problem(instance, max_options=max_options)
    found = set()
    for name, make in CONSTRUCTIONS.items():
        try:
            drafted, made = list_transfers(problem, make(context_of(problem, seed)))
        except DoesNotApplyError:
            continue
        found.add(name)
        assert not drafted.violations(made), name
        assert verify(instance, drafted.lift(made).steps) == (), name
        assert made.steps >= context_of(problem).min_steps, name
    return found


@RANDOM
@given(instances(), st.integers(0, 3))
def test_whatever_applies_gives_a_schedule(instance, seed):
    assert "sequential-tree" in applied(instance, seed)


KNOWN = [
    "hypercube-8", "torus-3x3", "mesh-2x3", "ring-bi-5", "ring-uni-4", "spidergon-6", "rails-2x3",
    "cluster-3x2x1", "omega-4",
]  # fmt: skip


@st.composite
def symmetric(draw: st.DrawFn) -> Instance:
    """Well-known networks under any model, with collectives that constructions are for."""
    collectives = st.sampled_from(["OAB", "AAB", "OAS", "AAS", "AOR", "AAR", "AOG"])
    instance = cchybrid.instance(draw(st.sampled_from(KNOWN)), draw(collectives))
    network = instance.network
    links = [(a, b) for a, b, _ in network.channels if a < b and (b, a) in network.channel_index]
    shared = draw(st.lists(st.sampled_from(links), unique=True, max_size=2)) if links else ()
    network = replace(network, half_duplex=tuple(shared))
    model = draw(models(network.nodes, routings=("minimal", "any", 1)))
    return replace(instance, network=network, model=model)


@settings(RANDOM, max_examples=examples(60))
@given(symmetric(), st.integers(0, 3), st.sampled_from([30, 400_000]))
def test_whatever_applies_to_known_networks_gives_a_schedule(instance, seed, max_options):
    """Whether its paths are listed or not."""
    applied(instance, seed, max_options)


def made(instance: Instance, only: str = "", **rest: Any) -> tuple[LocalRun, Stop]:
    return solved(Classical(Classical.Options(only=only)), instance, **{"budget": Budget(), **rest})


def test_the_engine_offers_better_and_better_schedules():
    run, stop = made(named("mesh-3x3 AAB"))
    offered = [len(schedule.steps) for schedule in run.schedules]
    assert offered == sorted(set(offered), reverse=True)
    assert (offered[0], stop) == (8, Stop.STALLED)
    assert len(offered) > 1
    run, stop = made(cchybrid.instance("hypercube-16", "AAB"), lower=4)
    assert (run.best(), stop) == (4, Stop.EXHAUSTED)
    few = Budget(evaluations=list(CONSTRUCTIONS).index("ring") + 1)
    run, stop = made(named("mesh-3x3 AAB"), budget=few)
    assert (len(run.schedules), stop) == (1, Stop.LIMIT)


def test_bounds_that_counting_does_not_reach_stop_nothing():
    run, _ = made(cchybrid.instance("mesh-4x4", "AAS"), lower=16)
    assert min(len(schedule.steps) for schedule in run.schedules) < 20
    rest = cchybrid.instance("torus-4x4", "AAS", switching="store-and-forward")
    run, stop = made(rest, lower=8)
    assert (run.best(), stop) == (8, Stop.EXHAUSTED)


def test_nothing_is_made_after_a_schedule_that_counting_shows_optimal():
    run, stop = made(cchybrid.instance("torus-4x4", "AAB"))
    assert (len(run.schedules), stop) == (1, Stop.STALLED)
    assert run.spent == list(CONSTRUCTIONS).index("disjoint-trees") + 1


def test_one_construction_alone():
    run, _ = made(cchybrid.instance("hypercube-16", "AAB"), "ring")
    assert [len(schedule.steps) for schedule in run.schedules] == [15]
    run, stop = made(cchybrid.instance("mesh-3x3", "OAB"), "double-tree")
    assert (run.schedules, stop) == ([], Stop.STALLED)
    with pytest.raises(ValueError, match="use binomial-tree, double-tree, "):
        Classical.Options(only="gossip")
    with pytest.raises(ValueError, match="use at least 1"):
        Classical.Options(effort=0)


@pytest.mark.parametrize(
    ("name", "words", "known"),
    [
        ("sequential-tree", "hypercube-16 AAB", 27),
        ("ring", "hypercube-16 AAB", 15),
        ("two-way-ring", "hypercube-16 AAB", 8),
        ("disjoint-trees", "hypercube-16 AAB", 4),
        ("packed-scatter", "hypercube-16 AAS", 8),
        ("translated-exchange", "hypercube-16 AAS", 8),
        ("coset-exchange", "torus-5x5 AAS", 15),
        # Counting does not refute fewer steps here.
        ("packed-scatter", "mesh-4x4 AAS", 16),
        ("recursive-doubling", "mesh-3x3 OAB", 3),
        ("relayed-exchange", "torus-3x4 AAS hops", 6),
        ("switched-trees", "rails-4x4 AAB hops", 6),
        ("switched-exchange", "rails-4x4 AAS", 12),
    ],
)
def test_nothing_is_made_that_is_no_better_than_the_best(name, words, known):
    problem = build_problem(named(words))
    assert CONSTRUCTIONS[name](Context(problem, 0, lambda: None, lambda steps: steps < 3 * known))
    context = Context(problem, 0, lambda: None, lambda steps: steps < known)
    with pytest.raises(DoesNotApplyError, match=r"no better than|no short enough"):
        CONSTRUCTIONS[name](context)


def test_stops_in_the_midst_of_a_construction():
    problem = build_problem(cchybrid.instance("torus-8x8", "AAB"))
    run = LocalRun(problem, budget=Budget(seconds=None))
    checks = []

    def enough() -> bool:
        checks.append(len(run.schedules))
        return len(checks) > 20

    run.should_stop = enough
    assert Classical(Classical.Options()).solve(problem, run) is Stop.LIMIT
    assert len(checks) < 30


@pytest.mark.parametrize(
    "case", ["hypercube-16 AAS 8", "hypercube-16 AOG 4", "torus-5x5 OAB 2", "b-tree-16 AAR 15"]
)
def test_paths_that_are_not_listed_are_taken(case):
    words, _, steps = case.rpartition(" ")
    problem = build_problem(named(words), max_options=1)
    assert not problem.complete
    run, _ = made(problem)
    assert run.best() == int(steps)


def test_a_search_ends_where_no_channel_is_left_however_many_hops_are_allowed():
    """The engine counts hops up to the limit, and a billion of empty levels takes minutes."""
    instance = cchybrid.instance("mesh-3x3", "AAB", routing=10**9)
    context = Context(build_problem(instance), 0, lambda: None, lambda steps: True)
    residual = ResidualCapacity(context)
    for source, target, _ in instance.network.channels:
        if target == 8:
            residual.allocate((source, target))
    assert residual.route(0, 8) is None
