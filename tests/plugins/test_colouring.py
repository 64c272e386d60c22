from __future__ import annotations

from dataclasses import replace

import pytest
from cchybrid_plugins.colouring import Colouring

from cchybrid.api import instance
from cchybrid.collectives import collective
from cchybrid.engine import Budget
from cchybrid.model import Instance, Network
from cchybrid.problem import compile
from cchybrid.testing import LocalRun


def solve(asked: Instance, lower: int, seed: int = 0, evaluations: int = 120) -> LocalRun:
    run = LocalRun(
        compile(asked), seed=seed, first_lower=lower, budget=Budget(evaluations=evaluations)
    )
    Colouring(Colouring.Options()).solve(run.problem, run)
    assert not run.violations
    return run


@pytest.mark.parametrize(
    ("words", "model", "steps"),
    [
        (("spidergon-8", "AAS"), {}, 4),
        (("mesh-4x4", "AAB"), {}, 8),
        (("kautz-12", "AAS"), {}, 7),
        (("hypercube-8", "OAB"), {}, 2),
        (("torus-4x4", "AOR"), {}, 2),
        (("hypercube-8", "AAB"), {"switching": "store-and-forward"}, 3),
        (("ring-bi-4", "AAS"), {"switching": "store-and-forward"}, 2),
    ],
)
def test_it_reaches_known_optima(
    words: tuple[str, str], model: dict[str, object], steps: int
) -> None:
    assert solve(instance(*words, **model), steps).best() == steps  # type: ignore[arg-type]


def test_lanes_of_a_wide_channel_are_all_used() -> None:
    double = Network.from_links("double", 3, [(0, 1), (0, 1), (1, 2), (1, 2), (2, 0), (2, 0)])
    assert solve(Instance(double, collective("AAB", double)), 1).best() == 1


def test_half_duplex_and_one_port_are_kept() -> None:
    triangle = Network.from_links("triangle", 3, [(0, 1), (1, 2), (2, 0)])
    half = replace(triangle, half_duplex=((0, 1), (1, 2), (0, 2)))
    assert solve(Instance(half, collective("AAS", half)), 2).best() == 2
    best = solve(instance("mesh-3x3", "AAS", ports=1), 8).best()
    assert best is not None
    assert 8 <= best <= 11


def test_the_same_seed_repeats_exactly_and_offers_only_improve() -> None:
    runs = [solve(instance("mesh-4x4", "AAS"), 1, seed) for seed in (1, 1)]
    steps = [[schedule.steps for schedule in run.schedules] for run in runs]
    assert steps[0] == steps[1]
    costs = [schedule.cost for schedule in runs[0].schedules]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == len(costs)
