"""Shortest periods of time slots: those known by hand, and those of random small instances."""

from itertools import islice
from types import SimpleNamespace

import pytest
from cchybrid_plugins.engines.cpsat.engine import CpSat
from cchybrid_plugins.engines.cpsat.targets import Targets
from hypothesis import given, settings

import cchybrid
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.problem.symmetry.quotient import quotients
from cchybrid.toolkit.kernels.first_fit import first_fit
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
    # Of broadcasts, tabu search takes trees in some orders only.
    spreads = max(schedule.instance.collective.flat[1]) > 1
    for engine in ("cpsat",) if spreads else ("tabu", "cpsat"):
        found = cchybrid.solve(schedule.instance, engines=[engine], steps=fewest, time_limit=20)
        assert found.steps == fewest, engine


@settings(max_examples=examples(60), deadline=None)
@given(valid_schedules(switchings=("tdm",), max_nodes=5, max_messages=3))
def test_cpsat_proves_the_shortest_period(schedule):
    fewest = fewest_steps(schedule.instance, len(schedule.steps))
    problem = build_problem(schedule.instance)
    run = LocalRun(problem, budget=Budget(seconds=30))
    assert CpSat(CpSat.Options()).solve(problem, run) is Stop.EXHAUSTED
    assert (run.best(), run.lower()) == (fewest, fewest)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "ports", "slots"),
    [("mesh-3x3", 1, 8), ("mesh-4x4", None, 8), ("torus-4x4", None, 4), ("torus-3x3", 1, 8)],
)
def test_shortest_periods_of_broadcasts(network, ports, slots):
    """Every node accepts n - 1 messages, through its ports or the channels of a corner."""
    instance = cchybrid.instance(network, "AAB", switching="tdm", ports=ports)
    found = cchybrid.solve(instance, engines=["cpsat", "tabu"], time_limit=60)
    assert (found.steps, found.status, found.certified) == (slots, "optimal", True)


@pytest.mark.slow
def test_quotients_of_broadcasts_have_valid_periods():
    instance = cchybrid.instance("torus-3x3", "AAB", switching="tdm", ports=1)
    for problem in islice(quotients(build_problem(instance), 0, 1, lambda: False), 3):
        run = LocalRun(problem, budget=Budget(seconds=30))
        CpSat(CpSat.Options()).solve(problem, run)
        assert run.best() == 8


def test_paths_of_quotients_may_use_few_resources_many_times():
    instance = cchybrid.instance("ring-bi-8", "AAS", switching="tdm", ports=1)
    for problem in islice(quotients(build_problem(instance), 0, 1, lambda: False), 9):
        assert problem.violations(first_fit(problem, 0)) == []


@pytest.mark.slow
def test_a_broadcast_over_a_path_through_all_nodes_has_a_period_of_one_slot():
    """No order of the slots allows it: the first node would have to send to the last at once."""
    ring = cchybrid.instance("ring-5", "OAB", switching="tdm", ports=1)
    found = cchybrid.solve(ring, engines=["cpsat"], time_limit=60)
    assert (found.steps, found.certified) == (1, True)


def test_a_path_longer_than_the_period_uses_every_channel_in_its_own_slot():
    line = cchybrid.instance("mesh-1x5", [(0, [4])], switching="tdm")
    found = cchybrid.solve(line, time_limit=10)
    assert (found.steps, found.certified) == (1, True)


def test_engines_of_steps_in_order_refuse_slots_ticks_groups():
    mesh = cchybrid.instance("mesh-3x3", "AAS", switching="tdm", ports=1)
    found = cchybrid.solve(mesh, engines=["lns", "umda"], time_limit=60)
    assert found.remarks == ("lns: time slots", "umda: time slots")


def test_a_period_that_no_bound_shows_is_neither_refuted_nor_claimed_by_formulas():
    """The formulas are about steps: they have schedules that are no periods."""
    torus = cchybrid.instance("torus-3x3", "AAS", switching="tdm", ports=1)
    found = cchybrid.solve(torus, engines=["tabu"], time_limit=10, threads=1)
    assert (found.steps, found.lower_bound.steps, found.troubles) == (9, 8, ())
    proof = cchybrid.prove(found.schedule, time_limit=5)
    assert (proof.optimal, proof.shorter, proof.verdict.bound) == (False, None, 8)


def test_the_refutation_of_one_period_is_none_of_shorter_ones():
    """Two messages at a distance on shared channels: 4 slots are possible, and 2, but not 3."""
    targets = Targets(SimpleNamespace(lower=lambda: 1, best=lambda: 4, target=3), periodic=True)
    assert targets.open() == (3, 3)
    assert not targets.refutes_fewer(3)
    assert targets.refutes_fewer(1)
