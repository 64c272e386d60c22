"""A Problem without an instance can be solved, but has no schedules."""

import numpy as np
import pytest

from cchybrid.model.errors import InputError
from cchybrid.plugin import EngineBase, Run, Stop
from cchybrid.plugin.conformance import LocalRun
from cchybrid.problem import Assignment, Problem
from cchybrid.toolkit.kernels.first_fit import first_fit


def hand_made(**rest: object) -> Problem:
    """Return three deliveries: two over one resource, the third one after the first."""

    def numbers(*values: int) -> np.ndarray:
        return np.array(values, np.int32)

    return Problem(
        capacity=numbers(1, 1),
        kind=np.zeros(2, np.int8),
        implied=np.zeros(2, bool),
        required=np.ones(3, bool),
        option_start=np.arange(4),
        option_requires=numbers(-1, -1, 0),
        option_path=numbers(0, 0, 1),
        path_start=np.arange(3),
        path_resource=numbers(0, 1),
        complete=True,
        **rest,  # type: ignore[arg-type]
    )


class Greedy(EngineBase):
    def solve(self, problem: Problem, run: Run) -> Stop:
        while run.spent < 20 and next(run.targets(), None) is not None:  # type: ignore[attr-defined]
            run.offer(first_fit(problem, run.seed + run.spent))  # type: ignore[attr-defined]
            run.spend(1)
        return Stop.STALLED


@pytest.mark.parametrize("rest", [{}, {"origin": None}])
def test_an_engine_solves_it(rest):
    run = LocalRun(hand_made(**rest), first_lower=2)
    Greedy(None).solve(run.problem, run)
    assert run.best() == 2
    assert run.schedules == run.violations == []
    assert not run.problem.violations(run.assignments[-1])
    assert run.hint(1) is not None


def test_an_invalid_offer_is_named():
    run = LocalRun(hand_made())
    run.offer(Assignment(np.arange(3, dtype=np.int32), np.zeros(3, np.int32)))
    rules = {found.rule for found in run.violations[0]}
    assert rules == {"overload", "too-early"}
    assert run.best() is None


def test_it_has_no_schedules():
    problem = hand_made()
    assert problem.structure is None
    assert problem.price(2, np.ones(2)) == (1.0, 0, ())
    for call in (lambda: problem.lift(problem.empty()), lambda: problem.match(())):
        with pytest.raises(InputError, match="made by hand has no instance and no schedules"):
            call()
