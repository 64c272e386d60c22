"""Cuts over time: never above the optimum, and the rows that they close."""

from collections.abc import Iterable
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import Network as CheckerNetwork
from cchybrid.checker import proven_steps
from cchybrid.model import (
    Channel,
    Collective,
    CommunicationModel,
    Instance,
    Message,
    Network,
    Reduction,
)
from cchybrid.proof.cut import best_cuts, cut_bounds
from cchybrid.proof.cut_over_time import TimedCrossing, cut_over_time_bounds
from cchybrid.proof.cut_prices import Crossing
from cchybrid.proof.entries import Need
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.proof.test_nested_sets import near_trees
from tests.random_instances import list_schedule, models, networks, valid_schedules

HOP_BY_HOP = {"switching": "store-and-forward"}


def over_time(instance: Instance, nodes: Iterable[int]) -> int:
    """Return the most steps that evidence of one set shows, which the checker accepts."""
    network = CheckerNetwork(instance.forward.to_json())
    hops = [network.hops(node) for node in range(network.nodes)]
    best = 0
    for kind in ("channels", "inject", "accept"):
        for evidence in TimedCrossing(network, {*nodes}, kind, hops).over_time(best):
            best = evidence["steps"]
            assert proven_steps(instance.to_json(), evidence) == best
    return best


def cut(instance: Instance, nodes: set[int]) -> int:
    """Return the most steps that a cut shows without distances."""
    inside = np.array([node in nodes for node in range(instance.network.nodes)])
    return max(bound.steps for bound in best_cuts(instance, [inside]))


def check_all_sets(instance: Instance, fewest: int) -> None:
    """Assert that no set of nodes proves more than the optimum."""
    everyone = range(instance.network.nodes)
    for inside in chain.from_iterable(combinations(everyone, k) for k in everyone if k):
        assert over_time(instance, inside) <= fewest, inside
    for bound in cut_over_time_bounds(instance.forward):
        assert bound.steps <= fewest


@settings(max_examples=examples(80))
@given(valid_schedules(max_nodes=6, max_messages=5, switchings=("store-and-forward",)))
def test_no_set_proves_more_than_the_optimum(schedule):
    instance = schedule.instance
    check_all_sets(instance, fewest_steps(instance, len(schedule.steps)))


@settings(max_examples=examples(80))
@given(st.one_of(networks(max_nodes=5), near_trees(max_nodes=7)), st.data())
def test_no_set_proves_more_than_the_optimum_of_several_broadcasts(network, data):
    nodes = network.nodes
    sources = data.draw(st.lists(st.integers(0, nodes - 1), min_size=2, max_size=4))
    model = data.draw(models(nodes, switchings=("store-and-forward",)))
    kind = data.draw(st.sampled_from(("all", "some", "combine")))
    messages: list[Message | Reduction] = []
    for source in sources:
        others = [v for v in range(nodes) if v != source]
        if kind == "some":
            others = data.draw(st.lists(st.sampled_from(others), min_size=1, unique=True))
        ends = tuple(others)
        messages.append(Reduction(ends, source) if kind == "combine" else Message(source, ends))
    instance = Instance(network, Collective("several", tuple(messages)), model)
    check_all_sets(instance, fewest_steps(instance, len(list_schedule(instance, 0))))


def path(nodes: int, *messages: Message) -> Instance:
    network = Network.from_links("path", nodes, [(v, v + 1) for v in range(nodes - 1)])
    return Instance(network, Collective("by hand", messages), CommunicationModel(**HOP_BY_HOP))


def test_messages_from_afar_do_not_enter_in_the_first_steps() -> None:
    far = [Message(0, (5,))] * 3
    assert over_time(path(6, *far), [5]) == 7  # the first in step 5, then one per step
    assert over_time(path(6, *far), [4, 5]) == 7  # in steps 4, 5, 6; one more hop inside
    # Two that are near fill two of these steps, without more steps in all.
    assert over_time(path(6, *far, Message(4, (5,)), Message(4, (5,))), [5]) == 7
    assert over_time(path(6, *far, *[Message(4, (5,))] * 5), [5]) == 8


def test_ports_limit_senders_and_receivers() -> None:
    """Two channels enter from node 0, which has one port; then both nodes inside accept one."""
    arcs = [(3, 0), (0, 1), (0, 2), (1, 2), (2, 1)]
    wide = Network("wide", 4, tuple(Channel(a, b, 4) for a, b in arcs))
    messages = tuple(Message(3, (goal,)) for goal in (1, 1, 2, 2))
    instance = Instance(wide, Collective("by hand", messages), CommunicationModel(**HOP_BY_HOP))
    assert over_time(instance, [1, 2]) == 2
    assert over_time(instance.with_model(inject=(4, 4, 4, 4), accept=(1,) * 4), [1, 2]) == 3
    assert over_time(instance.with_model(inject=(1, 4, 4, 4), accept=(4,) * 4), [1, 2]) == 5


def test_a_message_that_enters_last_goes_to_the_end() -> None:
    """Along a path, growth would allow three nodes after a step and five after two."""
    instance = path(7, *[Message(0, tuple(range(1, 7)))] * 4)
    assert cut(instance, {1, 2, 3, 4, 5, 6}) < 9
    assert over_time(instance, range(1, 7)) == 9
    assert fewest_steps(instance, len(list_schedule(instance, 0))) == 9


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("ndv2-x2 AAB", [10, 10]),
        ("dgx-2 AAB", [15, 16]),
        ("dgx-2 AAS", [15, 16]),
        ("mi250-16 AAB", [3, 5]),
    ],
)
def test_machines_of_today(name: str, steps: list[int]) -> None:
    """The best cut without distances, and over time."""
    instance = cchybrid.instance(*name.split(), **HOP_BY_HOP)
    found = cut_bounds(instance), cut_over_time_bounds(instance)
    assert [max(bound.steps for bound in bounds) for bounds in found] == steps


def test_a_cut_that_no_message_can_cross() -> None:
    """The one channel leads out of the part with the destinations; no number of steps is enough."""
    channels = [(0, 2, 2), (0, 1, 1), (1, 0, 1), (0, 3, 1), (3, 0, 1), (2, 4, 1)]
    instance = Instance(
        Network("one-way", 5, tuple(Channel(*each) for each in channels)),
        Collective("two", (Message(2, (0, 1, 3)), Message(4, (0, 1, 3)))),
        CommunicationModel(**HOP_BY_HOP),
    )
    crossing = Crossing(CheckerNetwork(instance.to_json()), {0, 1, 3}, "channels", both=True)
    assert [piece["steps"] for piece in crossing.evidence(Need(3, 3, 2))] == [1]


def test_large_networks_are_spared_cuts_below_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    broadcast = cchybrid.instance("hypercube-8", "OAB", ports=1)
    gossip = cchybrid.instance("hypercube-8", "AAB", ports=1)
    assert [bound.steps for bound in cut_bounds(broadcast)]
    best = max(bound.steps for bound in cut_bounds(gossip))
    monkeypatch.setattr("cchybrid.proof.cut.MAX_CHECKED", 0)
    assert not list(cut_bounds(broadcast))
    assert max(bound.steps for bound in cut_bounds(gossip)) == best == 7
    monkeypatch.setattr("cchybrid.proof.cut.MAX_FEW_MESSAGES", 0)
    assert [bound.steps for bound in cut_bounds(broadcast)]
