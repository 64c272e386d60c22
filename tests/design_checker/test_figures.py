"""The checker of designed networks: figures, limits, bounds, and records of any origin."""

import copy
from fractions import Fraction
from typing import Any

import pytest

from cchybrid.checker import EvidenceError
from cchybrid.design_checker import check_design

PETERSEN = [[i, (i + 1) % 5] for i in range(5)] + [[i, i + 5] for i in range(5)]
PETERSEN += [[i + 5, (i + 2) % 5 + 5] for i in range(5)]
RECORD: dict[str, Any] = {
    "format": "cchybrid-design/1",
    "nodes": 10,
    "degree": 3,
    "links": PETERSEN,
    "claims": {
        "diameter": 2, "total_distance": 150, "diameter_bound": 2, "total_distance_bound": 150,
    },
}  # fmt: skip


def test_the_petersen_graph_is_optimal() -> None:
    figures = check_design(RECORD)
    assert figures == (2, Fraction(5, 3), 2, Fraction(5, 3))
    assert figures.optimal


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("diameter", 1), ("diameter", 3), ("total_distance", 149), ("total_distance", 151),
        ("diameter_bound", 3), ("total_distance_bound", 151),
    ],
)  # fmt: skip
def test_false_claims_are_refused(name: str, value: int) -> None:
    record = copy.deepcopy(RECORD)
    record["claims"][name] = value
    with pytest.raises(EvidenceError, match=r"is \d+, not"):
        check_design(record)


def test_weaker_bounds_are_true() -> None:
    assert check_design({**RECORD, "claims": {"total_distance_bound": 3}}).optimal


SCATTER = {"collective": "AAS"}
WRONG: dict[str, list[dict[str, Any]]] = {
    "is": [{"links": PETERSEN[1:]}],
    "not connected": [{"links": [link for link in PETERSEN if 0 not in link]}, {"nodes": 11}],
    "redundant": [{"links": [*PETERSEN, [0, 1]]}],
    "has 4 links": [{"links": [*PETERSEN, [0, 2]]}],
    "has 3 links": [{"degree": 2}],
    "a link from 1 to 1": [{"links": [*PETERSEN[1:], [1, 1]]}],
    "a link from 0 to 10": [{"links": [*PETERSEN[1:], [0, 10]]}],
    "out of range": [{"nodes": 10**9}],
    "no cchybrid-design/1": [{"format": "cchybrid-design/2"}],
    "too long": [
        {"positions": [[k] for k in range(10)], "max_wire": wire} for wire in (4, 0)
    ],
    "no bound of steps": [{"collective": "multicast"}],
    "steps bound is 5, not 6": [{**SCATTER, "claims": {"steps_bound": 6}}],
    "not well-formed": [
        {"links": [*PETERSEN[1:], [0, 10**4000]]}, {"claims": {"diameter": 10**4000}},
        {"positions": [[k] for k in range(9)], "max_wire": 9},
        {"positions": [[k] for k in range(9)]}, {"positions": [[float("nan")]] * 10},
        {"max_wire": 9}, {"positions": [[float("nan")]] * 10, "max_wire": 9},
        {"links": None}, {"links": [[0]]}, {"links": [[0, True]]}, {"nodes": 10.0},
        {"redundant_links": 1}, {"claims": {"diameter": "2"}}, {"claims": {"radius": 2}},
        {"more": 1}, {"model": {}}, {"claims": {"steps_bound": 5}}, {"collective": ["AAS"]},
        {**SCATTER, "claims": {"steps_bound": "5"}},
        *({**SCATTER, "model": model} for model in (
            "wormhole", {"switching": "circuit"}, {"ports": 0}, {"ports": True},
            {"ports": {"inject": 1}}, {"ports": {"inject": [1], "accept": 1}}, {"routing": -1},
            {"speed": 1},
        )),
    ],
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_wrong_records_are_refused(message: str) -> None:
    for changes in WRONG[message]:
        with pytest.raises(EvidenceError, match=message):
            check_design({**RECORD, **changes})


@pytest.mark.parametrize("record", [None, [], "x", {}, {"format": "cchybrid-design/1"}])
def test_what_is_no_record_is_refused(record: Any) -> None:
    with pytest.raises(EvidenceError):
        check_design(record)
