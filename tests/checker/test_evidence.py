"""The checker refuses any content of a file in the same form, or proves a true bound."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker import KINDS, EvidenceError, proven_steps, proves_infeasible
from tests.checker.by_hand import record
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
    given = schedule.instance.to_json()
    try:
        steps = proven_steps(given, evidence)
    except EvidenceError:
        steps = 0
    assert type(steps) is int
    assert 0 <= steps <= len(schedule.steps)
    # Every random instance has a schedule, so nothing shows that it has none.
    with pytest.raises(EvidenceError):
        proves_infeasible(given, evidence)


@pytest.mark.parametrize(
    "evidence",
    [
        {"kind": "nested-sets", "message": 0}, {"kind": "nested-sets", "sets": [[0, 1]]},
        {"kind": "unreachable", "message": 0, "destination": 1}, {"kind": "x" * 10**6},
    ],
)  # fmt: skip
def test_refusals_are_short(evidence):
    with pytest.raises(EvidenceError) as raised:
        proven_steps(record([[0, 1], [1, 0]], (0, [1])), evidence)
    assert len(str(raised.value)) < 200
