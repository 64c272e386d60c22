"""The checker's own verification of schedules: the mistakes by hand, and the referee's verdicts."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.checker import EvidenceError
from cchybrid.checker.schedule import checked_schedule
from cchybrid.model import Instance, Schedule, Steps, Transfer
from cchybrid.referee.verify import verify
from tests.broken_schedules import MISTAKES, VALID, changed, steps_of
from tests.examples import examples
from tests.random_instances import SEVERAL, WITH_GROUPS, WITH_SLOTS, WITH_TIMES, valid_schedules
from tests.referee.test_verify_random import SEEDS, corrupt


def accepts(instance: Instance, steps: Steps) -> bool:
    """Return whether the checker takes the steps for a valid schedule."""
    try:
        checked_schedule(Schedule(instance, steps).to_json())
    except EvidenceError:
        return False
    return True


@pytest.mark.parametrize("name", VALID)
def test_valid_schedules(name: str) -> None:
    instance, raw = VALID[name]
    network, moves = checked_schedule(Schedule(instance, steps_of(raw)).to_json())
    assert network.backwards == (instance.collective.kind == "combine")
    assert moves == [[(*move, frozenset()) for move in step] for step in raw]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_every_mistake_is_refused(mistake: str) -> None:
    name, changes, _ = MISTAKES[mistake]
    instance, raw = VALID[name]
    assert not accepts(instance, changed(raw, changes))


@pytest.mark.parametrize("mistake", [name for name in MISTAKES if len(MISTAKES[name][2]) > 1])
def test_a_mistake_is_refused_without_the_empty_step_beside_it(mistake: str) -> None:
    """Most transfers that use too much were taken out of a step that is empty then."""
    name, changes, expected = MISTAKES[mistake]
    instance, raw = VALID[name]
    steps = tuple(step for step in changed(raw, changes) if step)
    assert {rule for rule, *_ in expected} - {"empty-step"}
    assert verify(instance, steps)
    assert not accepts(instance, steps)


def test_what_is_refused_is_shown_in_one_line_of_bounded_length() -> None:
    path = tuple(node % 2 for node in range(1000))
    broadcast = cchybrid.instance("ring-bi-4", "OAB")
    allreduce = cchybrid.instance("ring-bi-200", "allreduce")
    for schedule in (
        Schedule(broadcast, ((Transfer(0, path),),)),
        Schedule(allreduce, ((Transfer(0, (0, 1)),),), sums=((tuple(range(200)),),)),
    ):
        with pytest.raises(EvidenceError, match=r"^[^\n]{40,200}$"):
            checked_schedule(schedule.to_json())


def test_a_refusal_names_the_step() -> None:
    ring = cchybrid.instance("ring-bi-4", "OAB")
    once = (Transfer(0, (0, 1)), Transfer(0, (0, 3)))
    for steps, text in (
        ((once, (Transfer(0, (0, 1)),)), "step 2: node 1 has these parts of message 0 already"),
        (
            (once, (Transfer(0, (2, 1)),)),
            r"step 2: node 2 cannot send parts \[0\] of message 0 yet",
        ),
        ((once, ()), "step 2: the step is empty"),
    ):
        with pytest.raises(EvidenceError, match=f"^the schedule is not valid: {text}$"):
            checked_schedule(Schedule(ring, steps).to_json())


def test_a_refusal_of_a_reduction_counts_its_steps_from_the_last() -> None:
    steps = ((Transfer(0, (1, 0)),), (Transfer(0, (2, 0)),))
    text = "^the schedule is not valid: step 1 from the last: the path "
    with pytest.raises(EvidenceError, match=text):
        checked_schedule(Schedule(cchybrid.instance("ring-bi-4", "AOR"), steps).to_json())


@settings(max_examples=examples(300))
@given(
    valid_schedules(switchings=WITH_SLOTS, **SEVERAL, **WITH_TIMES, **WITH_GROUPS),
    SEEDS,
    st.integers(1, 2),
)
def test_the_referee_and_the_checker_agree(schedule: Schedule, seed: int, mistakes: int) -> None:
    instance, rng = schedule.instance, random.Random(seed)
    assert accepts(instance, schedule.steps)
    for _ in range(4):
        steps = schedule.steps
        for _ in range(mistakes):
            steps = corrupt(instance, steps, rng)
        assert accepts(instance, steps) == (not verify(instance, steps))


ONE_MESSAGE = {"kind": "deliver", "messages": [{"source": 0, "destinations": [1]}]}
ONE_SUM = {"kind": "allreduce", "messages": [{"members": [0, 1]}]}


def read(path: Any = (0, 1), message: Any = 0, collective: Any = ONE_MESSAGE, **more: Any) -> Any:
    """Return a schedule file of one transfer between two nodes."""
    move = {"message": message, "path": list(path) if isinstance(path, tuple) else path, **more}
    network = {"nodes": 2, "channels": [[0, 1], [1, 0]]}
    instance = {"format": "cchybrid-instance/2", "network": network, "collective": collective}
    return {"format": "cchybrid-schedule/2", "instance": instance, "steps": [[move]]}


def test_both_formats_are_read() -> None:
    for name in ("cchybrid-schedule/1", "cchybrid-schedule/2"):
        _, steps = checked_schedule({**read(), "format": name})
        assert steps == [[(0, (0, 1), frozenset())]]


def test_what_is_no_schedule_is_refused() -> None:
    for record in (None, [], "text", {}, {**read(), "format": "cchybrid-schedule/3"}):
        with pytest.raises(EvidenceError, match="this is no cchybrid-schedule/1 or cchybrid-sch"):
            checked_schedule(record)
    with pytest.raises(EvidenceError, match="the instance is not well-formed"):
        checked_schedule({"format": "cchybrid-schedule/1", "steps": []})
    for broken in (
        read(message=-1), read(message=True), read(message="0"), read(message=10**40 + 1),
        read("01"), read({0: 1}), read((0, -1)), read((0, 1.0)), read(None),
        {key: value for key, value in read().items() if key != "steps"},
        {**read(), "steps": {}}, {**read(), "steps": [1]}, {**read(), "steps": [[1]]},
        {**read(), "steps": [dict(enumerate(read()["steps"][0]))]}, read((0, True)),
        {**read(), "steps": [[{"message": 0}]]}, {**read(), "steps": [[{"path": [0, 1]}]]},
        {**read(), "steps": "text"},
        {**read(), "steps": [[{"message": 0, "path": [0, 1], "sum": [0]}]]},
    ):  # fmt: skip
        with pytest.raises(EvidenceError, match="the steps of the schedule are not well-formed"):
            checked_schedule(broken)
    for message in (1, 2):
        with pytest.raises(EvidenceError, match="a message that the collective does not have"):
            checked_schedule(read(message=message))


@pytest.mark.parametrize("path", [(), (0,), (2,), (2, 1), (1, 2), (0, 2, 1), (0, 10**40), (0, 0)])
@pytest.mark.parametrize("switching", ["wormhole", "store-and-forward"])
def test_paths_without_a_channel_are_refused(path: tuple[int, ...], switching: str) -> None:
    record = read(path)
    record["instance"]["model"] = {"switching": switching}
    with pytest.raises(EvidenceError, match=r"step 1: the path \[.* is not allowed"):
        checked_schedule(record)


def test_sums_of_an_allreduce() -> None:
    whole = read(collective=ONE_SUM, sum=[0])
    whole["steps"].append([{"message": 0, "path": [1, 0], "sum": [1, 0]}])
    _, steps = checked_schedule(whole)
    assert steps == [[(0, (0, 1), {0})], [(0, (1, 0), {0, 1})]]
    with pytest.raises(EvidenceError, match="allreduce is no cchybrid-schedule/2"):
        checked_schedule({**whole, "format": "cchybrid-schedule/1"})
    with pytest.raises(EvidenceError, match="a sum counts a part twice"):
        checked_schedule(read(collective=ONE_SUM, sum=[0, 1, 0]))
    for more in ({}, {"sum": "0"}, {"sum": [-1]}, {"sum": [False]}, {"sum": 1}):
        with pytest.raises(EvidenceError, match="the steps of the schedule are not well-formed"):
            checked_schedule(read(collective=ONE_SUM, **more))
