"""The colouring baseline: valid for every model, reproducible, and prompt to stop."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from cchybrid_plugins.engines.colouring.choice import Chooser
from cchybrid_plugins.engines.colouring.engine import Colouring
from cchybrid_plugins.engines.colouring.exact import FixedChoice
from cchybrid_plugins.engines.colouring.graph import Conflicts, saturation_largest_first, strategies
from hypothesis import given
from networkx.algorithms import coloring

import cchybrid
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.usage_matrix import UsageMatrix, families
from tests.examples import drawn
from tests.plugins.engines.runs import solved
from tests.random_instances import instances

RANDOM = drawn(40)


def coloured(instance: Instance, patience: int = 50, **rest: Any) -> tuple[LocalRun, Stop]:
    engine = Colouring(Colouring.Options(patience))
    return solved(engine, instance, **{"budget": Budget(seconds=None), **rest})


def chooser(problem: Problem) -> Chooser:
    return Chooser(problem, UsageMatrix.of(problem), lambda: None)


def test_offers_improvements_only() -> None:
    run, stop = coloured(cchybrid.instance("mesh-3x3", "AAB"), patience=5)
    steps = [len(schedule.steps) for schedule in run.schedules]
    assert steps == sorted(set(steps), reverse=True)
    assert stop is Stop.STALLED


def test_checks_often_enough_whether_to_stop() -> None:
    """On a large graph, every part of the work checks whether to stop."""
    problem = build_problem(cchybrid.instance("torus-5x5", "AAS"))
    run = LocalRun(problem, budget=Budget(seconds=None))
    checks = 0

    def should_stop() -> bool:
        nonlocal checks
        checks += 1
        return checks > 3000

    run.should_stop = should_stop  # type: ignore[method-assign]
    assert Colouring(Colouring.Options()).solve(problem, run) is Stop.LIMIT
    assert checks < 3010


def test_balancing_halves_the_busiest_channel() -> None:
    """The first shortest path of every pair on a hypercube crowds the same few channels."""
    problem = build_problem(cchybrid.instance("hypercube-16", "AAS"))

    def busiest(option: np.ndarray) -> int:
        used = [problem.resources_of(o) for o in option.tolist()]
        load = np.bincount(np.concatenate(used), minlength=problem.resources)
        return int(load[~problem.implied].max())

    one = chooser(problem)
    balanced = busiest(one.balanced(np.random.default_rng(0)))
    assert balanced * 2 <= busiest(one.shortest())
    assert balanced <= 9


def test_random_shortest_paths_are_shortest() -> None:
    problem = build_problem(cchybrid.instance("mesh-3x3", "AAS", routing=2))
    one = chooser(problem)
    length = np.diff(problem.path_start)[problem.option_path]
    plain = one.shortest()
    drawn = one.shortest(np.random.default_rng(1))
    assert (length[plain] == length[drawn]).all()
    assert (plain != drawn).any()


@given(instances(max_nodes=6))
@RANDOM
def test_chosen_options_form_a_forest(instance: Instance) -> None:
    """Required deliveries are made, too, and chains of requirements end at a source."""
    problem = build_problem(instance)
    one = chooser(problem)
    grow = one.trees if problem.required.all() else one.chains
    option = grow(np.random.default_rng(0))
    assert (option[problem.required] >= 0).all()
    family = families(problem)
    for delivery in np.flatnonzero(option >= 0).tolist():
        assert problem.option_delivery[option[delivery]] == delivery
        seen = set()
        before = delivery
        while before >= 0:
            assert before not in seen
            assert family[before] == family[delivery]
            seen.add(before)
            before = int(problem.option_requires[option[before]])


@pytest.mark.parametrize("seed", range(5))
def test_own_dsatur_colours_as_the_one_of_networkx(seed: int) -> None:
    """Node by node, the most saturated one is next; ties may be broken otherwise."""
    graph = nx.gnp_random_graph(40, 0.3, seed=seed)
    colours: dict[int, int] = {}
    order = saturation_largest_first(graph, colours)
    for node in order:
        left = set(graph) - set(colours)
        saturation = {v: len({colours[u] for u in graph[v] if u in colours}) for v in left}
        best = max((saturation[v], graph.degree(v)) for v in left)
        assert (saturation[node], graph.degree(node)) == best
        taken = {colours[other] for other in graph[node] if other in colours}
        colours[node] = next(c for c in range(len(graph)) if c not in taken)
    assert len(colours) == len(graph)
    theirs = nx.greedy_color(graph, coloring.strategy_saturation_largest_first)
    assert abs(max(colours.values()) - max(theirs.values())) <= 1


def test_every_order_schedules_capacities() -> None:
    """Three messages fit a channel of capacity 3 at once; five need two steps, over lanes."""
    network = cchybrid.network("ring-bi-3")
    links = [(c.source, c.target) for c in network.channels] * 3
    fat = cchybrid.model.Network.from_arcs("fat", 3, links)
    messages = tuple(cchybrid.model.Message(0, (1,)) for _ in range(5))
    instance = Instance(fat, cchybrid.model.Collective("five", messages))
    problem = build_problem(instance)
    uses = UsageMatrix.of(problem)
    random = np.random.default_rng(0)
    conflicts = Conflicts(problem, uses, chooser(problem).shortest(), random, lambda: None)
    assert conflicts.min_steps == 2
    assert conflicts.edges == 2
    for strategy in strategies(0, conflicts.edges).values():
        assert conflicts.schedule(strategy).steps == 2


def test_slow_orders_are_kept_from_large_graphs() -> None:
    assert "independent_set" in strategies(0, 100)
    assert "independent_set" not in strategies(0, 10_000)
    assert "saturation_largest_first" in strategies(0, 10_000_000)


def chromatic_number(graph: nx.Graph) -> int:
    """By trying all colourings, vertex by vertex."""
    order = sorted(graph, key=graph.degree, reverse=True)

    def fits(colours: dict[int, int], count: int) -> bool:
        if len(colours) == len(order):
            return True
        node = order[len(colours)]
        taken = {colours.get(other) for other in graph[node]}
        # Colours not used yet are alike: one of them is enough.
        for colour in range(min(count, max(colours.values(), default=-1) + 2)):
            if colour not in taken and fits({**colours, node: colour}, count):
                return True
        return False

    return next(count for count in range(1, len(order) + 1) if fits({}, count))


@pytest.mark.parametrize("topology", ["ring-bi-5", "spidergon-6", "amp-8", "mesh-3x3"])
@pytest.mark.parametrize("seed", range(3))
def test_exact_is_the_chromatic_number(topology: str, seed: int) -> None:
    problem = build_problem(cchybrid.instance(topology, "OAS" if topology == "mesh-3x3" else "AAS"))
    uses = UsageMatrix.of(problem)
    random = np.random.default_rng(seed)
    conflicts = Conflicts(problem, uses, chooser(problem).shortest(random), random, lambda: None)
    greedy = conflicts.schedule(saturation_largest_first)
    choice = FixedChoice(problem, uses, conflicts.option)
    found = choice.fewest(greedy, Budget(30.0), seed, 30.0)
    assert found.proven
    assert (found.assignment.option == conflicts.option).all()
    assert found.assignment.steps == chromatic_number(conflicts.graphs[0]) <= greedy.steps


def test_exact_colours_the_same_paths_with_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact colouring repairs a bad order, and repeats under an evaluation budget."""

    def random_order(seed: int, edges: int) -> dict[str, Any]:
        return {"random_sequential": strategies(seed, edges)["random_sequential"]}

    def searched(*, exact: bool) -> tuple[Any, ...]:
        problem = build_problem(cchybrid.instance("mesh-3x3", "AAS"))
        run = LocalRun(problem, seed=3, budget=Budget(None, evaluations=2000))
        Colouring(Colouring.Options(patience=1, exact=exact)).solve(problem, run)
        assert run.violations == []
        assert run.bounds == []
        return run.best(), [schedule.steps for schedule in run.schedules]

    monkeypatch.setattr("cchybrid_plugins.engines.colouring.engine.strategies", random_order)
    best, schedules = searched(exact=True)
    assert (best, schedules) == searched(exact=True)
    assert best < searched(exact=False)[0]


@given(instances(max_nodes=5, max_messages=5))
@RANDOM
def test_exact_takes_every_model(instance: Instance) -> None:
    run = LocalRun(build_problem(instance), budget=Budget(seconds=None))
    Colouring(Colouring.Options(patience=1, exact=True)).solve(run.problem, run)
    plain, _ = coloured(instance, patience=1)
    assert run.violations == []
    assert run.best() is not None
    assert plain.best() is not None
    assert run.best() <= plain.best()
