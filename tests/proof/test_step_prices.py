"""Bounds from prices per step: optima that no cheaper kind shows, and what the checker refuses."""

from typing import Any

import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.checker import proven_steps
from cchybrid.model import Instance
from cchybrid.proof.cut import cut_bounds
from cchybrid.proof.flow import price_bounds
from cchybrid.proof.growth import growth_bounds
from cchybrid.proof.step_prices import step_price_bounds
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import instances, list_schedule, scattered

FOUR = {"transmitters": range(4), "receivers": range(4)}


def mns(topology: str, more: dict[str, Any]) -> Instance:
    return cchybrid.instance(topology, "MNS", switching="store-and-forward", **more)


def best(instance: Instance) -> int:
    return max((bound.steps for bound in step_price_bounds(instance.forward)), default=0)


@pytest.mark.parametrize(
    ("topology", "more", "steps"),
    [
        ("mesh-3x3", {**FOUR, "ports": 1}, 5),
        ("mesh-2x4", {**FOUR, "ports": 1}, 5),
        ("hypercube-8", {**FOUR, "ports": 1}, 4),
        ("spidergon-8", FOUR, 3),
        ("full-tree-7", {"transmitters": (0, 1), "receivers": (4, 5, 6)}, 5),
    ],
)
def test_optima_that_no_cheaper_kind_shows(topology: str, more: dict[str, Any], steps: int) -> None:
    instance = mns(topology, more)
    for cheaper in (growth_bounds, cut_bounds, price_bounds):
        assert max((bound.steps for bound in cheaper(instance)), default=0) < steps
    assert best(instance) == steps == fewest_steps(instance, steps + 2)


@settings(max_examples=examples(60))
@given(
    instances(switchings=("store-and-forward",), kinds=("deliver",), max_nodes=6, max_messages=5)
)
def test_no_bound_exceeds_the_optimum_of_a_scatter(instance: Instance) -> None:
    instance = scattered(instance, 6)
    fewest = fewest_steps(instance, len(list_schedule(instance, 0)))
    record, known = instance.to_json(), 0
    for bound in step_price_bounds(instance):
        assert known < bound.steps <= fewest
        assert proven_steps(record, bound.evidence) == bound.steps
        known = bound.steps


def test_only_scatters_hop_by_hop() -> None:
    assert not list(step_price_bounds(cchybrid.instance("mesh-3x3", "AAS")))
    broadcast = cchybrid.instance("mesh-3x3", "AAB", switching="store-and-forward")
    assert not list(step_price_bounds(broadcast))
