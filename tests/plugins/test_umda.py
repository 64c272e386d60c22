from __future__ import annotations

import numpy as np
import pytest
from cchybrid_plugins.umda.engine import Umda, UmdaOptions

from cchybrid.host.api import instance
from cchybrid.library.collectives import collective
from cchybrid.model import Instance, Network
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.conflicts import conflicts


def solve(case: Instance, lower: int, **rest: object) -> LocalRun:
    run = LocalRun(build_problem(case), first_lower=lower, **{"budget": Budget(seconds=60), **rest})  # type: ignore[arg-type]
    Umda(UmdaOptions()).solve(run.problem, run)
    assert not run.violations
    return run


@pytest.mark.parametrize(
    ("words", "model", "steps"),
    [
        (("spidergon-8", "AAS"), {}, 4),
        (("mesh-3x3", "AAS"), {}, 6),
        (("hypercube-8", "OAB"), {}, 2),
        (("hypercube-8", "AAB"), {}, 3),
        (("kautz-12", "AAS"), {}, 7),
        (("torus-3x3", "AOR"), {}, 2),
        (("mesh-3x3", "AAS"), {"ports": 1}, 8),
        (("hypercube-8", "AAB"), {"switching": "store-and-forward"}, 3),
        (("ring-bi-4", "AAS"), {"switching": "store-and-forward"}, 2),
        (("mesh-2x3", "OAS"), {"routing": "any"}, 3),
    ],
)
def test_it_reaches_the_optimum(
    words: tuple[str, str], model: dict[str, object], steps: int
) -> None:
    case = instance(*words, **model)  # type: ignore[arg-type]
    assert solve(case, steps).best() == steps


def test_capacity_and_half_duplex_are_kept() -> None:
    double = Network.from_links("double", 3, [(0, 1), (0, 1), (1, 2), (1, 2), (2, 0), (2, 0)])
    half = Network(
        "half",
        3,
        Network.from_links("", 3, [(0, 1), (1, 2), (2, 0)]).channels,
        ((0, 1), (1, 2), (0, 2)),
    )

    assert solve(Instance(double, collective("AAB", double)), 1).best() == 1
    assert solve(Instance(half, collective("AAS", half)), 2).best() == 2


def test_a_target_is_honoured() -> None:
    run = solve(instance("ring-bi-8", "AAS"), 8, target=10)
    best = run.best()
    assert best is not None
    assert 8 <= best <= 10


def test_the_same_seed_and_evaluations_repeat_exactly() -> None:
    found = []
    for seed in (3, 3, 4):
        problem = build_problem(instance("mesh-3x3", "AAS"))
        run = LocalRun(problem, seed=seed, budget=Budget(evaluations=1500), first_lower=5)
        assert Umda(UmdaOptions()).solve(problem, run) == Stop.LIMIT
        found.append([schedule.steps for schedule in run.schedules])
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_it_hands_out_near_solutions_that_still_have_conflicts() -> None:
    run = LocalRun(
        build_problem(instance("torus-4x4", "AAB")), budget=Budget(evaluations=600), first_lower=4
    )
    Umda(UmdaOptions(polish=0)).solve(run.problem, run)
    assert run.suggestions
    assert all(run.problem.lift(near, 4).steps for near in run.suggestions)
    assert all(conflicts(run.problem, near) > 0 for near in run.suggestions)


def test_it_starts_from_a_hint() -> None:
    problem = build_problem(instance("spidergon-8", "AAS"))
    first = LocalRun(problem, first_lower=4, budget=Budget(seconds=60))
    Umda(UmdaOptions()).solve(problem, first)
    solution = problem.match(first.schedules[-1].steps)
    run = LocalRun(problem, first_lower=4, budget=Budget(seconds=60), hints={4: solution})
    Umda(UmdaOptions()).solve(problem, run)
    assert run.best() == 4
    assert np.array_equal(problem.match(run.schedules[-1].steps).option, solution.option)


@pytest.mark.parametrize(
    "options",
    [
        {"population": 1}, {"parents": 0.0}, {"replacement": 1.5}, {"mutation": -0.1},
        {"sampled": 2.0}, {"moves": 0}, {"sweeps": -1}, {"patience": 0},
    ],
)  # fmt: skip
def test_senseless_options_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        UmdaOptions(**options)  # type: ignore[arg-type]
