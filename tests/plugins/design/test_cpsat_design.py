"""CP-SAT design proves what exhaustive design proves, and what it cannot: limited wires."""

import pytest
from cchybrid_plugins.design.cpsat_design.engine import CpsatDesign, CpsatDesignOptions
from cchybrid_plugins.design.exhaustive.engine import Exhaustive, ExhaustiveOptions
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.local_run import LocalDesignRun
from cchybrid_plugins.design.network.ports import ports_of
from cchybrid_plugins.design.network.task import DesignTask, layout

from cchybrid.plugin.engine import Stop
from tests.plugins.design.network.all_labelled import labelled_networks


def proven(task: DesignTask) -> float:
    run = LocalDesignRun(task, seconds=60)
    assert CpsatDesign(CpsatDesignOptions()).design(task, run) is Stop.EXHAUSTED
    best = run.best()
    assert best is not None
    return best


@pytest.mark.parametrize(("nodes", "degree"), [(2, 1), (5, 4), (7, 2), (8, 3)])
@pytest.mark.parametrize(
    "weights",
    [
        (("latency", 1.0), ("max-latency", 1.0)),
        (("latency", 1.0),),
        (("max-latency", 1.0),),
        (("latency", 7.5), ("max-latency", 0.25)),
    ],
    ids=["both", "mean", "maximum", "unequal"],
)
def test_the_optima_are_those_of_exhaustive_design(
    nodes: int, degree: int, weights: tuple[tuple[str, float], ...]
) -> None:
    task = DesignTask(nodes, degree, weights=weights)
    run = LocalDesignRun(task)
    assert Exhaustive(ExhaustiveOptions()).design(task, run) is Stop.EXHAUSTED
    assert proven(task) == run.best()


@pytest.mark.parametrize(
    ("nodes", "degree", "name", "wire"),
    [
        (6, 3, "backplane", 2),
        (6, 2, "centreplane", 2),
        (6, 3, "grid-3x2", 1),
        (5, 3, "backplane", 3),
    ],
)  # fmt: skip
def test_limited_wires_are_those_of_all_sets_of_links(
    nodes: int, degree: int, name: str, wire: float
) -> None:
    task = DesignTask(nodes, degree, positions=layout(name, nodes), max_wire=wire)
    cost = Cost(task)
    best = min(
        cost(ports_of(nodes, degree, links))
        for links in labelled_networks(nodes, degree)
        if all(task.allowed[link] for link in links)
    )
    assert proven(task) == best


@pytest.mark.slow
@pytest.mark.parametrize(
    ("nodes", "degree", "wire", "best"), [(8, 3, 3, 1.4375 + 3), (16, 4, 4, 1.9140625 + 4)]
)
def test_rows_of_the_paper(nodes: int, degree: int, wire: float, best: float) -> None:
    """Tables 3 and 4: GAPPIN has 1.438 and 3, which is best, and 1.953 and 4."""
    task = DesignTask(nodes, degree, positions=layout("backplane", nodes), max_wire=wire)
    assert proven(task) == best


def test_tasks_without_a_model_are_refused() -> None:
    designer = CpsatDesign(CpsatDesignOptions())
    for task, reason in (
        (DesignTask(30, 3), "more than 24 nodes"),
        (DesignTask(8, 3, weights=(("bisection", 1.0),)), "besides latency"),
        (DesignTask(8, 3, weights=(("latency", 0.1234567890123), ("max-latency", 1.0))), "weights"),
    ):
        assert reason in str(designer.unsupported(task))
    assert designer.unsupported(DesignTask(24, 3, redundant_links=True)) is None
