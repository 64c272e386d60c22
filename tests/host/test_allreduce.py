"""Runs on an allreduce, from the result to its certificate, and known optima of scans."""

import json
from dataclasses import replace

import pytest

import cchybrid
from cchybrid.checker import proves_infeasible
from cchybrid.host.allreduce import ENGINES
from cchybrid.host.compositions import moved_ahead, with_sums
from cchybrid.host.replay import replay
from cchybrid.model import (
    AllReduction,
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Network,
    Schedule,
)
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import RESERVED_NAMES, load_registry
from cchybrid.proof import BOUNDS
from cchybrid.proof.asking import bounds_of
from cchybrid.proof.parts import infeasibility
from cchybrid.proof.reach import explain
from cchybrid.referee.verify import verify_schedule
from tests.named_instances import named

HOPS = "store-and-forward"


def test_no_engine_of_a_plugin_has_the_name_of_one_of_these():
    assert {engine.name for engine in ENGINES} <= RESERVED_NAMES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("dgx-1 allreduce", 2),
        ("mesh-1x3 allreduce hops chunks=2", 3),
        ("ring-bi-5 allreduce hops", 2),
        ("ring-bi-6 allreduce hops participants=0,2,4", 2),
        ("hypercube-8 scan hops", 3),
        ("hypercube-8 exscan hops ports=1", 3),
        ("mesh-1x5 scan hops", 4),
        ("ring-bi-6 exscan hops participants=0,2,4", 2),
    ],
)
def test_known_optima(words, steps):
    result = cchybrid.solve(named(words), time_limit=120)
    assert (result.steps, result.lower_bound.steps) == (steps, steps)
    assert (result.status, result.certified) == ("optimal", True)
    assert verify_schedule(result.schedule) == ()
    read = Schedule.from_json(result.schedule.to_json())
    proof = cchybrid.prove(read, time_limit=20)
    assert proof.optimal
    assert cchybrid.check(read, proof.certificate).optimal


def test_one_step_is_impossible_on_a_dgx_1():
    result = cchybrid.solve("dgx-1", "allreduce", steps=1, time_limit=10)
    assert (result.status, result.schedule, result.certified) == ("infeasible", None, True)


@pytest.mark.parametrize("collective", ["allreduce", "scan"])
def test_what_is_not_available_is_refused(collective):
    for more in ({"evaluations": 5}, {"blind": True, "steps": 2}):
        with pytest.raises(InputError, match=f"{next(iter(more))}: not available for {collective}"):
            cchybrid.solve("ring-bi-4", collective, **more)


def test_bounds_where_steps_have_different_numbers_of_rounds():
    """Rounds of a reduction count from its last step, those of an allreduce from its first one."""
    arcs = [(0, 1), (0, 2), (1, 0), (1, 2), (1, 3), (2, 3), (3, 0)]
    network = Network("small", 4, tuple(Channel(*arc) for arc in arcs), half_duplex=((1, 0),))
    collective = Collective("allreduce", (AllReduction((1, 2, 3)),)).in_chunks(2)
    model = CommunicationModel(switching=HOPS, inject=1, accept=1, rounds=(1, 2))
    instance = Instance(network, collective, model)
    assert instance.part_to(1).model.rounds == (2,)
    assert instance.part_from(1).model.rounds == (1, 2)
    bounds = [[bound.steps for bound in bounds_of(info, instance)] for info in BOUNDS]
    assert all(each == sorted(set(each)) for each in bounds)
    assert max(map(max, filter(None, bounds))) >= 3


def test_an_initial_schedule_is_used():
    first = cchybrid.solve("ring-bi-4", "allreduce", time_limit=10).schedule
    again = cchybrid.solve("ring-bi-4", "allreduce", initial_schedule=first, time_limit=10)
    assert again.engine == "initial schedule"
    broken = Schedule(first.instance, first.steps[:1], sums=first.sums[:1])
    with pytest.raises(InputError, match="not valid for"):
        cchybrid.solve("ring-bi-4", "allreduce", initial_schedule=broken)


def test_a_log_repeats_the_run_with_its_sums():
    lines = []
    result = cchybrid.solve("dgx-1", "allreduce", time_limit=10, log=lines.append)
    again, _ = replay(json.loads(json.dumps(lines)))
    assert again.schedule == result.schedule
    assert (again.lower_bound, again.status) == (result.lower_bound, result.status)


def test_a_member_that_cannot_be_reached():
    network = cchybrid.network([(0, 1), (1, 2)])
    lines: list[object] = []
    instance = cchybrid.instance(network, "allreduce")
    result = cchybrid.solve(instance, log=lines.append)
    assert (result.status, result.certified, result.bound_by) == ("infeasible", True, "reach")
    again, _ = replay(json.loads(json.dumps(lines)))
    assert again.sentence == result.sentence
    # A log with evidence for another member does not hold.
    text = json.dumps(lines).replace('"part", "to": 0', '"part", "from": 0')
    assert text != json.dumps(lines)
    with pytest.raises(InputError, match="the destination can be reached"):
        replay(json.loads(text))


@pytest.mark.parametrize("topology", ["mesh-3x3", "dgx-1"])
def test_transfers_that_move_ahead_stay_valid(topology):
    """A reduction tree and a broadcast tree for every chunk, one transfer per step."""
    instance = cchybrid.instance(topology, "allreduce", chunks=4, switching=HOPS)
    steps = []
    for message in range(4):
        spread = cchybrid.instance(topology, "broadcast", root=message, switching=HOPS)
        tree = [
            transfer._replace(message=message)
            for step in cchybrid.solve(spread, time_limit=10).schedule.steps
            for transfer in step
        ]
        steps += [(move._replace(path=move.path[::-1]),) for move in reversed(tree)]
        steps += [(move,) for move in tree]
    slow = with_sums(instance, tuple(steps))
    assert verify_schedule(slow) == ()
    fast = moved_ahead(slow)
    assert verify_schedule(fast) == ()
    assert len(fast.steps) < len(slow.steps) / 4
    assert sum(map(len, fast.steps)) == len(slow.steps)


def cut_line(members: int) -> Instance:
    """Return two allreduces on a line whose last node, a member of the second, only receives."""
    nodes = members + 2
    network = Network.from_links("line", nodes, [(a, a + 1) for a in range(nodes - 2)])
    network = replace(network, channels=(*network.channels, Channel(nodes - 2, nodes - 1)))
    messages = AllReduction(tuple(range(members))), AllReduction((members, members + 1))
    return Instance(network, Collective("allreduce", messages))


@pytest.mark.parametrize(("members", "switching"), [(4, HOPS), (70, "wormhole")])
def test_a_member_out_of_reach_is_infeasible(members, switching):
    # Of more than 64 members, the parts of some are not bounded.
    instance = cut_line(members).with_model(switching=switching)
    ends = f"node {members} cannot be reached from node {members + 1} (message 1)"
    words = f"{ends}: no path leads there"
    for search in (cchybrid.solve, cchybrid.bound):
        result = search(instance, time_limit=5)
        assert result.sentence == f"{instance.name}: infeasible (certified): {words}"
        proves_infeasible(instance.to_json(), result.lower_bound.evidence)
    assert explain(instance, infeasibility(instance)).words(instance.network) == words


@pytest.mark.slow
def test_a_bound_that_lies_is_a_trouble_of_the_run(monkeypatch):
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.lying_bounds,tests.deadly_bounds")
    registry = load_registry()
    for name in ("boaster", "broken", "deadly", "text"):
        registry.bounds[name] = replace(registry.bounds[name], effort="medium")
    result = cchybrid.bound("ring-bi-4", "allreduce", time_limit=20, registry=registry)
    assert result.lower_bound.steps == 2
    assert sorted(result.troubles) == [
        "bound boaster: gave evidence for 1 steps, not for 99",
        "bound provider broken: bound broken failed: "
        "ZeroDivisionError: integer division or modulo by zero",
        "bound provider deadly: crashed (exit 3)",
        "bound provider text: bound text failed: "
        "AttributeError: 'str' object has no attribute 'evidence'",
    ]
