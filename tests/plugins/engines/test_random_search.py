import numpy as np
from cchybrid_plugins.engines.random_search.kernels import draw_often
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.host.api import instance
from cchybrid.model import Instance
from cchybrid.problem import build_problem
from cchybrid.toolkit.kernels.first_fit import first_fit
from cchybrid.toolkit.kernels.flat import flatten
from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import drawn
from tests.random_instances import instances
from tests.toolkit.kernels import plain_kernels

RANDOM = drawn(40)
GO_ON = np.zeros(1, dtype=np.bool_)


@RANDOM
@given(instances(), st.integers(0, 2**32 - 1))
def test_the_conflicts_of_blind_draws_equal_a_recount(case: Instance, seed: int) -> None:
    problem = build_problem(case)
    found = problem.empty()
    made, fewest = draw_often(
        flatten(problem), 3, 5, 2**31, found.option, found.step, GO_ON, seed_state(seed)
    )
    assert 1 <= made <= 5
    recount = plain_kernels.conflicts(problem, found)
    # The requirements of what is late are needed when it is counted, and gone afterwards.
    assert recount == fewest if problem.required.all() else recount <= fewest


def test_a_start_that_is_ended_early_gives_nothing() -> None:
    problem = build_problem(instance("ring-bi-8", "AAS"))
    assert first_fit(problem, 0, np.ones(1, dtype=np.bool_)) is None
    found = first_fit(problem, 0, GO_ON)
    assert (found.step == first_fit(problem, 0).step).all()
