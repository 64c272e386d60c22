"""Engines without a priority are probed last: installed, they change neither steps nor probes."""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest

import cchybrid
from cchybrid.host.run_history import RunHistory
from cchybrid.host.strategies import AutoOptions, auto
from cchybrid.plugin.registry import Registry, load_registry
from cchybrid.problem import is_ordered

EXAMPLE = Path(__file__).parents[2] / "docs" / "example-plugin"
INSTANCES = (
    ("mesh-3x3", "AAS"),
    ("kautz-12", "AAB"),
    ("heawood-14", "AAS"),
    ("torus-3x3", "AAS"),
    ("dragonfly-4x2", "AAS"),
    ("random-regular-24-3-1", "AAB"),
)
SOLVED_SOON = (
    *INSTANCES[:2],
    *(pytest.param(*names, marks=pytest.mark.long) for names in INSTANCES[2:4]),
)


NEWCOMERS = (("greedy", "instance"), ("thinker", "instance"))


@pytest.fixture(scope="module")
def alone() -> Registry:
    return load_registry()


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> Registry:
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "cchybrid_greedy,tests.newcomer_exact")
    registry = load_registry()
    assert {"greedy", "thinker"} <= set(registry.engines)
    return registry


def rounds(registry: Registry, instance: cchybrid.Instance, count: int) -> list[list[Any]]:
    """Return the arms of the first phases of ``auto``: constructions, then the first probes."""
    engines = [info for info in registry.engines.values() if not info.baseline]
    history = RunHistory(is_ordered(instance))
    phases = auto(engines, 2, history, AutoOptions())
    return [[arm.key for arm in phase.arms] for phase in islice(phases, count)]


@pytest.mark.parametrize(("network", "collective"), INSTANCES)
def test_the_first_two_rounds_of_probes_are_the_same(
    network: str, collective: str, alone: Registry, joined: Registry
) -> None:
    instance = cchybrid.instance(network, collective)
    before, after = (rounds(registry, instance, 9) for registry in (alone, joined))
    kept = [[key for key in phase if key not in NEWCOMERS] for phase in after]
    assert list(filter(None, kept))[:3] == before[:3]
    # They are probed later than all others.
    orders = [list(dict.fromkeys(chain.from_iterable(phases))) for phases in (before, after)]
    assert orders[1] == [*orders[0], *NEWCOMERS]


@pytest.mark.long
@pytest.mark.parametrize(("network", "collective"), SOLVED_SOON)
def test_the_steps_and_the_phases_that_ran_are_the_same(
    network: str, collective: str, alone: Registry, joined: Registry
) -> None:
    found = []
    for registry in (alone, joined):
        phases: list[Any] = []
        result = cchybrid.solve(
            cchybrid.instance(network, collective),
            time_limit=30,
            registry=registry,
            observers=[lambda e, to=phases: to.append(e) if e["event"] == "phase" else None],
        )
        found.append((result.steps, result.status, [e["engines"] for e in phases][:3]))
    (steps, status, first), (steps_joined, status_joined, first_joined) = found
    assert (steps, status) == (steps_joined, status_joined)
    shared = min(len(first), len(first_joined))
    assert first[:shared] == first_joined[:shared]
