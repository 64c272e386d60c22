"""List scheduling in ticks: valid schedules, the same ones for a seed, and uncompiled kernels."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import cchybrid
from cchybrid.problem import build_problem
from cchybrid.referee.verify import verify_schedule
from cchybrid.toolkit.kernels.list_scheduling import NEVER, choose_chains, dispatch
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.list_scheduling import ListScheduler
from tests.examples import drawn
from tests.random_instances import TICKS, instances
from tests.toolkit.kernels.uncompiled import call

SEEDS = st.integers(0, 2**32 - 1)
SMALL = {**TICKS, "max_nodes": 6, "max_messages": 5, "chunks": (1, 2)}
GO_ON, STOP = np.zeros(1, dtype=np.bool_), np.ones(1, dtype=np.bool_)
NO_LIMIT = 1 << 60


def scheduler(problem, seed):
    found = ListScheduler(problem, np.random.default_rng(seed))
    found.restart()
    return found


@given(instances(**SMALL), SEEDS)
@drawn(150)
def test_every_schedule_is_valid(instance, seed):
    problem = build_problem(instance)
    one = scheduler(problem, seed)
    for draw in range(12):
        ticks = one.made(NO_LIMIT, GO_ON)
        assert ticks < NO_LIMIT, "no schedule"
        assignment = one.assignment()
        assert problem.violations(assignment) == []
        schedule = problem.lift(assignment)
        assert verify_schedule(schedule) == ()
        # Deliveries that no destination needs may end later.
        assert len(schedule.steps) <= assignment.steps == ticks
        # A limit may keep a path from a message that would arrive too late.
        assert one.made(ticks, GO_ON) <= ticks
        assert one.made(ticks + 1, GO_ON) <= ticks
        if draw % 3 == 2:
            one.restart()
        else:
            one.change()


@given(instances(**TICKS, max_messages=4), SEEDS)
@drawn(40)
def test_a_seed_gives_the_same_schedules(instance, seed):
    problem = build_problem(instance)
    found = []
    for _ in range(2):
        one = scheduler(problem, seed)
        schedules = []
        for _ in range(5):
            one.made(NO_LIMIT, GO_ON)
            schedules.append((one.assignment().option.tolist(), one.assignment().step.tolist()))
            one.change()
        found.append(schedules)
    assert found[0] == found[1]


@given(instances(**TICKS, max_messages=4), SEEDS)
@drawn(20)
def test_a_change_is_taken_back(instance, seed):
    one = scheduler(build_problem(instance), seed)
    one.made(NO_LIMIT, GO_ON)
    step = one.assignment().step.tolist()
    for _ in range(5):
        before = one.change()
        one.made(NO_LIMIT, GO_ON)
        one.undo(before)
    one.made(NO_LIMIT, GO_ON)
    assert one.assignment().step.tolist() == step


@given(instances(**TICKS, max_nodes=5, max_messages=3), SEEDS)
@drawn(25)
def test_the_kernels_do_what_their_functions_do(instance, seed):
    problem = build_problem(instance)
    one, random = scheduler(problem, seed), np.random.default_rng(seed)
    useful, height = np.zeros(problem.deliveries, dtype=np.bool_), np.zeros(problem.deliveries)
    messages = random.permutation(len(one.tables.member_start) - 1).astype(np.int32)
    slow, chosen = random.random(problem.paths), np.zeros(problem.deliveries, dtype=np.int64)
    chains = one.tables, messages, slow, 3, problem.required, chosen, useful, height
    assert call(choose_chains, *chains, seed_state(seed))
    assert (useful >= problem.required).all()
    arrival = np.empty(problem.deliveries, dtype=np.int64)
    option = np.empty(problem.deliveries, dtype=np.int32)
    key, order = random.random(problem.options), random.permutation(problem.paths).astype(np.int32)
    for weight in ([0.0, 0.0, 0.0], [1.0, 0.3, 1.0]):
        for limit in (NO_LIMIT, 3):
            args = one.tables, useful, height, key, np.array(weight), order, limit
            ticks = call(dispatch, *args, arrival, option, GO_ON)
            made = arrival < NEVER
            assert ticks == limit or arrival[made].max() == ticks
            assert (made == (option >= 0)).all()
            assert ticks == limit or (made == useful).all()
    assert call(dispatch, *args, arrival, option, STOP) == 3


def test_known_schedules():
    """A path of three nodes: heads move on in wormhole switching, whole messages hop by hop."""
    network = cchybrid.network([(0, 1), (1, 2)])
    record = {**network.to_json(), "times": [[2, 1], [1, 3]]}
    slow = type(network).from_json(record)
    for switching, ticks in (("wormhole", 6), ("store-and-forward", 7)):
        problem = build_problem(cchybrid.instance(slow, [(0, [2])], switching=switching))
        assert scheduler(problem, 0).made(NO_LIMIT, GO_ON) == ticks
