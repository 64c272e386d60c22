"""Engines and quotients: a valid schedule, or the reason why there is none."""

from contextlib import suppress

import pytest

import cchybrid
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Engine, Stop
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import Problem, build_problem
from cchybrid.problem.symmetry import (
    NoQuotientError,
    automorphisms,
    group_actions,
    groups,
    quotient,
)


@pytest.mark.parametrize("name", sorted(load_registry().engines))
def test_every_engine_solves_a_quotient_or_says_why_not(name):
    info = load_registry().engines[name]
    kind = load_target(info.target)
    for case, steps in ((("torus-4x4", "AAS"), 8), (("ring-bi-8", "AAB"), 4)):
        problem = divided_by_translations(*case)
        engine: Engine = kind(kind.Options())
        if engine.unsupported(problem) is not None:
            continue
        run = LocalRun(problem, budget=Budget(seconds=6.0), first_lower=steps, target=steps + 4)
        assert Stop(engine.solve(problem, run)) in Stop
        assert not run.violations
        assert run.schedules


def divided_by_translations(network: str, collective: str) -> Problem:
    instance = cchybrid.instance(network, collective)
    for group in groups(automorphisms(instance), 0, 4):
        with suppress(NoQuotientError):
            return quotient(build_problem(instance), next(group_actions(group, 0)))
    raise AssertionError("no quotient")
