"""Every designer: valid networks, honest costs, repeatable runs, obedience to limits."""

import dataclasses

import networkx as nx
import pytest
from cchybrid_plugins.design.annealing.engine import Annealing, AnnealingOptions
from cchybrid_plugins.design.cpsat_design.engine import CpsatDesign, CpsatDesignOptions
from cchybrid_plugins.design.exhaustive.engine import Exhaustive, ExhaustiveOptions
from cchybrid_plugins.design.gappin.engine import Gappin, GappinOptions
from cchybrid_plugins.design.network.bounds import latency_bound
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.designer import Designer
from cchybrid_plugins.design.network.local_run import LocalDesignRun
from cchybrid_plugins.design.network.ports import links_of, ports_of
from cchybrid_plugins.design.network.task import DesignTask, layout
from cchybrid_plugins.design.network.terms import TERMS
from cchybrid_plugins.design.symmetric.engine import Symmetric, SymmetricOptions

from cchybrid.model.errors import PluginError
from cchybrid.plugin.engine import Stop, read_options
from tests.plugins.design.network.plain_distances import plain_total, ring

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
TASKS = {
    "plain": DesignTask(18, 3),
    "odd": DesignTask(15, 3),
    "two links": DesignTask(12, 2),
    "pair": DesignTask(2, 1),
    "complete": DesignTask(5, 4),
    "redundant": DesignTask(9, 4, redundant_links=True),
    "grid": DesignTask(16, 3, positions=layout("grid-4x4", 16), max_wire=2),
    "line": DesignTask(9, 4, positions=layout("backplane", 9), max_wire=2.5),
    "wire as a cost": DesignTask(
        12, 3, weights=(("latency", 1.0), ("wire", 0.1)), positions=layout("grid-4x3", 12)
    ),
    "faults": DesignTask(
        14, 3, weights=(("random-faults", 1.0), ("node-faults", 1.0), ("bisection", 0.1))
    ),
    "routes": DesignTask(
        9,
        4,
        weights=(("contention", 1.0), ("node-deviation", 0.1), ("link-deviation", 0.2)),
        redundant_links=True,
    ),
    "connectivity": DesignTask(11, 3, weights=(("max-latency", 1.0), ("connectivity", 0.5))),
}


def run_of(name: str, task: DesignTask, seed: int = 0, evaluations: int = 1500) -> LocalDesignRun:
    designer = DESIGNERS[name]
    run = LocalDesignRun(task, seed=seed, evaluations=evaluations, seconds=20)
    if designer.unsupported(task) is None:
        designer.design(task, run)
    return run


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "words",
    [pytest.param(each, marks=LONG if each in ("faults", "routes") else ()) for each in TASKS],
)
def test_networks_are_valid_and_costs_honest(name: str, words: str) -> None:
    """``LocalDesignRun.offer`` checks links and cost of every network."""
    task = TASKS[words]
    run = run_of(name, task)
    if DESIGNERS[name].unsupported(task) is not None:
        assert name in ("symmetric", *PROVING)
        assert words not in ("odd", "two links", "pair", "complete")
        return
    assert run.links is not None
    assert plain_total(task.nodes, run.links)[0] > 0
    assert run.spent > 0
    costs = [cost for _, cost in run.offers]
    assert costs == sorted(costs, reverse=True)
    assert run.best() == costs[-1] == Cost(task)(ports_of(task.nodes, task.degree, run.links))
    bound = latency_bound(task).cost(task)
    assert bound is None or bound <= costs[-1] + 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_runs_repeat_from_their_seed(name: str) -> None:
    task = DesignTask(10 if name in PROVING else 24, 3)
    first, second, other = (run_of(name, task, seed) for seed in (7, 7, 8))
    assert first.links == second.links
    assert [cost for _, cost in first.offers] == [cost for _, cost in second.offers]
    assert first.spent == second.spent
    if name in ("annealing", "gappin"):
        assert first.links != other.links


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_is_over_ends_at_once(name: str) -> None:
    task = DesignTask(64, 4)
    run = LocalDesignRun(task, seconds=0)
    assert DESIGNERS[name].design(task, run) is Stop.LIMIT
    assert run.spent < 25_000


@pytest.mark.parametrize("name", NAMES[:3])
def test_kernels_are_compiled_beforehand(name: str) -> None:
    DESIGNERS[name].prepare()  # type: ignore[attr-defined]


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
        with pytest.raises(Exception, match="use at"):
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
        (DesignTask(16, 4), 1.75),
        (DesignTask(32, 5), 2.0323),
        (DesignTask(16, 3, positions=layout("grid-4x4", 16), max_wire=2), 2.2),
        (DesignTask(25, 4, positions=layout("grid-5x5", 25), max_wire=2), 2.2667),
    ],
    ids=["16-3", "16-4", "32-5", "grid-4x4", "grid-5x5"],
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


def test_redundant_links_appear_only_where_they_are_allowed() -> None:
    options = GappinOptions(population=30, redundant=1.0, generations=1)
    for allowed in (False, True):
        task = DesignTask(6, 4, weights=(("connectivity", 1.0),), redundant_links=allowed)
        run = LocalDesignRun(task)
        Gappin(options).design(task, run)
        assert allowed or len(set(run.links)) == len(run.links)
        assert len(links_of(ports_of(6, 4, run.links))) == len(run.links)


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
