"""Every designer: valid networks, honest costs, repeatable runs, obedience to limits."""

import dataclasses

import networkx as nx
import pytest
from cchybrid_plugins.design import api, network_task
from cchybrid_plugins.design.annealing.engine import Annealing, AnnealingOptions
from cchybrid_plugins.design.cpsat_design.engine import CpsatDesign, CpsatDesignOptions
from cchybrid_plugins.design.exhaustive.engine import Exhaustive, ExhaustiveOptions
from cchybrid_plugins.design.gappin.engine import Gappin, GappinOptions
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.designer import Designer
from cchybrid_plugins.design.network.local_run import LocalDesignRun
from cchybrid_plugins.design.network.ports import ports_of
from cchybrid_plugins.design.network.task import DesignTask, layout
from cchybrid_plugins.design.network.terms import TERMS
from cchybrid_plugins.design.symmetric.engine import Symmetric, SymmetricOptions

from cchybrid.model.errors import PluginError
from cchybrid.plugin.engine import Stop, read_options
from cchybrid.plugin.registry import RESERVED_NAMES
from tests.plugins.design.network.plain_distances import ring

DESIGNERS: dict[str, Designer] = {
    "annealing": Annealing(AnnealingOptions()),
    "gappin": Gappin(GappinOptions(population=40)),
    "symmetric": Symmetric(SymmetricOptions()),
    "exhaustive": Exhaustive(ExhaustiveOptions()),
    "cpsat-design": CpsatDesign(CpsatDesignOptions()),
}
LONG = pytest.mark.long
PROVING = ("exhaustive", "cpsat-design")
"""Designers of small orders only."""
NAMES = [
    pytest.param(name, marks=LONG if name in ("symmetric", *PROVING) else ()) for name in DESIGNERS
]
"""Two of the designers in every run of the tests: all kernels take long to compile."""


def test_no_designer_has_the_name_of_what_the_host_does() -> None:
    assert {network_task.START, api.STEPS_SEARCH} <= RESERVED_NAMES


def test_exhaustive_search_tries_every_node_as_the_root() -> None:
    # With 7 * 3 ends of links a node has two: it sends to 6 others in 3 steps, any other in 2.
    task = DesignTask(7, 3, weights=(("steps", 1.0),), collective="OAS")
    run = LocalDesignRun(task)
    assert DESIGNERS["exhaustive"].design(task, run) is Stop.EXHAUSTED
    assert run.best() == 2.0


@pytest.mark.parametrize("name", NAMES)
def test_the_petersen_graph_is_found(name: str) -> None:
    """The Petersen graph meets Moore's bound; it is no Cayley graph."""
    task = DesignTask(10, 3)
    run = LocalDesignRun(task, evaluations=200_000, seconds=30)
    stop = DESIGNERS[name].design(task, run)
    assert run.links is not None
    assert nx.is_isomorphic(nx.Graph(run.links), nx.petersen_graph()) == (name != "symmetric")
    assert stop is (Stop.STALLED if name == "symmetric" else Stop.EXHAUSTED)


def test_options_out_of_range_are_refused() -> None:
    for options, texts in (
        (AnnealingOptions, {"rotations": "-1"}),
        (AnnealingOptions, {"hot": "0.1", "cold": "0.2"}),
        (AnnealingOptions, {"growth": "0.5"}),
        (GappinOptions, {"population": "1"}),
        (GappinOptions, {"mutation": "1.5"}),
        (GappinOptions, {"redundant": "-0.1"}),
        (SymmetricOptions, {"samples": "0"}),
    ):
        with pytest.raises(Exception, match=r"use (at|0 to 1)"):
            read_options("designer", options, texts)
    assert read_options("gappin", GappinOptions, {"distinct": "no"}).distinct is False


def test_a_target_ends_the_run_and_a_false_cost_is_found() -> None:
    task = DesignTask(16, 2)
    run = LocalDesignRun(task, target=12.0)
    assert not run.should_stop()
    run.offer(ring(16), 12.0)
    assert run.should_stop()
    with pytest.raises(PluginError, match=r"cost 12.0 was offered as one of cost 11"):
        run.offer(ring(16), 11.0)


@pytest.mark.parametrize(
    ("task", "mean"),
    [
        (DesignTask(16, 3), 2.2),
        (DesignTask(32, 5), 2.0323),
        (DesignTask(25, 4, positions=layout("grid-5x5", 25), max_wire=2), 2.2667),
    ],
    ids=["16-3", "32-5", "grid-5x5"],
)
def test_annealing_finds_the_best_known_small_networks(task: DesignTask, mean: float) -> None:
    task = dataclasses.replace(task, weights=(("latency", 1.0),))
    target = (mean + 5e-5) * (task.nodes - 1) / task.nodes
    run = LocalDesignRun(task, target=target, evaluations=3_000_000)
    Annealing(AnnealingOptions()).design(task, run)
    best = run.best()
    assert best <= target


@pytest.mark.parametrize(
    ("task", "mean", "maximum"),
    [
        (DesignTask(64, 4), 3.03, 5),
        (DesignTask(8, 3, positions=layout("backplane", 8), max_wire=3), 1.438, 3),
        (DesignTask(16, 4, positions=layout("backplane", 16), max_wire=4), 1.953, 4),
    ],
    ids=["table-1", "table-3", "table-4"],
)
def test_gappin_matches_its_paper(task: DesignTask, mean: float, maximum: int) -> None:
    """Rows of tables 1, 3 and 4."""
    run = LocalDesignRun(task, target=mean + maximum, evaluations=20_000)
    Gappin(GappinOptions(population=200)).design(task, run)
    assert run.links is not None
    values = Cost(task).values(ports_of(task.nodes, task.degree, run.links))
    assert values["latency"] <= mean
    assert values["max-latency"] <= maximum


def test_gappin_counts_its_generations() -> None:
    options = GappinOptions(population=10, generations=3)
    run = LocalDesignRun(DesignTask(20, 3), evaluations=10**6)
    assert Gappin(options).design(run.task, run) is Stop.STALLED
    assert (run.spent, run.metrics["generation"]) == (40, 3)


@pytest.mark.long
@pytest.mark.parametrize(
    ("nodes", "degree", "published"),
    [
        (64, 5, {"contention": 2.93, "max-contention": 7, "contention-deviation": 4.38}),
        (
            16,
            3,
            {
                "latency": 2.16, "max-latency": 4, "connectivity": 3, "node-deviation": 8.55,
                "link-deviation": 5.67, "random-faults": 3.16, "max-random-faults": 6,
                "node-faults": 2.23, "max-node-faults": 5, "bisection": 5,
            },
        ),
    ],
    ids=["table-2", "tables-7-and-8"],
)  # fmt: skip
def test_annealing_is_better_in_every_column(
    nodes: int, degree: int, published: dict[str, float]
) -> None:
    """One network that is not worse than the row of the paper in any column."""
    task = DesignTask(nodes, degree, weights=tuple((name, 1.0) for name in published))
    run = LocalDesignRun(task, evaluations=20_000)
    Annealing(AnnealingOptions()).design(task, run)
    assert run.links is not None
    values = Cost(task).values(ports_of(nodes, degree, run.links))
    for name, value in published.items():
        assert values[name] >= value if TERMS[name].maximised else values[name] <= value, name
