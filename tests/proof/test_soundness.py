"""No bound exceeds the fewest steps of any schedule, and every bound has evidence."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker import Network, proven_steps
from cchybrid.model import Instance, LowerBound
from cchybrid.proof import BOUNDS
from cchybrid.proof.asking import bounds_of as provided
from cchybrid.proof.cut import CutMeter
from cchybrid.proof.cut_prices import Crossing
from tests.examples import examples
from tests.proof.optimum import fewest_steps
from tests.random_instances import SEVERAL, WITH_TIMES, instances, valid_schedules


def bounds_of(instance: Instance) -> dict[str, list[LowerBound]]:
    """Return what every provider yields."""
    return {info.name: list(provided(info, instance)) for info in BOUNDS}


@settings(max_examples=examples(100))
@given(valid_schedules(max_nodes=5, max_messages=5, **SEVERAL, **WITH_TIMES))
def test_no_bound_exceeds_the_optimum(schedule):
    instance = schedule.instance
    record = instance.to_json()
    fewest = fewest_steps(instance, len(schedule.steps))
    for name, bounds in bounds_of(instance).items():
        steps = [bound.steps for bound in bounds]
        assert steps == sorted(set(steps)), f"{name} does not get better and better"
        for bound in bounds:
            assert bound.steps <= fewest, (name, bound)
            # The forward instance that providers see and the one that was asked are the same.
            assert proven_steps(record, bound.evidence) == bound.steps


@pytest.mark.long
@settings(max_examples=examples(60))
@given(instances(**SEVERAL, **WITH_TIMES), st.data())
def test_providers_never_fail(instance, data):
    """Not even on instances that have no schedule."""
    nodes = instance.network.nodes
    kept = data.draw(st.sets(st.sampled_from(instance.network.channels)))
    ends = {frozenset(channel[:2]) for channel in kept}
    network = replace(
        instance.network,
        channels=tuple(c for c in instance.network.channels if frozenset(c[:2]) in ends),
        half_duplex=tuple(p for p in instance.network.half_duplex if frozenset(p) in ends),
        times=tuple(
            time
            for c, time in zip(instance.network.channels, instance.network.times, strict=False)
            if frozenset(c[:2]) in ends
        ),
    )
    ports = st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes).map(tuple)
    instance = replace(instance, network=network)
    if data.draw(st.booleans()):
        instance = instance.with_model(inject=data.draw(ports), accept=data.draw(ports))
    bounds_of(instance)


@given(instances(kinds=("deliver",)), st.integers(0, 2**32 - 1))
def test_the_checker_accepts_every_cut(instance, seed):
    """Else bad cuts would be shown to the slow checker, and better ones passed over."""
    rng = random.Random(seed)
    record, meter, network = instance.to_json(), CutMeter(instance), Network(instance.to_json())
    for _ in range(5):
        inside = np.array([rng.random() < 0.5 for _ in range(instance.network.nodes)])
        if not inside.any() or inside.all():
            continue
        chosen = set(np.flatnonzero(inside).tolist())
        for both in (False, True):
            for limit in meter.limits(inside, both):
                crossing = Crossing(network, chosen, limit.kind, both)
                for piece in crossing.evidence(limit.need):
                    if piece["steps"]:
                        assert proven_steps(record, piece) == piece["steps"]
