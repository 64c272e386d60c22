"""Bounds as pictures and sentences: what they count exists, and the numbers are right."""

import pytest
from cchybrid_plugins.drawing.bound_picture import BoundPicture, bound_picture, bound_sentence
from hypothesis import given, settings

import cchybrid
from cchybrid.model import Instance, LowerBound
from cchybrid.model.errors import InputError
from cchybrid.proof import BOUNDS
from cchybrid.proof.records import load_target
from tests.checker.certified import CASES, certified
from tests.examples import examples
from tests.random_instances import instances

ENTRIES = [[1, 0, 1], [4, 3, 1], [7, 6, 1]]
"""Channels into the first column of a mesh of three by three nodes, at a price of 1."""


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
    # Six nodes send to three: 18 messages over 3 channels.
    evidence: dict[str, object] = {"kind": "linear", "steps": 6, "channels": ENTRIES}
    picture = picture_of(cchybrid.instance("mesh-3x3", "AAS"), 6, evidence)
    assert picture.sentence == (
        "At the prices of these channels and ports, 5 steps offer 15, and all messages together "
        "pay at least 18: at least 6 steps."
    )
    assert picture.channels == {(1, 0): 1.0, (4, 3): 1.0, (7, 6): 1.0}
    assert not picture.inside


def test_names_are_written_as_they_are() -> None:
    line = cchybrid.Network.from_links("line", 3, [(0, 1), (1, 2)], node_names=("x_y", "ada", "z"))
    instance = cchybrid.instance(line, "OAB", root=0, switching="store-and-forward")
    picture = picture_of(instance, 2, spread([2], 2))
    assert picture.sentence == (
        "The message of node x_y cannot be at all its destinations after 1 step: at least 2 steps."
    )


@pytest.mark.parametrize("half", [False, True])
def test_a_price_of_a_half_duplex_link_is_one_of_both_channels(half: bool) -> None:
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    channels = tuple(cchybrid.Channel(a, b, 2 if {a, b} == {1, 2} else 1) for a, b in arcs)
    line = cchybrid.Network("line", 4, channels, half_duplex=((1, 2),) if half else ())
    steps = 4 if half else 2
    evidence: dict[str, object] = {"kind": "linear", "steps": steps, "channels": [[1, 2, 3]]}
    picture = picture_of(cchybrid.instance(line, "AAS"), steps, evidence)
    # Four messages take the link in each direction; it carries two per step, and costs 3.
    assert picture.sentence == (
        "At the prices of these channels and ports, 3 steps offer 18, and all messages together "
        "pay at least 24: at least 4 steps."
        if half
        else "At the prices of these channels and ports, 1 step offers 6, and all messages "
        "together pay at least 12: at least 2 steps."
    )
    assert picture.channels == ({(1, 2): 1.0, (2, 1): 1.0} if half else {(1, 2): 1.0})


def test_a_cut_over_ports() -> None:
    instance = cchybrid.instance("ring-bi-5", "AAS", ports=1)
    picture = picture_of(instance, 4, {"kind": "linear", "steps": 4, "accept": [[2, 1]]})
    assert picture.sentence == (
        "At the prices of these channels and ports, 3 steps offer 3, and all messages together "
        "pay at least 4 (priced ports at the marked nodes): at least 4 steps."
    )
    assert picture.inside == {2}
    assert not picture.channels


def test_a_cut_of_a_reduction_shows_the_channels_in_their_own_direction() -> None:
    instance = cchybrid.instance("ring-uni-4", "AAR")
    picture = picture_of(instance, 3, {"kind": "linear", "steps": 3, "channels": [[1, 0, 1]]})
    assert picture.sentence == (
        "In reverse, as a broadcast, at the prices of these channels and ports, 2 steps offer 2, "
        "and all messages together pay at least 3: at least 3 steps."
    )
    assert picture.channels == {(0, 1): 1.0}


def test_prices_of_some_steps_have_the_weight_of_these_steps() -> None:
    instance = cchybrid.instance("dgx-2", "AAB", switching="store-and-forward")
    # Every message goes through the switch, node 16; none enters node 0 in the first step.
    evidence: dict[str, object] = {
        "kind": "linear", "steps": 16, "channels": [[16, 0, 2, 15, 1]],
    }  # fmt: skip
    picture = picture_of(instance, 16, evidence)
    assert picture.sentence == (
        "At the prices of these channels and ports, 15 steps offer 14, and all messages together "
        "pay at least 15: at least 16 steps."
    )
    assert picture.channels == {(16, 0): 1.0}
    # In 13 steps one channel has a price in 12 steps, the other in 2.
    rows = [[16, 0, 2, 13, 1], [16, 1, 5, 5, 1], [16, 1, 8, 8, 1]]
    picture = picture_of(instance, 14, {"kind": "linear", "steps": 14, "channels": rows})
    assert "13 steps offer 14," in picture.sentence
    assert picture.channels == pytest.approx({(16, 0): 1.0, (16, 1): 2 / 12})


def test_evidence_that_proves_more_is_read_as_it_is() -> None:
    """Prices may be for steps after those of a lower bound that says less than its evidence."""
    instance = cchybrid.instance("dgx-2", "AAB", switching="store-and-forward")
    evidence = {"kind": "linear", "steps": 16, "channels": [[16, 0, 2, 15, 1]]}
    assert bound_sentence(instance, LowerBound(3, evidence)) == (
        "At the prices of these channels and ports, 15 steps offer 14, and all messages together "
        "pay at least 15: at least 16 steps."
    )


def test_a_cut_where_late_entries_count_in_part() -> None:
    index = [case.topology for case in CASES].index("random-regular-12-3-1")
    record, found = certified(index)
    instance = Instance.from_json(record["instance"])
    picture = picture_of(instance, 5, found["evidence"])
    offered = 0
    for *_, first, last, price in found["evidence"]["channels"]:
        offered += price * (last - first + 1)
    assert {channel.capacity for channel in instance.network.channels} == {1}
    assert f", 4 steps offer {offered}, " in picture.sentence
    assert {(row[0], row[1]) for row in found["evidence"]["channels"]} == {*picture.channels}


def spread(goals: list[int], steps: int) -> dict[str, object]:
    """Return evidence that message 0 is not at these nodes in fewer steps."""
    group = {"messages": [0], "worth": [[node, 1] for node in goals]}
    return {"kind": "linear", "steps": steps, "groups": [group]}


def test_the_spread_of_a_message_shows_hops_where_they_decide() -> None:
    picture = picture_of(cchybrid.instance("hypercube-8", "OAB"), 2, spread([*range(1, 8)], 2))
    assert picture.sentence == (
        "The message of node 0 cannot be at all its destinations after 1 step: at least 2 steps."
    )
    assert picture.inside == {0}
    stored = cchybrid.instance("hypercube-8", "OAB", switching="store-and-forward")
    layers = ((0,), (1, 2, 4), (3, 5, 6), (7,))
    assert picture_of(stored, 3, spread([7], 3)).layers == layers


def test_a_destination_out_of_reach_within_the_steps_is_shown_by_hops() -> None:
    stored = cchybrid.instance("hypercube-8", "OAB", switching="store-and-forward")
    picture = picture_of(stored, 3, {"kind": "linear", "steps": 3})
    assert picture.sentence == (
        "A destination of the message of node 0 cannot be reached within 2 steps: at least 3 steps."
    )
    assert picture.layers == ((0,), (1, 2, 4), (3, 5, 6), (7,))


def test_priced_ports_are_marked_beside_priced_channels() -> None:
    instance = cchybrid.instance("ring-bi-5", "AAS")
    channels = [[a, b, 1] for a, b in instance.network.channel_index]
    # From every node two destinations are one hop away and two are two hops away: 30 hops.
    prices: dict[str, object] = {"kind": "linear", "steps": 3, "channels": channels}
    picture = picture_of(instance, 3, prices)
    assert "2 steps offer 20, and all messages together pay at least 30:" in picture.sentence
    assert set(picture.channels.values()) == {1.0}
    picture = picture_of(instance, 3, {**prices, "inject": [[0, 1]]})
    # Its four messages pay for the port of node 0, which sends two per step.
    assert "2 steps offer 24, and all messages together pay at least 34 " in picture.sentence
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
        (7, {"kind": "linear", "steps": 6, "channels": ENTRIES}, "shows 6 steps, not 7"),
        (7, {"kind": "linear", "steps": 7, "channels": ENTRIES}, "do not rule out 6 steps"),
        (1, {"kind": "linear", "steps": 1, "accept": [[99, 1]]}, "something that is not there"),
        (6, {"kind": "cut", "nodes": [0, 3, 6]}, "called 'cut'; make it anew: cchybrid prove"),
        (1, {"kind": "sorcery"}, "no kind of evidence"),
    ],
)
def test_evidence_that_proves_less_is_refused(
    steps: int, evidence: dict[str, object], text: str
) -> None:
    with pytest.raises(InputError, match=text):
        bound_picture(cchybrid.instance("mesh-3x3", "AAS"), LowerBound(steps, evidence))
