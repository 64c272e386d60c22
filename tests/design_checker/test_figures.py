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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"links": PETERSEN[1:]}, "is"),
        ({"links": [link for link in PETERSEN if 0 not in link]}, "not connected"),
        ({"links": [*PETERSEN, [0, 1]]}, "redundant"),
        ({"links": [*PETERSEN, [0, 2]]}, "has 4 links"),
        ({"links": [*PETERSEN[1:], [1, 1]]}, "a link from 1 to 1"),
        ({"links": [*PETERSEN[1:], [0, 10]]}, "a link from 0 to 10"),
        ({"links": [*PETERSEN[1:], [0, 10**4000]]}, "not well-formed"),
        ({"claims": {"diameter": 10**4000}}, "not well-formed"),
        ({"degree": 2}, "has 3 links"),
        ({"nodes": 11}, "not connected"),
        ({"nodes": 10**9}, "out of range"),
        ({"format": "cchybrid-design/2"}, "no cchybrid-design/1"),
        ({"positions": [[k] for k in range(10)], "max_wire": 4}, "too long"),
        ({"positions": [[k] for k in range(10)], "max_wire": 0}, "too long"),
        ({"positions": [[k] for k in range(9)], "max_wire": 9}, "not well-formed"),
        ({"positions": [[k] for k in range(9)]}, "not well-formed"),
        ({"positions": [[float("nan")]] * 10}, "not well-formed"),
        ({"max_wire": 9}, "not well-formed"),
        ({"positions": [[float("nan")]] * 10, "max_wire": 9}, "not well-formed"),
        ({"links": None}, "not well-formed"),
        ({"links": [[0]]}, "not well-formed"),
        ({"links": [[0, True]]}, "not well-formed"),
        ({"nodes": 10.0}, "not well-formed"),
        ({"redundant_links": 1}, "not well-formed"),
        ({"claims": {"diameter": "2"}}, "not well-formed"),
        ({"claims": {"radius": 2}}, "not well-formed"),
        ({"more": 1}, "not well-formed"),
        ({"model": {}}, "not well-formed"),
        ({"claims": {"steps_bound": 5}}, "not well-formed"),
        ({"collective": "multicast"}, "no bound of steps"),
        ({"collective": ["AAS"]}, "not well-formed"),
        ({"collective": "AAS", "claims": {"steps_bound": "5"}}, "not well-formed"),
        ({"collective": "AAS", "claims": {"steps_bound": 6}}, "steps bound is 5, not 6"),
        ({"collective": "AAS", "model": {"switching": "circuit"}}, "not well-formed"),
        ({"collective": "AAS", "model": {"ports": 0}}, "not well-formed"),
        ({"collective": "AAS", "model": {"ports": True}}, "not well-formed"),
        ({"collective": "AAS", "model": {"ports": {"inject": 1}}}, "not well-formed"),
        (
            {"collective": "AAS", "model": {"ports": {"inject": [1], "accept": 1}}},
            "not well-formed",
        ),
        ({"collective": "AAS", "model": {"routing": -1}}, "not well-formed"),
        ({"collective": "AAS", "model": {"speed": 1}}, "not well-formed"),
        ({"collective": "AAS", "model": "wormhole"}, "not well-formed"),
    ],
)
def test_wrong_records_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(EvidenceError, match=message):
        check_design({**RECORD, **changes})


@pytest.mark.parametrize("record", [None, [], "x", {}, {"format": "cchybrid-design/1"}])
def test_what_is_no_record_is_refused(record: Any) -> None:
    with pytest.raises(EvidenceError):
        check_design(record)
