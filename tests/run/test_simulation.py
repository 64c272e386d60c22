"""Schedules replayed in SimGrid, where it is installed: what shares no channel is not delayed."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache

import pytest

import cchybrid
from cchybrid.bench.suite import read_suite
from cchybrid.host.first_schedule import first_schedule
from cchybrid.library.instance_spec import resolve
from cchybrid.model import Collective, Instance, Message, Network, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from cchybrid.referee.verify import verify_schedule
from cchybrid.run import simulation
from cchybrid.run.simulation import replay, simgrid_python
from cchybrid.run.time_models import TimeModel

MODEL = TimeModel(startup=1.0, bandwidth=100.0, per_hop=0.25)


@cache
def obstacle() -> str:
    try:
        simgrid_python()
    except InputError as error:
        return str(error)
    return ""


needs_simgrid = pytest.mark.skipif("obstacle()", reason="SimGrid is not installed")


@needs_simgrid
@pytest.mark.parametrize(
    ("topology", "collective", "more"),
    [
        ("mesh-3x3", "AAS", {}),
        ("hypercube-8", "AAB", {"ports": 1}),
        ("dgx-1", "allgather", {"switching": "store-and-forward"}),
        ("spidergon-8", "reduce-scatter", {}),
        ("ring-bi-6", "allreduce", {"chunks": 2}),
    ],
)
def test_a_valid_schedule_takes_the_time_of_the_model(topology, collective, more):
    instance = cchybrid.instance(topology, collective, **more)
    schedule = cchybrid.solve(instance, time_limit=10).schedule
    found = replay(schedule, MODEL, [1000.0, 64000.0])
    assert found.undisturbed
    for row in found.rows:
        assert row.schedule == pytest.approx(
            sum(MODEL.step_times(schedule, row.size)), rel=1e-3
        ) or (instance.collective.chunks > 1)
    assert found.to_json()["undisturbed"] is True


CHAIN = Network.from_links("chain", 4, [(0, 1), (1, 2), (2, 3)])
PAIRS = Instance(CHAIN, Collective("pairs", (Message(0, (2,)), Message(1, (3,)))))
BOTH = (Transfer(0, (0, 1, 2)), Transfer(1, (1, 2, 3)))


@needs_simgrid
@pytest.mark.parametrize(
    ("instance", "step"),
    [
        (PAIRS, BOTH),  # both over the channel from 1 to 2
        (  # both directions of a half-duplex link
            Instance(
                Network("pair", 2, ((0, 1, 1), (1, 0, 1)), ((0, 1),)),
                Collective("swap", (Message(0, (1,)), Message(1, (0,)))),
            ),
            (Transfer(0, (0, 1)), Transfer(1, (1, 0))),
        ),
        (  # one port to accept
            Instance(CHAIN, PAIRS.collective).with_model(inject=1, accept=1),
            (Transfer(0, (0, 1)), Transfer(1, (2, 1))),
        ),
    ],
)
def test_a_planted_conflict_is_found(instance, step):
    together = Schedule(instance, (step,))
    assert verify_schedule(together)  # the referee sees it, too
    found = replay(together, MODEL, [10_000.0])
    assert len(found.delayed) == 2
    assert found.delayed[0][2] == pytest.approx(2.0, rel=0.05)
    apart = Schedule(instance, tuple((transfer,) for transfer in step))
    assert replay(apart, MODEL, [10_000.0]).undisturbed


@pytest.mark.long
@needs_simgrid
@pytest.mark.parametrize("seed", range(3))
def test_a_conflict_among_many_transfers_is_found(seed):
    """Two steps of a valid schedule at once: some channel carries two messages."""
    schedule = cchybrid.solve("mesh-3x3", "AAS", time_limit=10, seed=seed).schedule
    first, second, *rest = schedule.steps
    merged = Schedule(schedule.instance, ((*first, *second), *rest))
    found = replay(merged, MODEL, [10_000.0])
    assert verify_schedule(merged)
    assert found.delayed
    assert {step for step, _, _ in found.delayed} == {0}


@needs_simgrid
def test_no_schedule_of_the_smoke_suite_has_a_delayed_transfer():
    checked = 0
    registry = load_registry()
    for row in read_suite("smoke").rows:
        instance = resolve(row.spec, registry)
        if instance.collective.kind == "allreduce":
            continue
        steps = first_schedule(instance, lambda: False)
        assert steps is not None
        assert replay(Schedule(instance, steps), MODEL, [10_000.0]).undisturbed, instance.name
        checked += 1
    assert checked > 10


def test_the_platform_is_well_formed_and_complete():
    instance = cchybrid.instance("mesh-2x2", "AAS", ports=1)
    text = simulation.platform(instance, MODEL, {("node-0", "node-3"): (0, 1, 3)})
    root = ET.fromstring(text)
    links = {link.get("id"): link for link in root.iter("link")}
    assert {"0>1", "1>3", "inject 0", "accept 3"} <= set(links)
    assert links["0>1"].get("bandwidth") == "100Bps"
    assert links["0>1"].get("latency") == "0.25s"
    (route,) = root.iter("route")
    named = [part.get("id") for part in route]
    assert named[:4] == ["inject 0", "0>1", "1>3", "accept 3"]
    assert all(name in links for name in named)


def test_without_simgrid_there_is_one_line(monkeypatch):
    simgrid_python.cache_clear()
    monkeypatch.setattr(simulation.sys, "executable", "/nowhere/python")
    monkeypatch.setattr(simulation, "SYSTEM_PYTHON", "/nowhere/else")
    with pytest.raises(InputError, match="SimGrid is not installed; on Debian"):
        simgrid_python()
    simgrid_python.cache_clear()
