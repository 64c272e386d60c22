"""Times of channels: the Problem and the referee agree; files, digests and wrong input."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Instance, Network
from cchybrid.model.errors import InputError
from cchybrid.problem import build_problem
from cchybrid.problem.symmetry import automorphisms
from cchybrid.referee.verify import verify, verify_schedule
from tests.examples import examples
from tests.random_instances import TICKS, instances, valid_schedules

SEEDS = st.integers(0, 2**32 - 1)


def rows(schedule):
    return [sorted(step) for step in schedule.steps]


@settings(max_examples=examples(150))
@given(valid_schedules(**TICKS, chunks=(1, 2)))
def test_every_schedule_is_an_assignment(schedule):
    problem = build_problem(schedule.instance)
    assert problem.horizon == "ticks"
    assignment = problem.match(schedule.steps)
    assert problem.violations(assignment) == []
    lifted = problem.lift(assignment)
    assert verify_schedule(lifted) == ()
    assert len(lifted.steps) <= assignment.steps <= len(schedule.steps)
    again = problem.match(lifted.steps)
    made = again.step >= 0
    for one, other in ((again.step, assignment.step), (again.option, assignment.option)):
        assert (one[made] == other[made]).all()
    # Deliveries that no destination needs are left out, nothing else.
    assert not (problem.required & ~made).any()
    assert rows(problem.lift(again)) == rows(lifted)


@settings(max_examples=examples(250))
@given(instances(**TICKS, max_messages=4), SEEDS, st.integers(1, 30))
def test_an_assignment_is_sound_if_its_schedule_is_valid(instance, seed, ticks):
    problem, rng = build_problem(instance), random.Random(seed)
    first, stop = problem.option_start[:-1].tolist(), problem.option_start[1:].tolist()
    found = problem.empty()
    # Every other delivery as early as it can be, so that some of these schedules are valid.
    found.option[:] = [rng.randrange(a, b) for a, b in zip(first, stop, strict=True)]
    duration = problem.path_duration[problem.option_path[found.option]]
    late = np.array([rng.randrange(ticks) for _ in first])
    found.step[:] = duration - 1 + late
    before = problem.option_requires[found.option]
    if rng.random() < 0.5:
        for _ in range(problem.deliveries):
            ready = np.where(before >= 0, found.step[before] + 1, 0)
            found.step[:] = np.maximum(found.step, np.minimum(ready, 200) + duration - 1)
    starts = found.step - duration + 1
    assert (problem.start_of(found.option, found.step) == starts).all()
    if problem.violations(found) == []:
        assert verify(instance, problem.lift(found).steps) == ()
    else:
        cyclic = [v for v in problem.violations(found) if v.rule == "too-early"]
        steps = problem.lift(found, found.steps).steps
        assert verify(instance, steps) or cyclic


def line(**changes):
    network = Network.from_links("line", 3, [(0, 1), (1, 2)])
    return replace(network, **{"times": ((1, 2),) * 4, **changes})


@pytest.mark.parametrize(
    ("changes", "where", "text"),
    [
        ({"times": ((1, 2),) * 3}, "network.times", "3 times for 4 channels"),
        ({"times": ((1, 2),) * 5}, "network.times", "5 times for 4 channels"),
        ({"times": ((1, 2), (1, 0), (1, 2), (1, 2))}, "network.times[1]", "no latency and length"),
        ({"times": ((1, 2), (1, 2), (-1, 2), (1, 2))}, "network.times[2]", "no latency"),
        ({"times": ((1, 2), (1, 2), (1, 2), (1,))}, "network.times[3]", "no latency"),
        ({"times": ((10**6 + 1, 1),) * 4}, "network.times[0]", "no latency"),
        ({"times": ((0, 10**6 + 1),) * 4}, "network.times[0]", "no latency"),
        ({"times": ((0.5, 1),) * 4}, "network.times[0]", ""),
        ({"times": ((True, 1),) * 4}, "network.times[0]", ""),
        ({"times": "1212"}, "network.times", "no list"),
        ({"times": 3}, "network.times", "no list"),
        ({"times": (3, 3, 3, 3)}, "network.times[0]", ""),
        ({"times": ((1, 2), (1, 3)) * 2, "half_duplex": ((0, 1),)}, "network.half_duplex[0]", ""),
        *(({"tick": tick}, "network.tick", "no number of microseconds")
          for tick in (0, -1, "0", "1/0", "x", True, float("nan"), float("inf"), [],
                       "1e999999999", "1_0",
                       "9" * 21, 10**20, "1/1" + "0" * 20, "+1", " 1")),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_times_are_refused_with_their_place(changes, where, text):
    with pytest.raises(InputError) as raised:
        line(**changes)
    assert where in str(raised.value)
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    ("collective", "model", "text"),
    [
        ("AAS", {"switching": "tdm"}, "time slots"),
        ("OAB", {"rounds": (2,)}, "rounds"),
        ("OAB", {"rounds": (1, 2)}, "rounds"),
        ("allreduce", {}, "sums"),
        ("scan", {}, "sums"),
        ("exscan", {}, "sums"),
    ],
)
def test_what_is_not_defined_with_times_is_refused(collective, model, text):
    with pytest.raises(InputError, match=f"{text}.*channels with times of their own"):
        cchybrid.instance(line(), collective, **model)
    assert cchybrid.instance(line(times=((0, 1),) * 4), collective, **model)


@settings(max_examples=examples(50))
@given(instances(**TICKS, chunks=(1, 2)), st.sampled_from([None, 1, 0.25, "1/3", "2.5"]))
def test_files_round_trip_and_the_digest_ignores_the_tick(instance, tick):
    labelled = replace(instance, network=replace(instance.network, tick=tick))
    record = labelled.to_json()
    assert record["format"] == "cchybrid-instance/2"
    again = Instance.from_json(record)
    assert again == labelled
    assert again.network.times == instance.network.times
    assert again.network.tick == (None if tick is None else Fraction(tick))
    assert again.digest == instance.digest
    assert again.forward.forward == again.forward
    plain = replace(instance, network=replace(instance.network, times=()))
    assert plain.digest != instance.digest
    latency, length = instance.network.times[0]
    slower = dict.fromkeys(instance.network.channels, (latency, length + 1))
    other = replace(instance.network, times=tuple(slower.values()))
    assert replace(instance, network=other).digest != instance.digest


def test_the_first_format_has_no_times():
    record = cchybrid.instance(line(), "OAB").to_json()
    with pytest.raises(InputError, match="cchybrid-instance/1 has no times of channels"):
        Instance.from_json({**record, "format": "cchybrid-instance/1"})


def test_a_tick_alone_changes_nothing():
    plain = line(times=(), tick="1/3")
    assert cchybrid.instance(plain, "OAB").horizon == "steps"
    assert Instance.from_json(cchybrid.instance(plain, "OAB").to_json()).network.tick == Fraction(
        1, 3
    )


@pytest.mark.parametrize(
    ("slow", "order"), [((), 8), ({(0, 1), (1, 0), (2, 3), (3, 2)}, 4), ({(0, 1)}, 1)]
)
def test_automorphisms_respect_times(slow, order):
    ring = Network.from_links("ring", 4, [(v, (v + 1) % 4) for v in range(4)])
    times = tuple((1, 3) if channel[:2] in slow else (1, 2) for channel in ring.channels)
    assert automorphisms(cchybrid.instance(replace(ring, times=times), "AAS")).order == order
