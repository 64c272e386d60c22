"""A second encoding, written for z3 from the rules of validity alone, has the same optimum."""

import pytest
from hypothesis import given, settings

import cchybrid
from cchybrid.model import Instance, Network
from tests.checker.certified import half_duplex_instance
from tests.examples import examples
from tests.random_instances import SEVERAL, valid_schedules

pytest.importorskip("z3")

from tests import z3_model

HOPS = "store-and-forward"
WIDE = Network("wide", 4, ((0, 1, 2), (1, 2, 1), (2, 3, 2), (3, 0, 1), (0, 2, 1), (1, 3, 1)))
INSTANCES = (
    ("mesh-2x3", "broadcast", {"ports": 1}),
    ("ring-bi-5", "scatter", {}),
    ("ring-uni-4", "alltoall", {}),
    ("b-tree-4", "allgather", {"switching": HOPS}),
    ("mesh-2x2", "allgather", {"chunks": 2, "rounds": (1, 2)}),
    ("b-tree-4", "gather", {"switching": HOPS, "ports": 1}),
    ("mesh-2x3", "reduce", {"ports": 1}),
    ("ring-bi-4", "reduce-scatter", {"switching": HOPS}),
    (WIDE, "allgather", {}),
    (WIDE, "scatter", {"routing": 1}),
    pytest.param("", "", {}, marks=pytest.mark.long),
)


def optimum(instance: Instance) -> int:
    result = cchybrid.solve(instance, time_limit=60)
    assert result.status == "optimal"
    assert result.steps is not None
    return result.steps


@pytest.mark.parametrize(("topology", "collective", "more"), INSTANCES)
def test_a_small_instance(topology, collective, more):
    instance = half_duplex_instance()
    if topology:
        instance = cchybrid.instance(topology, collective, **more)
    fewest = optimum(instance)
    assert z3_model.has_schedule(instance, fewest)
    assert fewest == 1 or not z3_model.has_schedule(instance, fewest - 1)


@settings(max_examples=examples(36))
@given(valid_schedules(max_nodes=5, max_messages=4, **SEVERAL))
def test_random_instances(schedule):
    known = len(schedule.steps)
    assert z3_model.fewest_steps(schedule.instance, known) == optimum(schedule.instance)
