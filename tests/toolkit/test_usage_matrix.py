"""The usage matrix says what counting the resources of every option says."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.problem import build_problem
from cchybrid.toolkit.usage_matrix import UsageMatrix
from tests.examples import examples
from tests.random_instances import instances


@given(instances(max_nodes=5), st.integers(0, 99))
@settings(max_examples=examples(40), derandomize=True)
def test_counts_like_a_loop(instance, seed):
    problem = build_problem(instance)
    counted = [Counter(problem.resources_of(o).tolist()) for o in range(problem.options)]
    uses = UsageMatrix.of(problem)
    random = np.random.default_rng(seed)
    options = random.integers(problem.options, size=7)
    price = random.integers(100, size=problem.resources)

    found = [Counter[int]() for _ in options]
    for position, resource, times in zip(*uses.entries(options), strict=True):
        found[position][int(resource)] += int(times)
    assert found == [counted[option] for option in options]
    assert [dict(zip(*uses.row(o), strict=True)) for o in options] == found
    load = sum(found, Counter[int]())
    assert uses.load(options).tolist() == [load[r] for r in range(problem.resources)]
    costs = [sum(price[r] * n for r, n in count.items()) for count in counted]
    assert uses.costs(price).tolist() == costs
    fits = [all(n <= problem.capacity[r] for r, n in count.items()) for count in counted]
    assert uses.usable.tolist() == fits

    alone = uses.expanded(options)
    assert alone.costs(price).tolist() == [costs[option] for option in options]
    assert alone.usable.tolist() == [fits[option] for option in options]
