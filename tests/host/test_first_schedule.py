"""The host's own schedule is valid for every feasible instance and needs no engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.host.first_schedule import CHECK_INTERVAL, first_schedule
from cchybrid.model import Instance
from cchybrid.plugin.registry import load_registry
from cchybrid.proof.reach import unreachable
from cchybrid.referee.verify import verify
from tests.examples import examples
from tests.random_instances import instances

CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("spidergon-8", "AAS", {}),
    ("mesh-4x4", "AAB", {}),
    ("omega-8", "AAB", {}),  # endpoints that no path may pass
    ("clos-12", "AAS", {"ports": 1}),
    ("2-fat-spidergon-8", "AAB", {}),
    ("mesh-3x4", "AAR", {}),  # read backwards
    ("mesh-4x4", "AOR", {"ports": 1}),
    ("fat-tree-8", "AAG", {}),
    ("hypercube-16", "AAS", {"switching": "store-and-forward", "ports": 1}),
    ("ring-uni-8", "AAB", {"switching": "store-and-forward"}),
    ("omega-8", "OAB", {"switching": "store-and-forward"}),
    ("dgx-1", "AAB", {}),  # capacities above 1
    ("mesh-3x3", "AAS", {"routing": "any"}),
]


@pytest.mark.parametrize(("network", "collective", "rest"), CASES)
def test_it_is_valid(network: str, collective: str, rest: dict[str, Any]) -> None:
    instance = cchybrid.instance(network, collective, **rest)
    steps = first_schedule(instance)
    assert steps is not None
    assert not verify(instance, steps)


@given(instances(), st.booleans())
@settings(max_examples=examples(150), suppress_health_check=list(HealthCheck))
def test_it_is_valid_for_every_feasible_instance(instance: Instance, hop_by_hop: bool) -> None:
    switching = "store-and-forward" if hop_by_hop else "wormhole"
    instance = replace(instance, model=replace(instance.model, switching=switching))
    if unreachable(instance.forward) is None:
        steps = first_schedule(instance)
        assert steps is not None
        assert not verify(instance, steps)


def test_half_duplex_links_are_shared() -> None:
    network = replace(cchybrid.network("ring-bi-6"), half_duplex=((0, 1), (3, 2)))
    instance = Instance(network, cchybrid.instance("ring-bi-6", "AAS").collective)
    steps = first_schedule(instance)
    assert steps is not None
    assert not verify(instance, steps)


def test_it_can_be_stopped() -> None:
    instance = cchybrid.instance("hypercube-32", "AAS")
    assert first_schedule(instance, lambda: True) is None


def test_it_can_be_stopped_while_deliveries_are_sorted() -> None:
    calls = []
    assert first_schedule(cchybrid.instance("hypercube-32", "AAS"), lambda: bool(calls.append(1)))
    assert len(calls) >= 2 * 992 // CHECK_INTERVAL


@pytest.mark.parametrize("engine", ["vanish", "picky", "crash", "missing"])
def test_there_is_a_schedule_if_every_engine_fails(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines")
    result = cchybrid.solve(
        cchybrid.instance("mesh-3x3", "AAS"), engines=[engine], time_limit=20,
        registry=load_registry(),
    )  # fmt: skip
    assert result.schedule is not None
    assert not cchybrid.verify_schedule(result.schedule)
    assert result.engine == "host greedy"
    assert result.schedule.made_by["engine"] == "host greedy"


def test_engines_do_not_depend_on_it() -> None:
    instance = cchybrid.instance("mesh-3x3", "AAS")
    with_it, without = (
        cchybrid.solve(instance, engines=["colouring"], evaluations=50, first_schedule=first)
        for first in (True, False)
    )
    assert dict(with_it.evaluations) == dict(without.evaluations)
    assert [c.steps for c in with_it.contributions] == [c.steps for c in without.contributions]
    assert with_it.steps is not None
    assert without.steps is not None
    assert with_it.steps <= without.steps


@pytest.mark.parametrize("budget", [{"time_limit": 0.1}, {"time_limit": 2.0, "evaluations": 50}])
def test_it_comes_before_all_else(budget: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines,tests.endless_bounds")
    events: list[str] = []
    result = cchybrid.solve(
        cchybrid.instance("spidergon-8", "AAS"),
        engines=["tuned"],
        options={"tuned": {"rounds": 2}},
        registry=load_registry(),
        observers=[lambda event: events.append(event["event"])],
        **budget,
    )
    assert result.schedule is not None
    assert events[:2] == ["run", "schedule"]


def test_an_instance_that_is_too_large_is_remarked() -> None:
    result = cchybrid.solve(
        cchybrid.instance("torus-20x20", "AAS"), engines=["liquid"], time_limit=1.0
    )
    assert result.schedule is None
    assert result.status == "unknown"
    assert any("too large for a greedy schedule" in text for text in result.remarks)
