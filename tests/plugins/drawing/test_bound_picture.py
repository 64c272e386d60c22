"""Bounds as pictures and sentences: what they count exists, and the numbers are right."""

import pytest
from cchybrid_plugins.drawing.bound_picture import BoundPicture, bound_picture, bound_sentence
from hypothesis import given, settings

import cchybrid
from cchybrid.model import Channel, Instance, LowerBound, Network
from cchybrid.model.errors import InputError
from cchybrid.proof import BOUNDS
from cchybrid.proof.records import load_target
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


@pytest.mark.parametrize(
    "case_index",
    # Of each kind of evidence the first case.
    [n for n, case in enumerate(CASES) if case.kind not in {each.kind for each in CASES[:n]}],
    ids=lambda index: CASES[index].kind,
)
def test_every_kind_of_evidence(case_index):
    case = CASES[case_index]
    record, found = certified(case_index)
    instance = Instance.from_json(record["instance"])
    bound = LowerBound(case.steps, found["evidence"])
    assert f"at least {case.steps} steps" in bound_sentence(instance, bound)
    if case.kind == "refutation":
        assert bound_picture(instance, bound) is None
    else:
        check(instance, picture_of(instance, case.steps, found["evidence"]))


@settings(max_examples=examples(40), deadline=None)
@given(instances())
def test_bounds_of_random_instances(instance):
    for info in BOUNDS:
        for bound in load_target(info.target)(instance.forward):
            picture = bound_picture(instance, bound)
            if picture is not None:
                check(instance, picture)


def line(half: bool) -> Network:
    """Return a line of four nodes, whose middle link has a capacity of 2 in each direction."""
    arcs = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    channels = tuple(Channel(a, b, 2 if {a, b} == {1, 2} else 1) for a, b in arcs)
    return Network("line", 4, channels, half_duplex=((1, 2),) if half else ())


ENTRIES = [[1, 0, 1], [4, 3, 1], [7, 6, 1]]
"""Channels into the first column of a mesh of three by three nodes, at a price of 1."""
AROUND = [[a, (a + b) % 5, 1] for a in range(5) for b in (1, 4)]
"""All channels of a ring of five nodes: from every node two others are two hops away."""


@pytest.mark.parametrize(
    ("network", "collective", "more", "steps", "evidence", "numbers", "channels", "inside"),
    [
        # Six nodes send to three: 18 messages over 3 channels.
        ("mesh-3x3", "AAS", {}, 6, {"channels": ENTRIES}, (18, 15), {(1, 0), (4, 3), (7, 6)}, ()),
        ("ring-bi-5", "AAS", {"ports": 1}, 4, {"accept": [[2, 1]]}, (4, 3), (), {2}),
        # The four messages of node 0 pay for its port, too, which sends two per step.
        ("ring-bi-5", "AAS", {}, 3, {"channels": AROUND, "inject": [[0, 1]]}, (34, 24),
         {(a, b) for a, b, _ in AROUND}, {0}),
        # Four messages take the link in each direction; it carries two per step, and costs 3.
        (line(half=False), "AAS", {}, 2, {"channels": [[1, 2, 3]]}, (12, 6), {(1, 2)}, ()),
        (line(half=True), "AAS", {}, 4, {"channels": [[1, 2, 3]]}, (24, 18), {(1, 2), (2, 1)}, ()),
        # A reduction is drawn in its own direction.
        ("ring-uni-4", "AAR", {}, 3, {"channels": [[1, 0, 1]]}, (3, 2), {(0, 1)}, ()),
        # Every message goes through the switch, node 16; none enters node 0 in the first step.
        ("dgx-2", "AAB", {"switching": "store-and-forward"}, 16,
         {"channels": [[16, 0, 2, 15, 1]]}, (15, 14), {(16, 0)}, ()),
    ],
)  # fmt: skip
def test_prices_are_drawn_where_they_are(
    network, collective, more, steps, evidence, numbers, channels, inside
):
    instance = cchybrid.instance(network, collective, **more)
    picture = picture_of(instance, steps, {"kind": "linear", "steps": steps, **evidence})
    assert picture.sentence.endswith(
        f"Together that is {numbers[0]}, more than {numbers[1]}: at least {steps} steps are needed."
    )
    assert picture.sentence.startswith("Read backwards") == (collective == "AAR")
    assert picture.channels == dict.fromkeys(channels, 1.0)
    assert picture.inside == set(inside)


def test_prices_of_some_steps_have_the_weight_of_these_steps():
    instance = cchybrid.instance("dgx-2", "AAB", switching="store-and-forward")
    # In 13 steps one channel has a price in 12 steps, the other in 2.
    rows = [[16, 0, 2, 13, 1], [16, 1, 5, 5, 1], [16, 1, 8, 8, 1]]
    evidence: dict[str, object] = {"kind": "linear", "steps": 14, "channels": rows}
    picture = picture_of(instance, 14, evidence)
    assert picture.channels == pytest.approx({(16, 0): 1.0, (16, 1): 2 / 12})
    # Of a bound that says less, too, the evidence is read as it is.
    assert picture_of(instance, 3, evidence) == picture


LAYERS = ((0,), (1, 2, 4), (3, 5, 6), (7,))


@pytest.mark.parametrize(
    ("switching", "goals", "steps", "inside", "layers"),
    [
        ("wormhole", [*range(1, 8)], 2, {0}, ()),
        ("store-and-forward", [*range(1, 8)], 2, set(), LAYERS),
        ("store-and-forward", [7], 3, set(), LAYERS),
    ],
)
def test_the_spread_of_a_message_shows_hops(switching, goals, steps, inside, layers):
    group = {"messages": [0], "worth": [[node, 1] for node in goals]}
    instance = cchybrid.instance("hypercube-8", "OAB", switching=switching)
    picture = picture_of(instance, steps, {"kind": "linear", "steps": steps, "groups": [group]})
    assert (picture.inside, picture.layers) == (inside, layers)


def test_a_part_of_an_allreduce_is_drawn_as_the_reduction_that_it_is():
    group = {"messages": [0], "worth": [[node, 1] for node in range(6)]}
    growth = {"kind": "linear", "steps": 3, "groups": [group]}
    instance = cchybrid.instance("ring-bi-6", "allreduce", switching="store-and-forward")
    picture = picture_of(instance, 3, {"kind": "part", "to": 2, "evidence": growth})
    assert picture.layers == ((2,), (1, 3), (0, 4), (5,))
    assert picture.sentence.startswith(
        "Every schedule of the allreduce contains transfers by which "
        "all parts that node 2 needs reach it. Read backwards, on reversed channels,"
    )


def test_bounds_without_evidence_have_a_sentence_and_no_picture():
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
def test_evidence_that_proves_less_is_refused(steps, evidence, text):
    with pytest.raises(InputError, match=text):
        bound_picture(cchybrid.instance("mesh-3x3", "AAS"), LowerBound(steps, evidence))
