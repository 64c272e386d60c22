"""Level bounds: never above the optimum, above growth where distances and ports work together."""

import json

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.model import Instance
from cchybrid.proof.climbing import network_of
from cchybrid.proof.farkas import MAX_TERMS, refute
from cchybrid.proof.growth import growth_bounds
from cchybrid.proof.levels import MAX_FLOWS, MAX_MESSAGES, Levels, level_bounds
from tests.examples import examples
from tests.proof.optimum import possible
from tests.random_instances import valid_schedules

ONE_PORT = {"switching": "store-and-forward", "ports": 1}


def de_bruijn(digits: int) -> nx.Graph:
    """Return the graph of binary words, each joined to those shifted by one digit."""
    nodes = 1 << digits
    pairs = [(v, (2 * v + digit) % nodes) for v in range(nodes) for digit in (0, 1)]
    return nx.Graph((a, b) for a, b in pairs if a != b)


def shown(instance: Instance) -> int:
    """Return the steps that the evidence of the best level bound shows to the checker, or 0."""
    best, record = 0, instance.to_json()
    for bound in level_bounds(instance.forward):
        evidence = json.loads(json.dumps(bound.evidence))
        assert best < bound.steps == proven_steps(record, evidence)
        best = bound.steps
    return best


@pytest.mark.parametrize(
    ("network", "growth", "steps"),
    [
        # Attained: by the tree of Slater, Cockayne and Hedetniemi, and by schedules of solvers.
        ("full-tree-63", 6, 8),
        ("ccc-4", 8, 9),
        ("ccc-5", 10, 11),
        (de_bruijn(6), 6, 8),
        (de_bruijn(7), 7, 9),
        (de_bruijn(8), 8, 10),
        ("random-regular-128-3-1", 8, 9),
    ],
)
@pytest.mark.parametrize("collective", ["OAB", "reduce"])
def test_broadcasts_with_one_port(
    network: str | nx.Graph, growth: int, steps: int, collective: str
) -> None:
    instance = cchybrid.instance(network, collective, root=0, **ONE_PORT)
    assert max(bound.steps for bound in growth_bounds(instance.forward)) == growth
    assert shown(instance) == steps


@settings(max_examples=examples(200))
@given(
    valid_schedules(
        max_nodes=6, max_messages=2, switchings=("store-and-forward",), chunks=(1, 1, 2)
    )
)
def test_no_level_bound_exceeds_the_optimum(schedule):
    steps = shown(schedule.instance)
    assert steps <= len(schedule.steps)
    assert not steps or not possible(schedule.instance, steps - 1)


@settings(max_examples=examples(60))
@given(st.integers(0, 2**20), st.integers(8, 14), st.integers(0, 4), st.integers(1, 2))
def test_what_levels_refute_the_whole_relaxation_refutes(seed, nodes, more, ports):
    """The rows of the levels are sums of its rows, and each of these holds."""
    name = f"random-links-{nodes}-{nodes - 1 + more}-{seed}"
    instance = cchybrid.instance(name, "OAB", **{**ONE_PORT, "ports": ports})
    levels = Levels(network_of(instance), 0)
    steps = 1 + max(bound.steps for bound in growth_bounds(instance))
    while steps > 1 and levels.refute(steps) is None:
        steps -= 1
    assume(steps > 1)
    assert refute(instance.to_json(), steps, MAX_TERMS) is not None
    assert not possible(instance, steps)


def test_only_some_of_the_destinations_count() -> None:
    """One leaf of each half of a tree is reached without delay, all leaves are not."""
    few = cchybrid.instance("full-tree-63", "MNB", transmitters=[0], receivers=[31, 32], **ONE_PORT)
    many = cchybrid.instance(
        "full-tree-63", "MNB", transmitters=[0], receivers=range(31, 63), **ONE_PORT
    )
    assert shown(few) == 6
    assert shown(many) == 8


@pytest.mark.parametrize(
    ("collective", "model"),
    [
        ("OAB", {"switching": "wormhole", "ports": 1}),
        ("OAB", {"switching": "store-and-forward", "ports": "all"}),
        ("OAS", ONE_PORT),
        ("AAB", ONE_PORT),
    ],
)
def test_other_instances_are_left_to_other_kinds(collective: str, model: dict) -> None:
    instance = cchybrid.instance("full-tree-63", collective, **model)
    assert collective != "AAB" or len(instance.collective.messages) > MAX_MESSAGES
    assert not list(level_bounds(instance))


def test_programs_that_are_too_large_are_not_solved() -> None:
    instance = cchybrid.instance("ring-bi-256", "OAB", **ONE_PORT)
    levels = Levels(network_of(instance), 0)
    assert len(levels.across) * 100 > MAX_FLOWS
    assert levels.refute(100) is None
    assert levels.refute(10) is not None
