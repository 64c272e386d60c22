"""The checker of designed networks: figures, limits, bounds, and records of any origin."""

import copy
import random
from fractions import Fraction
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker import EvidenceError
from cchybrid.design_checker import check_design
from cchybrid.model import CommunicationModel
from cchybrid.network_design.bounds import latency_bound
from cchybrid.network_design.distances import all_distances
from cchybrid.network_design.ports import Ports, links_of
from cchybrid.network_design.steps import steps_of_all_networks
from cchybrid.network_design.task import DESIGN_COLLECTIVES, DesignTask, layout
from tests.examples import examples
from tests.network_design.plain_distances import random_ports

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


@given(random_ports(40))
@settings(max_examples=examples(60))
def test_checker_and_kernel_agree(ports: Ports) -> None:
    nodes, degree = ports.shape
    found = all_distances(ports)
    bound = latency_bound(DesignTask(nodes, degree))
    record = {
        "format": "cchybrid-design/1",
        "nodes": nodes,
        "degree": degree,
        "links": [list(link) for link in links_of(ports)],
        "redundant_links": True,
        "claims": {"diameter": found.diameter, "total_distance": found.total},
    }
    figures = check_design(record)
    assert (figures.mean_bound, figures.diameter_bound) == (bound.mean, bound.diameter)


@given(st.integers(2, 6), st.integers(2, 6), st.integers(2, 8), st.integers(1, 4))
@settings(max_examples=examples(60))
def test_checker_and_finder_prove_the_same_bound_of_wires(
    width: int, height: int, degree: int, wire: int
) -> None:
    nodes = width * height
    positions = layout(f"grid-{width}x{height}", nodes)
    task = DesignTask(nodes, degree, positions=positions, max_wire=wire, redundant_links=True)
    grid = [[k, k + 1] for k in range(nodes) if (k + 1) % width]
    grid += [[k, k + width] for k in range(nodes - width)]
    if max(sum(k in link for link in grid) for k in range(nodes)) > degree:
        grid = [[k, k + 1] for k in range(nodes) if (k + 1) % width]  # a snake
        grid += [
            [k, k + width] for k in range(nodes - width)
            if k % width == (0 if (k // width) % 2 else width - 1)
        ]  # fmt: skip
    figures = check_design(
        {
            "format": "cchybrid-design/1",
            "nodes": nodes,
            "degree": degree,
            "links": grid,
            "positions": [list(position) for position in positions],
            "max_wire": wire,
        }
    )
    bound = latency_bound(task)
    assert (figures.mean_bound, figures.diameter_bound) == (bound.mean, bound.diameter)
    assert figures.mean >= figures.mean_bound


@st.composite
def collective_tasks(draw: st.DrawFn) -> DesignTask:
    """Draw a task with a collective, of a size that admits a network."""
    nodes = draw(st.integers(2, 40))
    degree = draw(st.integers(1 if nodes == 2 else 2, 6))
    inject, accept = draw(st.sampled_from(((None, None), (1, 1), (2, 2), (1, 3), (3, 1), (9, 9))))
    switching = draw(st.sampled_from(("wormhole", "store-and-forward")))
    wire = draw(st.sampled_from((None, 1.0, 2.0, 3.5)))
    return DesignTask(
        nodes,
        degree,
        positions=None if wire is None else layout("backplane", nodes),
        max_wire=wire,
        redundant_links=True,
        collective=draw(st.sampled_from(DESIGN_COLLECTIVES)),
        model=CommunicationModel(switching, inject, accept),
    )


def steps_record(task: DesignTask, steps: int) -> dict[str, Any]:
    """Return the record of a path of the task's nodes, with a claim on the steps."""
    record: dict[str, Any] = {
        "format": "cchybrid-design/1",
        "nodes": task.nodes,
        "degree": task.degree,
        "links": [[node, node + 1] for node in range(task.nodes - 1)],
        "redundant_links": True,
        "collective": task.collective,
        "model": task.model.to_json(),
        "claims": {"steps_bound": steps},
    }
    if task.positions is not None:
        record["positions"] = [list(position) for position in task.positions]
        record["max_wire"] = task.max_wire
    return record


@given(collective_tasks())
@settings(max_examples=examples(300))
def test_checker_and_finder_prove_the_same_steps(task: DesignTask) -> None:
    steps = steps_of_all_networks(task)
    check_design(steps_record(task, steps))
    with pytest.raises(EvidenceError, match=f"steps bound is {steps}, not {steps + 1}"):
        check_design(steps_record(task, steps + 1))


@pytest.mark.parametrize("collective", DESIGN_COLLECTIVES)
@pytest.mark.parametrize("switching", ["wormhole", "store-and-forward"])
def test_mutants_of_a_bound_of_steps(collective: str, switching: Literal["wormhole"]) -> None:
    """A record with a number changed is accepted only if the bound of the finder allows it."""
    task = DesignTask(13, 3, collective=collective, model=CommunicationModel(switching, 2, 2))
    record = steps_record(task, steps_of_all_networks(task))
    for seed in range(60):
        rng = random.Random(seed)
        altered = copy.deepcopy(record)
        owner, key = rng.choice(
            [(altered, "degree"), (altered["claims"], "steps_bound"), (altered["model"], "ports"),
             (altered["model"], "switching"), (altered, "collective")]
        )  # fmt: skip
        if key == "switching":
            owner[key] = rng.choice(["wormhole", "store-and-forward"])
        elif key == "collective":
            owner[key] = rng.choice(DESIGN_COLLECTIVES)
        else:
            owner[key] += rng.randint(-1, 3)
        changed = DesignTask(
            13,
            altered["degree"],
            collective=altered["collective"],
            model=CommunicationModel.from_json(altered["model"]),
        )
        claim = altered["claims"]["steps_bound"]
        if claim <= steps_of_all_networks(changed):
            check_design(altered)
        else:
            with pytest.raises(EvidenceError):
                check_design(altered)
