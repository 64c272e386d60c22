import numpy as np
import pytest
from cchybrid_plugins.engines.tabu.engine import Tabu
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.host.api import instance
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.toolkit.kernels.conflicts import conflicts
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.tabu_search.island import SharedData, TabuIsland
from cchybrid.toolkit.tabu_search.memory import new_memory
from cchybrid.toolkit.tabu_search.options import TabuOptions
from cchybrid.toolkit.tabu_search.search import BEST_CONFLICTS, Tuning, search
from tests.plugins.engines.runs import solved
from tests.random_instances import instances
from tests.toolkit import plain_tabu as plain
from tests.toolkit.kernels.random_assignments import RANDOM
from tests.toolkit.test_tabu_moves import Search

HOPS = {"switching": "store-and-forward"}
GO_ON = np.zeros(1, dtype=np.bool_)


class Hunt(Search):
    """A search whose best near-solution is compared with what the record says."""

    def go_on(self, evaluations: int, tuning: Tuning = Tuning(6, 3, 10)) -> int:  # noqa: B008
        return search(self.parts, self.record, tuning, evaluations, GO_ON, self.state)

    def best(self) -> Assignment:
        late = self.record.step >= self.steps
        return Assignment(
            np.where(late, -1, self.record.option).astype(np.int32),
            np.where(late, -1, self.record.step).astype(np.int32),
        )

    def check(self) -> None:
        """The counts are right, and the best is as good as the record says."""
        plain.check_memory(self.problem, self.memory)
        best = self.best()
        again = new_memory(self.flat, self.steps)
        again.option[:], again.step[:] = self.record.option, self.record.step
        counted = plain.excess(self.problem, again) + plain.all_broken(self.problem, again)
        assert counted == self.record.counters[BEST_CONFLICTS]
        assert (conflicts(self.problem, best) == 0) == (counted == 0)
        if counted == 0:
            for delivery in np.flatnonzero(best.option >= 0).tolist():
                assert plain.is_needed(self.problem, again, delivery)


@RANDOM
@given(instances(max_nodes=6), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_best_is_as_good_as_it_says(case, seed, steps):
    problem = build_problem(case)
    hunt = Hunt(problem, seed, steps)
    hunt.check()
    fewest = hunt.record.counters[BEST_CONFLICTS]
    for evaluations in (1, 1, 5, 50, 200):
        made = hunt.go_on(evaluations)
        assert made < evaluations + 6
        hunt.check()
        assert hunt.record.counters[BEST_CONFLICTS] <= fewest
        fewest = hunt.record.counters[BEST_CONFLICTS]
        if fewest == 0:
            assert hunt.go_on(10) == 0


@pytest.mark.parametrize("seed", range(6))
def test_required_deliveries_do_not_go_round_in_circles(seed):
    """Two nodes inform each other: one of them has to be informed by the source."""
    problem = build_problem(instance("ring-bi-3", "OAB"))
    circle = problem.empty()
    for option in range(problem.options):
        if problem.option_requires[option] >= 0:
            circle.option[problem.option_delivery[option]] = option
    circle.step[:] = 0, 1
    hunt = Hunt(problem, seed, 2, initial=circle)
    assert hunt.record.counters[BEST_CONFLICTS] == 1
    hunt.go_on(2000)
    hunt.check()
    assert hunt.record.counters[BEST_CONFLICTS] == 0


def with_a_ring(problem: Problem, solution: Assignment) -> Assignment:
    """Add two deliveries that require each other and that no other needs."""
    option, step = solution.option.copy(), solution.step.copy()
    for one in range(problem.options):
        first, second = int(problem.option_delivery[one]), int(problem.option_requires[one])
        if second < 0 or option[first] >= 0 or option[second] >= 0:
            continue
        others = range(*problem.option_start[second : second + 2].tolist())
        back = [other for other in others if problem.option_requires[other] == first]
        if back:
            option[first], option[second] = one, back[0]
            step[first], step[second] = 0, 1
            return Assignment(option, step)
    raise AssertionError("no ring is possible")


def test_an_island_goes_on_after_a_ring_has_disappeared():
    case = instance("ring-bi-4", "AAS", **HOPS)
    problem = build_problem(case)
    run, _ = solved(Tabu(TabuOptions()), problem, 2)
    solution = problem.match(run.schedules[-1].steps)
    shared = SharedData(problem, flatten(problem), 2, 0)
    hint = with_a_ring(problem, solution)
    for seed in range(5):
        island = TabuIsland(shared, TabuOptions(), seed, 0, hint)
        for _ in range(20):
            island.advance(1000, GO_ON)
        assert island.conflicts == 0
        assert conflicts(problem, island.best()) == 0


def test_an_island_that_is_stopped_in_its_first_start_has_no_schedule():
    problem = build_problem(instance("mesh-3x3", "AAS"))
    shared = SharedData(problem, flatten(problem), 6, 0)
    island = TabuIsland(shared, TabuOptions(), 0, 0, None)
    island.advance(1000, np.ones(1, dtype=np.bool_))
    assert island.conflicts > 0
