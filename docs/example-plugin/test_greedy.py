"""The engine satisfies the contract of engines, and its options work as documented."""

import cchybrid
import pytest
from cchybrid.plugin import Budget, Stop
from cchybrid.plugin.conformance import LocalRun, conformance_cases
from cchybrid.problem import build_problem

from cchybrid_greedy.engine import Greedy, Options

# Greedy, Options, tries and patience are this engine's: replace them by the names of yours.


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=[pytest.mark.long] if case.long else [])
        for case in conformance_cases("greedy")
    ],
)
def test_conformance(case):
    """One test per rule of the contract and per small instance; long ones: pytest -m long."""
    case()


def test_it_finds_the_optimum_of_a_small_ring():
    """Two steps are optimal for an all-to-all broadcast on four nodes."""
    problem = build_problem(cchybrid.instance("ring-bi-4", "AAB"))
    run = LocalRun(problem, first_lower=2)
    assert Greedy(Options()).solve(problem, run) is Stop.EXHAUSTED
    assert run.best() == 2


def test_it_gives_up_after_failures():
    """One step is impossible, so every schedule after the first ones is a failure."""
    problem = build_problem(cchybrid.instance("ring-bi-4", "AAB"))
    run = LocalRun(problem, budget=Budget(seconds=30))
    assert Greedy(Options(patience=5)).solve(problem, run) is Stop.STALLED
    assert run.spent < 100


def test_it_reports_how_near_it_is():
    """Reported conflicts of a number of steps never increase; one step always leaves some."""
    problem = build_problem(cchybrid.instance("ring-bi-4", "AAB"))
    run = LocalRun(problem, budget=Budget(seconds=30))
    Greedy(Options(patience=5)).solve(problem, run)
    conflicts = [left for steps, left in run.progressed if steps == 1]
    assert conflicts == sorted(conflicts, reverse=True)
    assert conflicts[-1] > 0


def test_options_that_make_no_sense_are_refused():
    """The text is shown to the user."""
    with pytest.raises(ValueError, match="at least 1"):
        Options(tries=0)
