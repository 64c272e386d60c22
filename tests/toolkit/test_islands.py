"""Islands: what other engines find arrives at the first one, once."""

import numpy as np

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.problem import Assignment, build_problem
from cchybrid.problem.arrays import BoolArray
from cchybrid.toolkit.islands import MIGRATION_ROUNDS, explore
from cchybrid.toolkit.search_run import EvaluationBudget

PROBLEM = build_problem(instance("mesh-2x2", "AAB"))


class FakeIsland:
    """An island that never finds a schedule, and keeps what immigrates."""

    def __init__(self) -> None:
        self.conflicts = 100
        self.rounds = 0
        self.migrants: list[Assignment] = []

    def advance(self, evaluations: int, stop: BoolArray) -> int:
        self.rounds += 1
        return evaluations

    def best(self) -> Assignment:
        return PROBLEM.empty()

    def immigrate(self, migrant: Assignment) -> None:
        self.migrants.append(migrant)


def test_a_near_solution_of_another_engine_immigrates_into_the_first_island():
    foreign = PROBLEM.empty()

    calls: list[int] = []

    class Run(LocalRun):
        def migrant(self, steps: int) -> Assignment | None:
            calls.append(steps)
            return foreign if len(calls) == 2 else None

    run = Run(PROBLEM)
    for count in (1, 2):
        calls.clear()
        islands = [FakeIsland() for _ in range(count)]
        explore(islands, run, EvaluationBudget(run), 5, 10, 4 * MIGRATION_ROUNDS)
        assert calls == [5] * 4
        counts = [sum(each is foreign for each in island.migrants) for island in islands]
        assert counts == [1, 0][:count]
        # Islands of one run exchange theirs every time, one alone has none to exchange with.
        assert [len(island.migrants) for island in islands] == ([1] if count == 1 else [5, 4])


def test_runs_without_other_engines_have_no_migrants():
    run = LocalRun(PROBLEM, hints={3: PROBLEM.empty()})
    assert run.hint(3) is not None
    assert run.migrant(3) is None
    assert np.all(run.hint(3).option == -1)
