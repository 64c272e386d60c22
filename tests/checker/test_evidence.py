"""The checker refuses any content of a file in the same form, or proves a true bound."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker import KINDS, EvidenceError, proven_steps, proves_infeasible
from cchybrid.model import Collective, CommunicationModel, Instance, Message, Network
from tests.examples import examples
from tests.random_instances import valid_schedules

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 9)
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["1/0", "1/2", "1e999999", "-1", "nan", " 1", "1_0", "٣", "0/1", "growth"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
NODE = st.integers(-1, 7) | SCALARS
PRICE = st.integers(0, 5) | st.sampled_from(["1/3", "2/7", "0", "12/5"]) | SCALARS


def listed(*columns: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.tuples(*columns).map(list), max_size=8) | JSON


LIKELY = st.fixed_dictionaries(
    {"kind": st.sampled_from([*KINDS, "unreachable"]) | JSON},
    optional={
        "message": NODE | JSON,
        "nodes": st.lists(NODE, max_size=7) | JSON,
        "both": st.booleans() | JSON,
        "sets": st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=3) | JSON,
        "channels": listed(st.integers(0, 6), st.integers(0, 6), PRICE),
        "inject": listed(NODE, PRICE),
        "accept": listed(NODE, PRICE),
    },
)


@settings(max_examples=examples(200))
@given(valid_schedules(max_nodes=4, max_messages=3), JSON | LIKELY)
def test_garbage_is_refused_or_true(schedule, evidence):
    record = schedule.instance.to_json()
    try:
        steps = proven_steps(record, evidence)
    except EvidenceError:
        steps = 0
    assert type(steps) is int
    assert 0 <= steps <= len(schedule.steps)
    # Every random instance has a schedule, so nothing shows that it has none.
    with pytest.raises(EvidenceError):
        proves_infeasible(record, evidence)


def ring(nodes: int) -> Network:
    return Network.from_links("ring", nodes, [(v, (v + 1) % nodes) for v in range(nodes)])


def scatter(nodes: int, **model: Any) -> dict[str, Any]:
    messages = tuple(Message(a, (b,)) for a in range(nodes) for b in range(nodes) if a != b)
    network = ring(nodes)
    return Instance(network, Collective("AAS", messages), CommunicationModel(**model)).to_json()


RING = scatter(6)


@pytest.mark.parametrize(
    "price",
    [
        *(-1, -0.0, 1.0, True, None, [], {}, 10**40, float("nan"), float("inf")),
        *("", "1/0", "0/0", "-1", "+1", "-1/2", "1/-2", "1.5", "1e9", "1e999999", "1E3", "inf"),
        *("nan", " 1", "1 ", "1/ 2", "1_000", "٣", "1/2/3", "/2", "1/", "9" * 41, "1/" + "9" * 41),
        *("1\n", "0x1"),
    ],
)
def test_prices_have_one_syntax(price):
    for evidence in (
        {"kind": "prices", "channels": [[0, 1, price]]},
        {"kind": "prices", "channels": [[0, 1, 1]], "inject": [[0, price]]},
        {"kind": "prices", "channels": [[0, 1, 1]], "accept": [[0, price]]},
    ):
        with pytest.raises(EvidenceError, match="price"):
            proven_steps(RING, evidence)


@pytest.mark.parametrize(
    "evidence",
    [
        {},
        {"kind": "prices"},
        {"kind": "prices", "channels": []},
        {"kind": "prices", "channels": [[0, 1, 0]]},
        {"kind": "prices", "channels": [[0, 2, 1]]},
        {"kind": "prices", "channels": [[0, 1, 1], [0, 1, 1]]},
        {"kind": "prices", "channels": [[0, 1]]},
        {"kind": "prices", "channels": [[False, True, 1]]},
        {"kind": "prices", "channels": [[0.0, 1, 1]]},
        {"kind": "prices", "channels": {"0": [0, 1, 1]}},
        {"kind": "prices", "channels": [[0, 1, 1]], "inject": [[6, 1]]},
        {"kind": "prices", "channels": [[0, 1, 1]], "inject": [[-1, 1]]},
        {"kind": "prices", "channels": [[0, 1, 1]], "inject": [[True, 1]]},
        {"kind": "prices", "channels": [[0, 1, 1]], "accept": [[2, 1], [2, 1]]},
        {"kind": "regions", "nodes": [0]},
        {"kind": "regions", "message": 0},
        {"kind": "regions", "message": 0, "nodes": [6]},
        {"kind": "regions", "message": 30, "nodes": [0]},
        {"kind": "nested-sets", "message": 0},
        {"kind": "nested-sets", "sets": [[0, 1]]},
        {"kind": "nested-sets", "message": 30, "sets": [[0, 1]]},
        {"kind": "nested-sets", "message": 0, "sets": []},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 0, 1]]},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 1], [0, 1]]},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 1], [2]]},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 10**30]]},
        {"kind": "nested-sets", "message": 0, "sets": [0, 1]},
        {"kind": "cut"},
        {"kind": "cut", "nodes": []},
        {"kind": "cut", "nodes": [6]},
        {"kind": "cut", "nodes": [-1]},
        {"kind": "cut", "nodes": [0.0]},
        {"kind": "cut", "nodes": [True]},
        {"kind": "cut", "nodes": "0"},
        {"kind": "cut", "nodes": [0], "both": 1},
        {"kind": "cut", "nodes": [0], "both": None},
        {"kind": "cut-over-time", "nodes": [0]},  # in wormhole switching
        {"kind": "growth"},
        {"kind": "growth", "message": 30},
        {"kind": "growth", "message": -1},
        {"kind": "growth", "message": 0.0},
        {"kind": "growth", "message": False},
        {"kind": "growth", "message": "0"},
        {"kind": "unreachable", "message": 0},
        {"kind": ["growth"], "message": 0},
        {"kind": "x" * 10**6},
        {"steps": 5},
        None,
        [],
        "growth",
        7,
    ],
)
def test_refused(evidence):
    with pytest.raises(EvidenceError) as raised:
        proven_steps(RING, evidence)
    assert len(str(raised.value)) < 200


def test_numbers_that_would_grow_for_ever():
    """Denominators without a common factor multiply up to thousands of digits."""
    record = scatter(64)
    large = 10**39
    channels = [[v, (v + 1) % 64, f"1/{large + 2 * v + 1}"] for v in range(64)]
    channels += [[(v + 1) % 64, v, f"1/{large + 999 + 2 * v}"] for v in range(64)]
    with pytest.raises(EvidenceError, match="common denominator"):
        proven_steps(record, {"kind": "prices", "channels": channels})


def test_extra_hops_beyond_the_network_cost_no_time():
    prices = {"kind": "prices", "channels": [[a, b, 1] for a, b in RING["network"]["channels"]]}
    assert proven_steps(scatter(6, routing=10**15), prices) == proven_steps(RING, prices) == 5


def test_evidence_speaks_of_the_instance_it_is_given_with():
    """Evidence for another instance proves what it proves here, which the host compares."""
    prices = {"kind": "prices", "channels": [[a, b, 1] for a, b in RING["network"]["channels"]]}
    assert proven_steps(RING, prices) == 5
    with pytest.raises(EvidenceError):
        proven_steps(scatter(5), prices)
    cut = {"kind": "cut", "nodes": [0, 1, 2]}
    assert proven_steps(RING, cut) == 5
    assert proven_steps(scatter(8), cut) == 8
    # What it claims about itself does not count.
    assert proven_steps(RING, {**cut, "steps": 99}) == 5


def test_fractions_are_exact():
    third = {"kind": "prices", "channels": [[a, b, "1/3"] for a, b in RING["network"]["channels"]]}
    assert proven_steps(RING, third) == 5
    assert proven_steps(RING, json.loads(json.dumps(third))) == 5
