"""Every rule of the referee by hand: a small valid schedule, one mistake, exactly its violation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cchybrid.model import Channel, Instance, Network, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.referee import distances
from cchybrid.referee.verify import RULES, Violation, refuse_invalid, verify, verify_schedule
from tests.broken_schedules import (
    BROADCAST,
    MISTAKES,
    REDUCE,
    REDUCE_STEPS,
    SCATTER,
    SCATTER_STEPS,
    VALID,
    changed,
    deliver,
    steps_of,
)


@pytest.mark.parametrize("name", VALID)
def test_valid(name):
    instance, raw = VALID[name]
    assert verify(instance, steps_of(raw)) == ()
    assert verify_schedule(Schedule(instance, steps_of(raw))) == ()


def rules_of(violations: tuple[Violation, ...]) -> list[tuple]:
    return [(v.rule, v.step, v.transfer, v.message, v.place) for v in violations]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_mistake_gives_exactly_its_violations(mistake):
    name, changes, expected = MISTAKES[mistake]
    instance, raw = VALID[name]
    violations = verify(instance, changed(raw, changes))
    assert rules_of(violations) == expected
    for violation in violations:
        if violation.transfer >= 0:
            place = f"step {violation.step + 1}, transfer {violation.transfer + 1}: "
            assert violation.text.startswith(place)


def test_every_rule_has_a_mistake_of_its_own():
    named = {rule for _, _, expected in MISTAKES.values() for rule, *_ in expected}
    assert named == set(RULES) - {"no-such-part", "counted-twice"}  # see test_contributions


@pytest.mark.parametrize(
    ("message", "path", "kind"), [(0.5, (0, 1), "float"), (0, (0, 1.9), "float"), (0, "01", "str")]
)
def test_numbers_that_are_not_whole_are_refused_and_not_cut_off(message, path, kind):
    instance = Instance(Network("pair", 2, (Channel(0, 1),)), deliver((0, (1,))))
    assert verify(instance, ((Transfer(0, (0, 1)),),)) == ()
    with pytest.raises(InputError, match=f"steps: a value of the type {kind}; messages and nodes"):
        verify(instance, ((Transfer(message, path),),))


def test_no_steps_at_all():
    found = rules_of(verify(SCATTER, ()))
    assert found == [("missing-destination", -1, -1, m, f"node {m + 2}") for m in range(3)]


def test_steps_of_a_reduction_in_the_wrong_order():
    found = rules_of(verify(REDUCE, steps_of(REDUCE_STEPS[::-1])))
    assert found == [("not-informed", 1, 0, 0, "node 1"), ("not-informed", 1, 1, 0, "node 4")]


def test_paths_of_a_reduction_in_the_wrong_direction():
    turned = [[(m, path[::-1]) for m, path in step] for step in REDUCE_STEPS]
    rules = {violation.rule for violation in verify(REDUCE, steps_of(turned))}
    assert "received-twice" in rules  # node 0, the destination, sends


@pytest.mark.parametrize(
    ("routing", "valid"), [("minimal", False), (0, False), (1, True), (2**80, True), ("any", True)]
)
def test_routing_decides_about_a_detour(routing, valid):
    steps = changed(SCATTER_STEPS, {(1, 0): (1, (1, 0, 4, 3))})
    found = verify(SCATTER.with_model(routing=routing), steps)
    assert [v.rule for v in found] == ([] if valid else ["path-too-long"])


def test_distance_does_not_lead_through_endpoints():
    """Over terminal 5 it would be two hops from 1 to 3, so three over two switches are minimal."""
    network = Network.from_links(
        "bypass", 6, [(1, 0), (0, 2), (2, 3), (5, 1), (5, 3)], endpoints=(5,)
    )
    instance = Instance(network, deliver((1, (3,))))
    assert verify(instance, steps_of([[(0, (1, 0, 2, 3))]])) == ()
    freed = replace(instance, network=replace(network, endpoints=()))
    assert [v.rule for v in verify(freed, steps_of([[(0, (1, 0, 2, 3))]]))] == ["path-too-long"]


def test_limits_beyond_64_bits():
    record = SCATTER.to_json()
    record["network"]["channels"] = [[a, b, 2**70] for a, b in record["network"]["channels"]]
    record["model"] = {"switching": "wormhole", "ports": 2**70, "routing": 2**70}
    instance = Instance.from_json(record)
    together = [[transfer for step in SCATTER_STEPS for transfer in step]]
    assert verify(instance, steps_of(together)) == ()


def test_node_without_ports_receives_nothing():
    instance = SCATTER.with_model(inject=(1,) * 5, accept=(1, 1, 0, 1, 1))
    found = rules_of(verify(instance, steps_of(SCATTER_STEPS)))
    assert found == [("accept-overload", 0, 0, 0, "node 2")]


def test_a_hundred_thousand_violations_are_all_returned():
    steps = (tuple(Transfer(0, (0, 3)) for _ in range(50_000)),)
    found = verify(BROADCAST, steps)
    assert sum(v.rule == "no-such-channel" for v in found) == 50_000
    assert sum(v.rule == "received-twice" for v in found) == 49_999


def test_an_invalid_schedule_is_refused_with_its_first_violation():
    instance, raw = VALID["broadcast"]
    refuse_invalid(Schedule(instance, steps_of(raw)))
    short = Schedule(instance, steps_of(raw[:1]))
    first = verify_schedule(short)[0]
    for where, shown in (((), instance.name), (("",), instance.name), (("a.json",), "a.json")):
        with pytest.raises(InputError) as caught:
            refuse_invalid(short, *where)
        assert str(caught.value) == (
            f"{shown}: not a valid schedule: {first.text}; see: cchybrid verify"
        )


@pytest.mark.parametrize("extra", [0, 1, 2])
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_detour_of_one_hop_too_many_is_reported(extra, hops):
    """In a complete network one hop is the shortest path; ``extra`` more are allowed."""
    everyone = Network.from_links("all", 4, [(a, b) for a in range(4) for b in range(a)])
    model = replace(SCATTER.model, routing=extra)
    path = (0, 2, 3, 1) if hops == 3 else (0, 2, 1) if hops == 2 else (0, 1)
    instance = Instance(everyone, deliver((0, (1,))), model)
    found = rules_of(verify(instance, ((Transfer(0, path),),)))
    late = [("path-too-long", 0, 0, 0, "path 0->1")]
    assert found == (late if hops > 1 + extra else [])
    for violation in verify(instance, ((Transfer(0, path),),)):
        assert violation.text.endswith(f"has {hops} hops, the routing allows {1 + extra}")


def test_detours_from_more_nodes_than_are_searched_at_a_time(monkeypatch):
    """Distances come in blocks of sources; every block has the detours of its own sources."""
    network = Network.from_links("ring", 12, [(v, (v + 1) % 12) for v in range(12)])
    instance = Instance(network, deliver(*((v, ((v + 1) % 12,)) for v in range(12))))
    around = (tuple(Transfer(v, tuple((v - k) % 12 for k in range(12))) for v in range(12)),)
    whole = verify(instance, around)
    assert [v.place for v in whole if v.rule == "path-too-long"] == [
        f"path {v}->{(v + 1) % 12}" for v in range(12)
    ]
    monkeypatch.setattr(distances, "_BLOCK_CELLS", 24 * 5)
    assert verify(instance, around) == whole


def test_detours_of_different_length_from_one_node():
    """The search around the node must reach as far as the longest of them needs."""
    links = [(v, (v + 1) % 8) for v in range(8)] + [(0, 8), (8, 1)]
    network = Network.from_links("ring and triangle", 9, links)
    instance = Instance(network, deliver((0, (1,)), (0, (3,))))
    steps = ((Transfer(0, (0, 8, 1)), Transfer(1, (0, 7, 6, 5, 4, 3))),)
    for order in (steps, (steps[0][::-1],)):
        assert {(v.rule, v.message) for v in verify(instance, order)} == {
            ("path-too-long", 0), ("path-too-long", 1),
        }  # fmt: skip
