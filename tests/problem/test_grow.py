"""``extend``: a sampled pool gets priced paths, and the Problem stays the same otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.problem import Problem, build_problem, extend, list_hops
from tests.problem.plain_problem import options_of
from tests.random_instances import instances


def assert_uses(problem: Problem, whole: Problem) -> None:
    """Assert that paths use what they use in the whole problem."""
    uses = {path: whole.resources_of(k).tolist() for k, (*_, path) in enumerate(options_of(whole))}
    for option, (*_, path) in enumerate(options_of(problem)):
        assert problem.resources_of(option).tolist() == uses[path]


@given(instances(), st.integers(1, 40), st.randoms(use_true_random=False))
def test_a_grown_pool_holds_the_old_and_the_new(instance, max_options, random):
    part, whole = build_problem(instance, max_options=max_options), build_problem(instance)
    ends = part.structure.delivery_message.tolist(), part.structure.delivery_node.tolist()
    index = {end: delivery for delivery, end in enumerate(zip(*ends, strict=True))}
    chosen = random.sample(options_of(whole), min(9, whole.options))
    grown, moved = extend(part, [(index[message, node], path) for message, node, _, path in chosen])
    before, after = options_of(part), options_of(grown)
    assert [after[place] for place in moved] == before
    added = {(m, v, path) for m, v, _, path in (*before, *chosen)}
    assert {(m, v, path) for m, v, _, path in after} == added
    assert set(after) <= set(options_of(whole))
    assert len(set(after)) == len(after)
    assert (np.diff(grown.option_delivery) >= 0).all()
    sizes = np.bincount(grown.option_delivery, minlength=grown.deliveries)
    assert np.array_equal(sizes, np.diff(grown.option_start))
    assert_uses(grown, whole)


@given(instances(), st.integers(1, 40))
def test_all_options_of_one_hop_are_listed_and_no_others(instance, max_options):
    whole = build_problem(instance)
    hops = list_hops(build_problem(instance, max_options=max_options))
    expected = [option for option in options_of(whole) if len(option[3]) == 2]
    assert sorted(options_of(hops)) == sorted(expected)
    assert_uses(hops, whole)


@pytest.mark.parametrize(
    ("delivery", "path", "complaint"),
    [
        (0, (1, 2), "no path for delivery 0"),
        (0, (0, 1), "no path for delivery 0"),
        (0, (), "no path for delivery 0"),
        (0, (0, 2), "is no path of the network"),
        (1, (0, 1, 2), "no delivery 1"),
        (-1, (0, 1, 2), "no delivery -1"),
    ],
)
def test_a_path_that_is_none_of_the_delivery(delivery, path, complaint):
    problem = build_problem(cchybrid.instance("ring-bi-4", [(0, 2)]))
    with pytest.raises(ValueError, match=complaint):
        extend(problem, [(delivery, path)])
