"""Bounds as pictures and sentences: what they count exists, and the numbers are right."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.model import Instance, LowerBound
from cchybrid.model.errors import InputError
from cchybrid.proof import BOUNDS
from cchybrid.proof.records import load_target
from cchybrid.view.drawing.bound_picture import BoundPicture, bound_picture, bound_sentence
from tests.checker.certified import CASES, certified
from tests.examples import examples
from tests.random_instances import instances


def picture_of(instance: Instance, steps: int, evidence: dict[str, object]) -> BoundPicture:
    found = bound_picture(instance, LowerBound(steps, evidence))
    assert found is not None
    return found


def check(instance: Instance, picture: BoundPicture) -> None:
    network = instance.network
    assert set(picture.channels) <= set(network.channel_index)
    assert all(0 < weight <= 1 for weight in picture.channels.values())
    assert picture.inside <= set(range(network.nodes))
    shown = [node for layer in picture.layers for node in layer]
    assert len(shown) == len(set(shown))
    word = "step" if picture.steps == 1 else "steps"
    assert picture.sentence.endswith(f": at least {picture.steps} {word}.")
    assert picture.sentence[0] == picture.sentence[0].upper()


@pytest.mark.parametrize("case_index", range(len(CASES)), ids=lambda index: CASES[index].kind)
def test_every_kind_of_evidence(case_index: int) -> None:
    case = CASES[case_index]
    record, found = certified(case_index)
    instance = Instance.from_json(record["instance"])
    bound = LowerBound(case.steps, found["evidence"])
    assert bound_sentence(instance, bound).endswith(f": at least {case.steps} steps.")
    if case.kind == "refutation":
        assert bound_picture(instance, bound) is None
    else:
        check(instance, picture_of(instance, case.steps, found["evidence"]))


@settings(max_examples=examples(40), deadline=None)
@given(instances())
def test_bounds_of_random_instances(instance: Instance) -> None:
    for info in BOUNDS:
        for bound in load_target(info.target)(instance.forward):
            picture = bound_picture(instance, bound)
            if picture is not None:
                check(instance, picture)


def test_a_cut_over_channels() -> None:
    instance = cchybrid.instance("mesh-3x3", "AAS")
    picture = picture_of(instance, 6, {"kind": "cut", "nodes": [0, 3, 6]})
    assert picture.sentence == (
        "These 3 nodes (0, 3 and 6) receive 18 messages over 3 channels: at least 6 steps."
    )
    assert picture.channels == {(1, 0): 1.0, (4, 3): 1.0, (7, 6): 1.0}


def test_names_are_written_as_they_are() -> None:
    pair = cchybrid.Network.from_links("pair", 2, [(0, 1)], node_names=("x_y", "ada"))
    picture = picture_of(cchybrid.instance(pair, "AAB"), 1, {"kind": "cut", "nodes": [0]})
    assert picture.sentence == "Node x_y receives 1 message over 1 channel: at least 1 step."


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("price", [1, "3/7"])
def test_a_price_of_one_link_is_said_as_such(half: bool, price: int | str) -> None:
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    channels = tuple(cchybrid.Channel(a, b, 2 if {a, b} == {1, 2} else 1) for a, b in arcs)
    line = cchybrid.Network("line", 4, channels, half_duplex=((1, 2),) if half else ())
    prices = [[1, 2, price], [2, 1, price]] if half else [[1, 2, price]]
    evidence: dict[str, object] = {"kind": "prices", "channels": prices}
    picture = picture_of(cchybrid.instance(line, "AAS"), 4 if half else 2, evidence)
    assert picture.sentence == (
        "8 deliveries have no allowed route without the half-duplex link between node 1 and "
        "node 2, which carries 2 per step: at least 4 steps."
        if half
        else "4 deliveries have no allowed route without the channel from node 1 to node 2, "
        "which carries 2 per step: at least 2 steps."
    )


def test_a_cut_over_ports() -> None:
    instance = cchybrid.instance("ring-bi-5", "AAS", ports=1)
    picture = picture_of(instance, 4, {"kind": "cut", "nodes": [2]})
    assert picture.sentence == (
        "4 messages enter node 2, and the set accepts 1 per step: at least 4 steps."
    )
    assert picture.inside == {2}
    assert not picture.channels


def test_a_cut_of_a_reduction_shows_the_channels_in_their_own_direction() -> None:
    instance = cchybrid.instance("ring-uni-4", "AAR")
    picture = picture_of(instance, 3, {"kind": "cut", "nodes": [0]})
    assert picture.sentence.startswith("Node 0 sends out 3 messages over 1 channel")
    (channel,) = picture.channels
    assert channel[0] == 0


def test_a_cut_over_time_names_the_first_and_the_last_steps() -> None:
    instance = cchybrid.instance("dgx-2", "AAB", switching="store-and-forward")
    evidence = {"kind": "cut-over-time", "nodes": [0]}
    name = instance.network.node_name(0) if instance.network.node_names else "node 0"
    picture = picture_of(instance, 16, evidence)
    assert picture.sentence == (
        f"{name[0].upper()}{name[1:]} receives 15 messages over 1 channel; "
        "none can enter before step 2: at least 16 steps."
    )
    assert picture.channels == {(16, 0): 1.0}
    chain = cchybrid.instance("mesh-1x6", "OAB", root=0, switching="store-and-forward")
    picture = picture_of(chain, 5, {"kind": "cut-over-time", "nodes": [2, 3, 4, 5]})
    assert picture.sentence == (
        "These 4 nodes (2, 3, 4 and 5) receive 1 message over 1 channel; none can enter before "
        "step 2; the last one has to go 3 hops inside: at least 5 steps."
    )


def test_a_cut_where_late_entries_count_in_part() -> None:
    index = [case.topology for case in CASES].index("random-regular-12-3-1")
    record, found = certified(index)
    picture = picture_of(Instance.from_json(record["instance"]), 5, found["evidence"])
    assert (
        "; what enters late has to spread inside, which takes further steps: " in picture.sentence
    )


def test_growth_counts_nodes_and_shows_hops_where_they_decide() -> None:
    growth = {"kind": "growth", "message": 0}
    picture = picture_of(cchybrid.instance("hypercube-8", "OAB"), 2, growth)
    assert picture.sentence == (
        "The message of node 0 is at 1, 4, 8 nodes at most after 0, 1, 2, ... steps, "
        "and has to be at 8: at least 2 steps."
    )
    assert picture.inside == {0}
    stored = cchybrid.instance("hypercube-8", "OAB", switching="store-and-forward")
    picture = picture_of(stored, 3, growth)
    assert picture.layers == ((0,), (1, 2, 4), (3, 5, 6), (7,))


def test_prices_say_how_often_a_step_pays() -> None:
    instance = cchybrid.instance("ring-bi-5", "AAS")
    prices = {"kind": "prices", "channels": [[a, b, 1] for a, b in instance.network.channel_index]}
    picture = picture_of(instance, 3, prices)
    assert "together cost 3 times as much as all that a step offers" in picture.sentence
    assert set(picture.channels.values()) == {1.0}
    prices["inject"] = [[0, 1]]
    picture = picture_of(instance, 3, prices)
    assert "(priced ports at the marked nodes)" in picture.sentence
    assert picture.inside == {0}


def test_bounds_without_evidence_have_a_sentence_and_no_picture() -> None:
    instance = cchybrid.instance("ring-bi-5", "AAS")
    assert bound_picture(instance, LowerBound(1)) is None
    assert bound_sentence(instance, LowerBound(1)) == "There is something to send: at least 1 step."
    assert bound_sentence(instance, LowerBound(0)) == "There is nothing to send."
    assert "claimed without evidence" in bound_sentence(instance, LowerBound(3))


@pytest.mark.parametrize(
    ("steps", "evidence", "text"),
    [
        (7, {"kind": "cut", "nodes": [0, 3, 6]}, "shows 6 steps, not 7"),
        (1, {"kind": "cut", "nodes": [99]}, "does not hold: a node that the network does not have"),
        (1, {"kind": "sorcery"}, "no kind of evidence"),
    ],
)
def test_evidence_that_proves_less_is_refused(
    steps: int, evidence: dict[str, object], text: str
) -> None:
    with pytest.raises(InputError, match=text):
        bound_picture(cchybrid.instance("mesh-3x3", "AAS"), LowerBound(steps, evidence))
