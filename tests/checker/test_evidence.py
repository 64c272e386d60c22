"""The checker refuses any content of a file in the same form, or proves a true bound."""

from __future__ import annotations

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
    | st.sampled_from(["1/0", "1/2", "1e999999", "-1", "nan", " 1", "1_0", "٣", "0/1", "linear"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
NODE = st.integers(-1, 7) | SCALARS
NUMBER = st.integers(0, 5) | SCALARS


def listed(*columns: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.tuples(*columns).map(list), max_size=8) | JSON


LIKELY = st.fixed_dictionaries(
    {"kind": st.sampled_from([*KINDS, "unreachable"]) | JSON},
    optional={
        "message": NODE | JSON,
        "steps": st.integers(0, 4) | JSON,
        "sets": st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=3) | JSON,
        "channels": listed(st.integers(0, 6), st.integers(0, 6), NUMBER),
        "inject": listed(NODE, NUMBER),
        "accept": listed(NODE, NUMBER, NUMBER, NUMBER),
        "groups": st.lists(
            st.fixed_dictionaries(
                {"worth": listed(NODE, NUMBER)},
                optional={"messages": st.lists(NODE, max_size=3), "once": JSON, "blocks": JSON},
            ),
            max_size=2,
        )
        | JSON,
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
    "evidence",
    [
        {},
        {"kind": "nested-sets", "message": 0},
        {"kind": "nested-sets", "sets": [[0, 1]]},
        {"kind": "nested-sets", "message": 30, "sets": [[0, 1]]},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 0, 1]]},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 1], [0, 1]]},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 1], [2]]},
        {"kind": "nested-sets", "message": 0, "sets": [[0, 10**30]]},
        {"kind": "nested-sets", "message": 0, "sets": [0, 1]},
        {"kind": "nested-sets", "message": -1, "sets": [[0, 1]]},
        {"kind": "nested-sets", "message": 0.0, "sets": [[0, 1]]},
        {"kind": "nested-sets", "message": False, "sets": [[0, 1]]},
        {"kind": "unreachable", "message": 0, "destination": 1},
        {"kind": ["linear"], "steps": 1},
        {"kind": "x" * 10**6},
        {"steps": 5},
        None,
        [],
        "linear",
        7,
    ],
)
def test_refused(evidence):
    with pytest.raises(EvidenceError) as raised:
        proven_steps(RING, evidence)
    assert len(str(raised.value)) < 200


def test_evidence_speaks_of_the_instance_it_is_given_with():
    """Evidence for another instance proves what it proves here, which the host compares."""
    equal = {"channels": [[a, b, 1] for a, b in RING["network"]["channels"]]}
    prices = {"kind": "linear", "steps": 5, **equal}
    assert proven_steps(RING, prices) == 5
    with pytest.raises(EvidenceError, match="do not rule out"):
        proven_steps(RING, {**prices, "steps": 6})
    with pytest.raises(EvidenceError):
        proven_steps(scatter(5), prices)
