"""CP-SAT: optima of every kind of model, correct refutations, and reproducible search."""

import dataclasses
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from cchybrid_plugins.engines.cpsat.engine import CpSat, _demands, _flows_fit
from cchybrid_plugins.engines.cpsat.flows import Demands, FlowModel
from hypothesis import assume, given
from hypothesis import strategies as st
from ortools.sat.python import cp_model

import cchybrid
from cchybrid.model import Collective, Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.toolkit.cpsat.model import StepModel, build
from cchybrid.toolkit.cpsat.solve import Answer, decide
from cchybrid.toolkit.cpsat.windows import Windows, min_steps
from cchybrid.toolkit.dual_prices import Pricing
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.solver import StoppedError
from cchybrid.toolkit.usage_matrix import UsageMatrix
from tests.examples import drawn
from tests.named_instances import named
from tests.random_instances import instances
from tests.toolkit.test_tabu_moves import words_problem

RANDOM = drawn(120)


@RANDOM
@given(instances(max_nodes=7), st.integers(0, 60))
def test_flows_are_counted_as_listed(instance, max_columns):
    problem = build_problem(instance, max_options=8)
    demands = _demands(problem)
    fits = demands is not None and demands.columns <= max_columns
    assert _flows_fit(problem, max_columns) == fits


def test_large_scatters_are_refused_before_demands_are_listed(monkeypatch):
    problem = build_problem(cchybrid.instance("torus-8x8", "AAS"), max_options=4_096)
    assert CpSat(CpSat.Options()).unsupported(problem) is None
    monkeypatch.setattr(Demands, "of", None)  # it would raise
    refused = CpSat(CpSat.Options(max_flows=100_000, max_booleans=1_000))
    assert "booleans" in (refused.unsupported(problem) or "")


def run_of(given: Instance | Problem | str, stop: Stop = Stop.EXHAUSTED, **rest: Any) -> LocalRun:
    """Return a run of an instance, a problem or a network and a collective, to its end."""
    given = named(given) if isinstance(given, str) else given
    problem = given if isinstance(given, Problem) else build_problem(given)
    options = rest.pop("options", CpSat.Options())
    run = LocalRun(problem, **{"budget": Budget(seconds=60.0), **rest})
    assert CpSat(options).solve(problem, run) is stop
    assert run.violations == []
    return run


def model_of(problem: Problem, steps: int, *, symmetry: bool = True) -> StepModel:
    uses = UsageMatrix.of(problem)
    return build(problem, uses, Windows.of(problem, uses, steps, symmetry=symmetry))


def status(model: cp_model.CpModel, **parameters: Any) -> tuple[str, np.ndarray | None]:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    for name, value in parameters.items():
        setattr(solver.parameters, name, value)
    verdict = solver.status_name(solver.solve(model)).lower().replace("optimal", "feasible")
    return verdict, np.array(solver.response_proto.solution) if verdict == "feasible" else None


OPTIMA = """spidergon-8 AAS 4, spidergon-8 AAB 3, hypercube-8 AAS 4, hypercube-8 OAB 2,
    hypercube-8 OAS 3, hypercube-8 AAB 3, ring-bi-8 AAS 8, ring-uni-8 AAS 28, petersen-10 AAS 5,
    kautz-12 AAS 7, kautz-12 AAB 4, mesh-3x3 AAS 6, mesh-3x3 AAS ports=1 8, mesh-4x4 OAB 3,
    mesh-4x4 OAB ports=1 4, mesh-4x4 OAS root=1 routing=any 5, torus-4x4 AOR 2, ring-bi-24 OAB 3,
    hypercube-8 AAB hops 3, ring-bi-8 AAS hops 8, mesh-4x4 AAB hops 8"""


@pytest.mark.parametrize("case", OPTIMA.split(","))
def test_finds_and_proves_the_optimum(case):
    """Without any bound from elsewhere: the step below is refuted, too."""
    words, _, optimum = case.rpartition(" ")
    run = run_of(words, budget=Budget(60.0, threads=2))
    assert run.best() == run.lower() == int(optimum)


def test_a_refutation_on_an_incomplete_problem_is_no_claim():
    problem = build_problem(named("spidergon-6 AAB routing=any"), max_options=100)
    assert not problem.complete
    run = run_of(problem)
    assert run.bounds == []
    assert run.schedules


def test_flows_need_no_list_of_paths():
    """Of one path per pair, six steps are too few; flows find other paths, and refute five."""
    problem = build_problem(named("mesh-3x3 AAS routing=any"), max_options=72)
    assert not problem.complete
    run = run_of(problem)
    assert run.best() == run.lower() == 6


def test_gives_up_on_what_does_not_fit():
    run = run_of("mesh-3x3 AAS", Stop.STALLED, options=CpSat.Options(max_booleans=500))
    assert len(run.schedules) == 1


def test_a_target_next_to_the_best_is_enough():
    """Fewer steps would be possible, but the target is larger."""
    problem = build_problem(cchybrid.instance("mesh-3x3", "AAS"))
    known = first_fit(problem, 0)
    run = LocalRun(problem, target=known.steps - 1, first_lower=known.steps - 1)
    run.offer(known)
    assert CpSat(CpSat.Options()).solve(problem, run) is Stop.EXHAUSTED
    assert [note["target"] for note in run.notes if "branches" in note] == [known.steps - 1]


def test_building_stops_when_the_run_is_over():
    problem = build_problem(cchybrid.instance("hypercube-16", "AAB"))
    uses = UsageMatrix.of(problem)
    windows = Windows.of(problem, uses, 4, symmetry=True)
    with pytest.raises(StoppedError):
        build(problem, uses, windows, lambda: True)


@pytest.mark.slow
def test_goes_on_to_another_target_when_others_close_this_one():
    """A bound from elsewhere ends the solve in hand; here all that is left is met."""
    problem = build_problem(named("torus-5x5 AAB"))
    run = LocalRun(problem, budget=Budget(seconds=None), first_lower=6)
    with ThreadPoolExecutor() as pool:
        stop = pool.submit(CpSat(CpSat.Options()).solve, problem, run)
        while not run.notes:
            time.sleep(0.01)
        run.first_lower = run.best() or 0
        assert stop.result(timeout=20.0) is Stop.EXHAUSTED


def test_broken_hints_do_no_harm():
    problem = build_problem(cchybrid.instance("mesh-3x3", "AAS"))
    known = first_fit(problem, 0)
    crowded = Assignment(known.option, np.minimum(known.step, 0))
    late = Assignment(known.option, known.step + 50)
    for hint in (crowded, late, problem.empty()):
        model = model_of(problem, 6)
        model.hint(hint, 0)
        assert model.model.validate() == ""
        run = LocalRun(problem, first_lower=6, hints={6: hint})
        CpSat(CpSat.Options()).solve(problem, run)
        assert run.best() == 6


def test_uses_count_as_often_as_they_are_named():
    """Two deliveries use a resource of capacity 3 twice each, so they cannot share a step."""
    once = words_problem([[[0, 0], [0, 0, 0, 0]], [[0, 0]]], 1)
    twice = dataclasses.replace(once, capacity=np.array([3], dtype=np.int32))
    assert UsageMatrix.of(twice).usable.tolist() == [True, False, True]
    assert status(model_of(twice, 1).model)[0] == "infeasible"
    model = model_of(twice, 2)
    verdict, solution = status(model.model)
    assert verdict == "feasible"
    assert model.read(solution).option.tolist() == [0, 2]


def test_a_delivery_without_a_usable_option_is_unsupported():
    problem = build_problem(cchybrid.instance("ring-bi-4", "AAS"))
    none = dataclasses.replace(problem, capacity=np.zeros_like(problem.capacity))
    assert "no option" in str(CpSat(CpSat.Options()).unsupported(none))


def test_short_options_first():
    """Eight steps have room for one hop per delivery; the full model takes CP-SAT minutes."""
    run = run_of("ring-bi-16 AAB", first_lower=8)
    assert run.best() == 8
    assert [note["target"] for note in run.notes if "branches" in note] == [8]


def test_full_channels_are_known_without_a_linear_program(monkeypatch):
    """In five steps every channel of 16 nodes of degree 3 must bring its receiver a new message."""
    monkeypatch.setattr(Pricing, "sharpen", None)  # it would raise
    assert run_of("random-regular-16-3-1 AAB", first_lower=5).best() == 5


def test_that_short_options_do_not_suffice_is_no_claim():
    """Two neighbours far from the source have one hop between them; no other node reaches them."""
    messages = [(0, [3, 4]), *((4, [v]) for v in (3, 3, 3))]
    run = run_of(cchybrid.instance("mesh-1x5", messages))
    assert run.best() == run.lower() == 3


@given(instances(max_nodes=5, max_messages=8, kinds=("deliver",)))
@RANDOM
def test_telling_steps_apart_changes_no_optimum(instance):
    with_it = run_of(instance)
    without = run_of(instance, options=CpSat.Options(symmetry=False))
    assert with_it.best() == with_it.lower() == without.best() == without.lower()


@given(instances(max_nodes=5, max_messages=6), st.integers(1, 4))
@RANDOM
def test_every_schedule_fits_the_windows(instance, spare):
    """However greedily made, with however many steps to spare: renumbered, it solves the model."""
    problem = build_problem(instance)
    known = first_fit(problem, spare)
    assert known.steps >= min_steps(problem, UsageMatrix.of(problem))
    model = model_of(problem, known.steps + spare)
    model.hint(known, 0)
    assert status(model.model, fix_variables_to_their_hinted_value=True)[0] == "feasible"


def tightened(problem: Problem, steps: int) -> StepModel:
    uses = UsageMatrix.of(problem)
    tight = Pricing(problem, uses).tight(steps)
    windows = Windows.of(problem, tight.uses, steps, symmetry=True, certain=bool(steps % 2))
    return build(problem, tight.uses, windows, full=tight.full)


@given(instances(max_nodes=5, max_messages=8))
@RANDOM
def test_prices_change_no_answer(instance):
    """With the excluded options, no fewer steps suffice than without."""
    problem = build_problem(instance)
    pricing = Pricing(problem, UsageMatrix.of(problem))
    pricing.sharpen()
    lower = pricing.min_steps
    assert status(model_of(problem, max(1, lower - 1)).model)[0] == "infeasible" or lower <= 1
    for steps in range(max(1, lower), max(1, lower) + 3):
        verdict = status(model_of(problem, steps).model)[0]
        # Prices say what holds for schedules of all these steps, none of them left out.
        assert status(tightened(problem, steps).model)[0] == verdict
        if verdict == "feasible":
            break


@given(instances(max_nodes=5, max_messages=8, kinds=("deliver",)), st.booleans())
@RANDOM
def test_flows_decide_as_paths_do(instance, hop_by_hop):
    """Also where messages wait, ports limit, links are half duplex, and messages are alike."""
    if hop_by_hop:
        model = dataclasses.replace(instance.model, switching="store-and-forward")
        instance = dataclasses.replace(instance, model=model)
    alone = [m for m in instance.collective.deliver_messages if len(m.destinations) == 1]
    assume(alone)
    scatter = Collective("scatter", tuple(alone))
    problem = build_problem(dataclasses.replace(instance, collective=scatter))
    demands = Demands.of(problem)
    assume(demands is not None and problem.complete)
    for steps in range(1, 20):
        flows = FlowModel(demands, steps)
        verdict, solution = status(flows.model)
        assert verdict == status(model_of(problem, steps).model)[0]
        if verdict == "feasible":
            grown, found = flows.solution(solution)
            run = LocalRun(problem)
            run.offer(found, grown)
            assert run.violations == []
            assert (run.best() or 0) <= steps
            return
    raise AssertionError("20 steps are enough for 8 messages")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_local_search_finds_schedules_in_which_nearly_all_channels_are_busy(seed, monkeypatch):
    found = []
    monkeypatch.setattr("cchybrid_plugins.engines.cpsat.engine.decide", decided(found))
    problem = build_problem(cchybrid.instance("random-regular-30-3-25", "AAB"))
    run = LocalRun(problem, seed=seed, budget=Budget(evaluations=100_000), first_lower=10)
    assert CpSat(CpSat.Options()).solve(problem, run) is Stop.EXHAUSTED
    assert run.best() == 10
    assert not run.violations
    assert found[-1]


def decided(local: list[bool]) -> Callable[..., Answer]:
    """Return ``decide``, which appends whether a model was solved by local search."""

    def recorded(make: Any, solver: Any, *rest: Any) -> Answer:
        local.append(solver.parameters.use_ls_only)
        return decide(make, solver, *rest)

    return recorded


@pytest.mark.slow
@pytest.mark.parametrize("network", ["random-regular-34-3-1", "random-regular-12-3-1"])
def test_full_channels_and_small_models_are_for_complete_search(network, monkeypatch):
    found: list[bool] = []
    monkeypatch.setattr("cchybrid_plugins.engines.cpsat.engine.decide", decided(found))
    problem = build_problem(cchybrid.instance(network, "AAB"))
    steps = -(-(problem.structure.network.nodes - 1) // 3)
    run = LocalRun(problem, budget=Budget(evaluations=2_000), first_lower=steps)
    CpSat(CpSat.Options(draws=1)).solve(problem, run)
    assert found
    assert not found[0]
