"""Shortest periods of time slots: those known by hand, and those of random small instances."""

from types import SimpleNamespace

import pytest
from cchybrid_plugins.engines.cpsat.targets import Targets
from hypothesis import given, settings

import cchybrid
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import valid_schedules


@pytest.mark.parametrize(
    ("network", "slots"), [("mesh-3x3", 8), ("mesh-4x4", 16), ("mesh-6x6", 54)]
)
def test_shortest_periods_of_meshes(network, slots):
    """Every port, or every channel of the bisection, is used in every slot."""
    instance = cchybrid.instance(network, "AAS", switching="tdm", ports=1)
    found = cchybrid.solve(instance, engines=["cpsat", "tabu"], time_limit=60)
    assert (found.steps, found.status, found.certified) == (slots, "optimal", True)


@settings(max_examples=examples(20))
@given(valid_schedules(switchings=("tdm",), max_nodes=5, max_messages=5))
def test_the_shortest_period_is_found(schedule):
    fewest = fewest_steps(schedule.instance, len(schedule.steps))
    for engine in ("tabu", "cpsat"):
        found = cchybrid.solve(schedule.instance, engines=[engine], steps=fewest, time_limit=20)
        assert found.steps == fewest, engine


def test_a_path_longer_than_the_period_uses_every_channel_in_its_own_slot():
    line = cchybrid.instance("mesh-1x5", [(0, [4])], switching="tdm")
    found = cchybrid.solve(line, time_limit=10)
    assert (found.steps, found.certified) == (1, True)


def test_engines_of_steps_in_order_refuse_slots_ticks_groups():
    mesh = cchybrid.instance("mesh-3x3", "AAS", switching="tdm", ports=1)
    found = cchybrid.solve(mesh, engines=["lns", "umda"], time_limit=10)
    assert found.remarks == ("lns: time slots", "umda: time slots")


def test_a_period_that_no_bound_shows_is_neither_refuted_nor_claimed_by_formulas():
    """The formulas are about steps: they have schedules that are no periods."""
    torus = cchybrid.instance("torus-3x3", "AAS", switching="tdm", ports=1)
    found = cchybrid.solve(torus, engines=["tabu"], time_limit=4, threads=1)
    assert (found.steps, found.lower_bound.steps, found.troubles) == (9, 8, ())
    proof = cchybrid.prove(found.schedule, time_limit=5)
    assert (proof.optimal, proof.shorter, proof.verdict.bound) == (False, None, 8)


def test_the_refutation_of_one_period_is_none_of_shorter_ones():
    """Two messages at a distance on shared channels: 4 slots are possible, and 2, but not 3."""
    targets = Targets(SimpleNamespace(lower=lambda: 1, best=lambda: 4, target=3), periodic=True)
    assert targets.open() == (3, 3)
    assert not targets.refutes_fewer(3)
    assert targets.refutes_fewer(1)
