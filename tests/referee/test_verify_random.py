"""The referee against its plain twin: valid random schedules and random corruptions of them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.model import Collective, Instance, Reduction, Steps, Transfer
from cchybrid.model.steps import reverse_steps
from cchybrid.referee import capacities
from cchybrid.referee import verify as verify_module
from cchybrid.referee.verify import RULES, Violation, verify, verify_schedule
from tests.examples import examples
from tests.plain_referee import Breach, breaches
from tests.random_instances import (
    SEVERAL,
    WITH_GROUPS,
    WITH_SLOTS,
    WITH_TIMES,
    instances,
    valid_schedules,
)

ALL = {**SEVERAL, **WITH_TIMES, **WITH_GROUPS, "switchings": WITH_SLOTS}

SEEDS = st.integers(0, 2**32 - 1)
MISTAKES = (
    *("drop", "copy", "move", "swap-paths", "swap-transfers", "swap-steps", "turn-all"),
    *("message", "node", "insert", "cut", "turn-path", "short", "random"),
    *("empty-step", "drop-step", "merge"),
)
ODD_NUMBERS = (-1, -7, 2**31, 2**63, -(2**63) - 1, 2**70)


def reported(instance: Instance, steps: Steps) -> set[Breach]:
    """Return what the referee says, without the words; each thing is said once."""
    violations = verify(instance, steps)
    assert all(v.rule in RULES and v.text and str(v) == v.text for v in violations)
    places = [
        (v.step if v.step >= 0 else len(steps), v.transfer < 0, v.transfer) for v in violations
    ]
    assert places == sorted(places)
    said = {Breach(v.rule, v.step, v.transfer, v.message, v.place) for v in violations}
    # In several ticks a transfer may be one too many at the same place.
    assert len(violations) == len({v.text for v in violations} if instance.network.times else said)
    return said


def corrupt(instance: Instance, steps: Steps, rng: random.Random) -> Steps:
    """Return the steps with one random mistake in them."""
    draft = [list(step) for step in steps]
    spots = [(s, t) for s, step in enumerate(draft) for t in range(len(step))]
    if not spots:
        return ((Transfer(0, (0, 1)),), *steps)
    s, t = rng.choice(spots)
    other, u = rng.choice(spots)
    message, path = draft[s][t]
    node = rng.choice([*range(instance.network.nodes), *ODD_NUMBERS[: rng.choice((0, 6))]])
    at = rng.randrange(len(path) + 1)
    kind = rng.choice(MISTAKES)
    match kind:
        case "drop":
            del draft[s][t]
        case "copy":
            draft[other].insert(rng.randrange(len(draft[other]) + 1), draft[s][t])
        case "move":
            draft[other].append(draft[s].pop(t))
        case "swap-paths":
            there = draft[other][u]
            draft[s][t], draft[other][u] = (
                Transfer(message, there.path),
                Transfer(there.message, path),
            )
        case "swap-transfers":
            draft[s][t], draft[other][u] = draft[other][u], draft[s][t]
        case "swap-steps":
            draft[s], draft[other] = draft[other], draft[s]
        case "turn-all":
            draft.reverse()
        case "message":
            count = len(instance.collective.messages)
            message = rng.choice([*range(count + 1), *ODD_NUMBERS])
            draft[s][t] = Transfer(message, path)
        case "node":
            draft[s][t] = Transfer(message, (*path[:at], node, *path[at + 1 :]))
        case "insert":
            draft[s][t] = Transfer(message, (*path[:at], node, *path[at:]))
        case "cut":
            draft[s][t] = Transfer(message, (*path[:at], *path[at + 1 :]))
        case "turn-path":
            draft[s][t] = Transfer(message, path[::-1])
        case "short":
            draft[s][t] = Transfer(message, path[: rng.randrange(2)])
        case "empty-step":
            draft.insert(rng.randrange(len(draft) + 1), [])
        case "drop-step":
            del draft[s]
        case "merge":
            draft[s] += draft[other]
        case "random":
            nodes = rng.choices(range(-1, instance.network.nodes + 1), k=rng.randrange(6))
            draft[s][t] = Transfer(message, tuple(nodes))
    return tuple(tuple(step) for step in draft)


@settings(max_examples=examples(150))
@given(valid_schedules(**ALL))
def test_valid_schedules_pass(schedule):
    assert breaches(schedule.instance, schedule.steps) == set()
    assert verify_schedule(schedule) == ()


@settings(max_examples=examples(400))
@given(valid_schedules(**ALL), SEEDS, st.integers(1, 3))
def test_same_verdict_as_the_plain_twin(schedule, seed, mistakes):
    rng = random.Random(seed)
    for _ in range(4):
        steps = schedule.steps
        for _ in range(mistakes):
            steps = corrupt(schedule.instance, steps, rng)
        assert reported(schedule.instance, steps) == breaches(schedule.instance, steps)


def arbitrary_steps() -> st.SearchStrategy[Steps]:
    number = st.one_of(st.integers(-1, 7), st.integers(), st.sampled_from(ODD_NUMBERS))
    path = st.lists(number, max_size=5).map(tuple)
    step = st.lists(st.builds(Transfer, number, path), max_size=6).map(tuple)
    return st.lists(step, max_size=5).map(tuple)


@settings(max_examples=examples(150))
@given(valid_schedules(**ALL), SEEDS, st.sampled_from([1, 2, 5, 40]), st.integers(1, 30))
def test_large_schedules_are_checked_in_parts(schedule, seed, block, cells):
    """Tiny blocks and tables, in which entries are shared, report the same in the same order."""
    rng, steps = random.Random(seed), schedule.steps
    for _ in range(4):
        steps = corrupt(schedule.instance, steps, rng)
        found = verify(schedule.instance, steps)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verify_module, "_BLOCK", block)
            for module in (verify_module, capacities):
                patch.setattr(module, "CELLS", cells)
            assert verify(schedule.instance, steps) == found


@settings(max_examples=examples(150))
@given(instances(**ALL), arbitrary_steps())
def test_nonsense_is_reported_and_never_raises(instance, steps):
    found = reported(instance, steps)
    assert found
    assert found == breaches(instance, steps)


@settings(max_examples=examples(60))
@given(valid_schedules(kinds=["deliver"], **SEVERAL, **WITH_TIMES), SEEDS)
def test_combine_is_deliver_read_backwards(schedule, seed):
    """The same mistake in a broadcast and in its mirror image: the same verdict, mirrored."""
    one = schedule.instance
    mirror = Instance(
        one.network.reversed(),
        Collective(
            "mirror", tuple(Reduction(m.destinations, m.source) for m in one.collective.messages)
        ),
        one.model.reversed(),
    )
    steps = corrupt(one, schedule.steps, random.Random(seed))
    turned = {"inject-overload": "accept-overload", "accept-overload": "inject-overload"}

    def rule_of(violation: Violation) -> str:
        return turned.get(violation.rule, violation.rule)

    there = {(v.rule, v.step, v.transfer, v.message) for v in verify(one, steps)}
    back = {
        (rule_of(v), len(steps) - 1 - v.step if v.step >= 0 else -1, v.transfer, v.message)
        for v in verify(mirror, reverse_steps(steps))
    }
    assert there == back
