"""Fronts of two cost terms: what is on them, what is not, and what can go wrong."""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.design import front as module
from cchybrid_plugins.design.front import DesignFront, design_front, wire_limits
from cchybrid_plugins.design.network.all_networks import all_networks
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.ports import Links, ports_of
from cchybrid_plugins.design.network.record import design_record
from cchybrid_plugins.design.network.task import DesignTask, layout
from cchybrid_plugins.design.result import DesignResult

import cchybrid
from cchybrid.design_checker import check_design
from cchybrid.host.incumbent import Incumbent
from cchybrid.model.errors import InputError
from tests.plugins.design.network.all_labelled import labelled_networks

GRID = layout("grid-3x3", 9)

pytestmark = pytest.mark.long


def check(front: DesignFront) -> None:
    """Compute the values of all networks again, and compare each two."""
    signs = [-1 if maximised else 1 for maximised in front.maximised]
    for place, point in enumerate(front.points):
        ports = ports_of(front.task.nodes, front.task.degree, point.links)
        assert tuple(Cost(front.task).values(ports).values()) == point.values
        check_design(design_record(front.task, point.links))
        channels = {tuple(sorted(each[:2])) for each in front.network(place).channels}
        assert channels == {*point.links}
    signed = [
        tuple(sign * value for sign, value in zip(signs, p.values, strict=True))
        for p in front.points
    ]
    assert signed == sorted(signed)
    for one, two in itertools.permutations(signed, 2):
        assert one[0] < two[0] or one[1] < two[1]


def test_the_front_of_latency_and_wire_is_that_of_all_networks() -> None:
    """The twin lists all graphs of four nodes on a line, with at most two links each."""
    front = design_front(
        4, 2, ["latency", "wire"], layout="backplane", designers="annealing", evaluations=200
    )
    check(front)
    task = DesignTask(4, 2, (("latency", 1.0), ("wire", 1.0)), positions=layout("backplane", 4))
    best: dict[float, float] = {}
    for links in labelled_networks(4, 2):
        latency, wire = Cost(task).values(ports_of(4, 2, links)).values()
        best[wire] = min(latency, best.get(wire, math.inf))
    expected: list[tuple[float, float]] = []
    for wire, latency in sorted(best.items()):
        if latency < min((point[0] for point in expected), default=math.inf):
            expected.append((latency, wire))
    assert [point.values for point in front.points] == expected[::-1]
    assert len(expected) == 2


@pytest.mark.parametrize(
    ("terms", "extra"),
    [
        (("connectivity", "max-latency"), {}),
        (("node-deviation", "wire"), {"positions": GRID, "max_wire": 3}),
        (("steps", "latency"), {"collective": "AAS", "ports": 1}),
        (("latency", "link-deviation"), {"fault_tolerant": True}),
    ],
    ids=lambda value: " ".join(value),
)
def test_fronts_are_checked_and_repeat_exactly(
    terms: tuple[str, str], extra: dict[str, Any]
) -> None:
    settings = {"designers": ["annealing"], "evaluations": 300, "seed": 3, "runs": 3, **extra}
    front = design_front(9, 4, terms, **settings)
    check(front)
    assert front.points
    assert (front.terms, front.troubles, 2 <= front.runs <= 3) == (terms, (), True)
    assert design_front(9, 4, terms, **settings).points == front.points
    if "max_wire" in extra:
        assert max(point.values[1] for point in front.points) <= 3


def test_the_best_networks_of_each_term_are_the_ends() -> None:
    """All networks of 8 nodes with 3 links, none of them with a bisection above 6."""
    front = cchybrid.design_front(
        8, 3, ("latency", "bisection"), designers="annealing", evaluations=300, runs=2
    )
    check(front)
    task = front.task
    values = [Cost(task).values(ports_of(8, 3, links)) for links in all_networks(task)]
    assert front.points[0].values[0] == min(value["latency"] for value in values)
    assert front.points[-1].values[1] == max(value["bisection"] for value in values)


Offer = Callable[[float, int], Links]


@pytest.fixture(name="limits")
def _limits(monkeypatch: pytest.MonkeyPatch, offer: Offer) -> list[tuple[float, int]]:
    """Replace runs by offers that take half of their time; return limits of time and wire."""
    found: list[tuple[float, int]] = []

    class Session:
        def __init__(self, task, config, watching):  # type: ignore[no-untyped-def]
            found.append((config.budget.seconds, round(task.task.max_wire or 0)))
            self.accepted = task.accepted

        def run(self) -> DesignResult:
            seconds, wire = found[-1]
            self.accepted.append(Incumbent(offer(len(found), wire), 1.0, "annealing"))
            return _result((seconds or 2.0) / 2)

    monkeypatch.setattr(module, "Session", Session)
    return found


def ring_and_chord(place: int, wire: int) -> Links:
    """Return a ring in the first run, and one with a chord later."""
    ring = ((0, 1), (0, 5), (1, 2), (2, 3), (3, 4), (4, 5))
    return ring if place == 1 else (*ring, (0, 3))


def line_and_links(place: int, wire: int) -> Links:
    """Return a line, with more and more links to node 0 that the limit allows."""
    ends = [end for end in range(2, wire + 1) if end <= 5]
    return (*((k, k + 1) for k in range(16)), *((0, end) for end in ends))


@pytest.mark.parametrize("offer", [ring_and_chord])
def test_the_time_is_shared(limits: list[tuple[float, int]]) -> None:
    front = design_front(6, 3, ["link-deviation", "latency"], time_limit=12, runs=4)
    assert front.runs == 4
    assert [seconds for seconds, _ in limits] == [3.0, 3.5, 4.375, 6.5625]
    check(front)


@pytest.mark.parametrize("offer", [line_and_links])
def test_limits_are_chosen_where_they_make_a_difference(limits: list[tuple[float, int]]) -> None:
    front = design_front(17, 16, ["wire", "latency"], layout="backplane", runs=7)
    assert [wire for _, wire in limits] == [1, 16, 8, 4, 2, 3, 6]
    assert [point.values[0] for point in front.points] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("offer", [ring_and_chord])
@pytest.mark.parametrize("ranges", [(1e-3, 9.0), (1e7, 1.0), (1e-12, 1e-12)])
def test_the_weights_of_any_ranges_are_allowed(
    ranges: tuple[float, float], limits: list[tuple[float, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.np, "ptp", lambda values, axis: np.array(ranges))
    front = design_front(6, 3, ["link-deviation", "latency"], time_limit=12, runs=5)
    assert front.runs == len(limits) == 5


@pytest.mark.parametrize("raised", [False, True], ids=["reported", "raised"])
def test_an_interrupt_keeps_the_front(raised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    real, runs = module.Session, 0

    class Session(real):  # type: ignore[misc, valid-type]
        def run(self) -> DesignResult:
            nonlocal runs
            runs += 1
            if runs == 2 and raised:
                raise KeyboardInterrupt
            result = super().run()
            object.__setattr__(result, "interrupted", runs == 2)
            return result

    monkeypatch.setattr(module, "Session", Session)
    lines: list[str] = []
    front = design_front(
        8, 3, ["latency", "bisection"], evaluations=100, designers="annealing", report=lines.append
    )
    check(front)
    assert front.interrupted
    assert front.points
    assert front.runs == len(lines) == (1 if raised else 2)


def test_one_network_that_is_best_in_both_terms_ends_the_search() -> None:
    lines: list[str] = []
    front = design_front(
        5, 4, ["latency", "max-latency"], evaluations=50, report=lines.append, designers="annealing"
    )
    assert [point.values for point in front.points] == [(0.8, 1.0)]
    assert front.runs == len(lines) == 2
    rows = list(csv.reader(front.to_csv().splitlines()))
    assert rows[0] == ["latency", "max-latency", "links"]
    assert len(rows[1][2].split()) == 10
    assert front.to_json()["points"][0]["values"] == {"latency": 0.8, "max-latency": 1.0}


def test_an_initial_network_need_not_fit_every_limit() -> None:
    front = design_front(
        6, 2, ["latency", "wire"], layout="backplane", initial="ring-bi-6", evaluations=50,
        designers="annealing", runs=2,
    )  # fmt: skip
    check(front)
    assert front.points[-1].values[1] == 1.0


def test_limits_of_wires() -> None:
    """From the shortest that connects all nodes to the longest that is allowed."""
    task = DesignTask(9, 4, positions=GRID)
    assert wire_limits(task) == pytest.approx([1, 2, 3, 4])
    limited = DesignTask(9, 4, positions=GRID, max_wire=3)
    assert wire_limits(limited) == pytest.approx([1, 2, 3])
    far = DesignTask(3, 2, positions=((0.0,), (0.1,), (0.8,)))
    assert wire_limits(far) == pytest.approx([0.7, 0.8])


@pytest.mark.parametrize(
    ("terms", "extra", "message"),
    [
        (("latency", "wire"), {"collective": "AAS"}, "collective: no term of the front depends"),
        (("latency",), {}, "two different cost terms"),
        (("latency", "latency"), {}, "two different cost terms"),
        ("latency", {}, "two different cost terms"),
        (("latency", "wires"), {}, "did you mean wire"),
        (("latency", "wire"), {}, "needs positions"),
        (("latency", "steps"), {}, "needs a collective"),
        (("latency", "bisection"), {"ports": 1}, "ports without a collective"),
        (("latency", "bisection"), {"runs": 1}, "1 runs"),
        (("latency", "bisection"), {"time_limit": 0}, "makes no sense"),
        (("latency", "bisection"), {"seed": -1}, "no seed"),
        (("latency", "bisection"), {"designers": ["absent"]}, "no designer is called"),
    ],
)
def test_wrong_calls_are_refused(terms: Any, extra: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        design_front(8, 3, terms, **extra)


def _result(seconds: float) -> DesignResult:
    return DesignResult(
        task=DesignTask(6, 3), status="feasible", certified=False, proven_by="", network=None,
        links=(), cost=1.0, values={}, bound=None, designer="", seconds_to_best=0.0, evaluations={},
        seconds=seconds, seed=0,
    )  # fmt: skip
