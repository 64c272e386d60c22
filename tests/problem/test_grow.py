"""``extend``: a sampled pool gets priced paths, and the Problem stays the same otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.problem import build_problem, extend, list_hops
from tests.problem.plain_problem import options_of
from tests.random_instances import instances


@given(instances(), st.integers(1, 40), st.randoms(use_true_random=False))
def test_a_grown_pool_holds_the_old_and_the_new(instance, max_options, random):
    part = build_problem(instance, max_options=max_options)
    whole = build_problem(instance)
    index = {option[:2]: delivery for delivery, option in enumerate(_deliveries(part))}
    additions = [
        (index[message, node], path)
        for message, node, _, path in random.sample(options_of(whole), min(9, whole.options))
    ]
    grown, moved = extend(part, additions)
    before, after = options_of(part), options_of(grown)
    assert [after[place] for place in moved] == before
    added = {
        (part.structure.delivery_message[d], part.structure.delivery_node[d], path)
        for d, path in additions
    }
    assert {(m, v, p) for m, v, _, p in after} == {(m, v, p) for m, v, _, p in before} | added
    assert set(after) <= set(options_of(whole))
    assert len(set(after)) == len(after)
    assert (np.diff(grown.option_delivery) >= 0).all()
    assert np.array_equal(
        np.bincount(grown.option_delivery, minlength=grown.deliveries), np.diff(grown.option_start)
    )
    # What paths use is what compiling them would have found.
    uses = {
        path: whole.resources_of(k).tolist() for k, (_, _, _, path) in enumerate(options_of(whole))
    }
    for option, (_, _, _, path) in enumerate(after):
        assert grown.resources_of(option).tolist() == uses[path]


@given(instances(), st.integers(1, 40))
def test_all_options_of_one_hop_are_listed_and_no_others(instance, max_options):
    whole = build_problem(instance)
    hops = list_hops(build_problem(instance, max_options=max_options))
    expected = [option for option in options_of(whole) if len(option[3]) == 2]
    assert sorted(options_of(hops)) == sorted(expected)
    uses = {path: whole.resources_of(k) for k, (_, _, _, path) in enumerate(options_of(whole))}
    for option, (_, _, _, path) in enumerate(options_of(hops)):
        assert hops.resources_of(option).tolist() == uses[path].tolist()


def _deliveries(problem):
    return list(
        zip(
            problem.structure.delivery_message.tolist(),
            problem.structure.delivery_node.tolist(),
            strict=True,
        )
    )


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
    ring = Network.from_links("ring", 4, [(v, (v + 1) % 4) for v in range(4)])
    problem = build_problem(Instance(ring, Collective("one", (Message(0, (2,)),))))
    with pytest.raises(ValueError, match=complaint):
        extend(problem, [(delivery, path)])
