"""The state of a run: every event is verified, and the same events give the same state."""

import json
import random
import re
from typing import Any

import pytest

import cchybrid
from cchybrid.host.events import (
    Bound,
    Compiled,
    Compiling,
    End,
    Exited,
    Failed,
    Garbled,
    Infeasible,
    Offer,
    Opened,
    Overdue,
    Progress,
    Silent,
    Spent,
    Started,
    Suggest,
    Unsupported,
)
from cchybrid.host.replay import replay, replay_file
from cchybrid.host.run_config import RunConfig
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.task import HOST, Announce, Dismiss
from cchybrid.model import LowerBound, Transfer
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.plugin.registry import load_registry
from tests.host.test_blackboard import GOOD, GROWTH, RING

LONGER = ((Transfer(0, (0, 1)),), (Transfer(0, (0, 3)),), (Transfer(0, (1, 2)),))


def opened(*events: tuple[Any, ...], **rest: Any) -> ScheduleTask:
    """Return the state of a run of engines a and b, the second one exact, after some events."""
    state = ScheduleTask(RING, **rest)
    workers = Opened("a", "engine"), Opened("b", "engine", proves=True)
    for seat, worker in enumerate((*workers, Opened("bound providers", "bounds")), 1):
        state.apply(0.1, seat, worker)
    for event in events:
        state.apply(*event)
    return state


def kinds(actions: list[Any]) -> list[str]:
    return [
        action.event if isinstance(action, Announce) else type(action).__name__.lower()
        for action in actions
    ]


def test_a_better_schedule_is_announced_and_shared_with_the_others():
    state = opened()
    actions = state.apply(1.0, 1, Offer(LONGER, 3, ""))
    assert kinds(actions) == ["schedule", "share"]
    assert actions[1].author == 1
    assert state.apply(2.0, 2, Offer(LONGER, 3, "")) == []
    assert kinds(state.apply(3.0, 2, Offer(GOOD, 1, "quotient"))) == ["schedule", "share"]
    assert (state.best, state.found_by, state.found_at) == (2, "b", 3.0)
    assert [entry.author for entry in state.history.contributions] == ["a", "b"]


def test_a_worker_that_is_killed_when_all_is_done_is_no_trouble():
    state = opened((1.0, 1, Offer(GOOD, 1, "")), (1.0, 3, Bound(2, GROWTH, provider="growth")))
    assert state.done
    state.apply(2.0, 2, Exited("killed"))
    assert not state.troubles


def test_the_seconds_of_all_workers_of_an_engine_are_added():
    state = opened(
        (0.1, 4, Opened("a", "engine")),
        (0.2, 1, Started(True, {})),
        (1.0, 1, Failed("RuntimeError: no")),
        (1.0, 1, Spent(0.5, 0.75, 1.0, 2.0)),  # also of a worker that is not trusted
        (1.0, 4, Spent(0.25, 0.5, 0.0, 0.0)),
        (1.0, 2, Spent(0.125, 0.25, 0.0, 0.0)),  # it had not started
        (1.0, 3, Spent(9.0, 9.0, 9.0, 9.0)),  # no engine
    )
    start = {"a": {"processor": 0.75, "wall": 1.25}, "b": {"processor": 0.125, "wall": 0.25}}
    assert state.start_seconds == start
    assert state.search_seconds == {"a": {"processor": 1.0, "wall": 2.0}}


@pytest.mark.parametrize(
    ("event", "unfinished"),
    [
        (End(Stop.STALLED), ("b",)), (Failed("ValueError"), ("b",)), (Exited("exit", 1), ("b",)),
        (Unsupported("messages are forwarded", False), ("b",)),
        (End(Stop.LIMIT), ("a", "b")), (Exited("killed"), ("a", "b")), (Offer(GOOD, 1, ""), ()),
    ],
)  # fmt: skip
def test_engines_that_a_limit_ended_are_named(event: Any, unfinished: tuple[str, ...]) -> None:
    started = (0.2, 1, Started()), (0.2, 2, Started())
    state = opened(*started, (0.5, 3, Bound(2, GROWTH, False, "growth")), (1.0, 1, event))
    result = state.result(RunConfig([], [], budget=Budget(1.0, None, 1, None)))
    assert (result.unfinished, result.to_json()["unfinished"]) == (unfinished, [*unfinished])


@pytest.mark.parametrize(
    ("events", "unfinished"),
    [
        ([], ()),
        ([(0.2, 2, Started())], ("b",)),
        ([(0.2, 1, Started()), (0.3, 4, Opened("a", "engine"))], ("a",)),  # its next time slice
        ([(0.2, 1, Spent(0.5, 0.5, 0.0, 0.0)), (0.2, 2, Spent(0.5, 0.5, 0.5, 0.5))], ("b",)),
        ([(0.2, 3, Spent(0.5, 0.5, 0.5, 0.5))], ()),
        ([(0.2, 1, Started()), (0.3, HOST, Infeasible({"kind": "unreachable"}))], ()),
    ],
)  # fmt: skip
def test_engines_are_unfinished_only_in_a_search_that_had_begun_and_could_matter(
    events: list[tuple[float, int, Any]], unfinished: tuple[str, ...]
) -> None:
    """Of work on other machines, only the seconds of the search show that it had begun."""
    state = opened(*events, (1.0, 1, Exited("terminated")), (1.0, 2, Exited("terminated")))
    result = state.result(RunConfig([], [], budget=Budget(1.0, None, 1, None)))
    assert result.unfinished == unfinished


@pytest.mark.parametrize("collective", ["OAB", "allreduce"])
@pytest.mark.parametrize(("failed", "seconds"), [({"fail_links": ["0>1"]}, 100.0), ({}, 0.01)])
def test_a_run_without_any_search_and_its_replay_have_no_unfinished_engines(
    collective: str, failed: dict[str, Any], seconds: float
) -> None:
    """There is no schedule, or no time."""
    lines: list[Any] = []
    instance = cchybrid.instance("ring-uni-4", collective, **failed)
    result = cchybrid.solve(instance, time_limit=seconds, first_schedule=False, log=lines.append)
    assert result.unfinished == replay(json.loads(json.dumps(lines)))[0].unfinished == ()


def test_an_engine_whose_kernels_are_late_takes_part_and_is_a_remark():
    state = opened((0.2, HOST, Compiling(("a", "b"))), (9.0, HOST, Compiled("a", 8.8, late=True)))
    assert (state.history.compiling, state.history.finished, state.troubles) == ({"b"}, set(), [])
    assert state.remarks == ["a: the machine is busy; it compiles its kernels when it starts"]


def test_a_schedule_below_a_certified_bound_is_a_defect_and_no_result():
    state = opened((0.2, 1, Offer(GOOD, 0, "")))
    state.blackboard.certified = LowerBound(3, GROWTH)  # as a wrong checker would have it
    with pytest.raises(InputError, match="of 2 steps, a certified bound of 3; one of them is"):
        state.result(RunConfig([], [], budget=Budget(1.0, None, 1, None)))


def test_the_hosts_schedule_is_a_result_but_is_not_shared():
    state = opened()
    assert kinds(state.apply(0.2, HOST, Offer(GOOD, 0, ""))) == ["schedule"]
    assert (state.best, state.found_by, state.offered) == (2, "host greedy", False)
    assert (state.history.best, state.history.gain(("host greedy", "instance"))) == (None, 0.0)
    # A longer schedule of an engine is shared, but it is not the best.
    assert kinds(state.apply(1.0, 1, Offer(LONGER, 3, ""))) == ["share"]
    assert (state.best, state.found_by, state.offered) == (2, "host greedy", True)
    found = [(entry.author, entry.steps) for entry in state.history.contributions]
    assert found == [("host greedy", 2), ("a", 3)]
    assert state.effort.facts(True, False)["evaluations_to_best"] is None
    state.apply(2.0, 3, Bound(2, GROWTH, False, "growth"))
    assert state.done
    assert state.is_certified


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Offer((GOOD[0],), 0, ""), "a: offered an invalid schedule"),
        (Bound(2, None, True, ""), "a: claimed a bound although it is not registered as exact"),
        (Bound(9, GROWTH, True, ""), "a: gave evidence for 2 steps, not for 9"),
        (Failed("RuntimeError: no"), "a: failed: RuntimeError: no"),
        (Garbled("sent a line that is not JSON"), "a: sent a line that is not JSON"),
    ],
)
def test_a_breach_ends_the_worker_and_names_it(event, words):
    state = opened()
    actions = state.apply(1.0, 1, event)
    assert kinds(actions) == ["trouble", "dismiss"]
    assert actions[1] == Dismiss(1)
    assert state.troubles[0].startswith(words)
    # Its later events are ignored.
    assert state.apply(2.0, 1, Offer(GOOD, 0, "")) == []
    assert state.best is None
    assert ("a", "instance") in state.history.finished


def test_a_schedule_that_beats_a_claim_ends_its_author():
    state = opened()
    assert kinds(state.apply(1.0, 2, Bound(7, None, True, ""))) == ["bound", "share"]
    assert (state.blackboard.lower, state.lower_by) == (7, "b")
    actions = state.apply(2.0, 1, Offer(GOOD, 1, ""))
    assert kinds(actions) == ["schedule", "share", "trouble", "dismiss"]
    assert state.blackboard.lower == state.history.lower == 1
    state = opened((1.0, HOST, Offer(GOOD, 0, "")))
    assert kinds(state.apply(2.0, 2, Bound(7, None, True, ""))) == ["trouble", "dismiss"]


def test_a_proof_below_a_claim_is_one_of_what_it_proves():
    state = opened((1.0, 2, Bound(7, None, True, "")))
    announced = state.apply(2.0, 3, Bound(2, GROWTH, False, "growth"))[0]
    assert announced.content == {"engine": "growth", "steps": 2, "certified": True}


def test_a_wrong_provider_does_not_end_the_worker_that_it_shares():
    state = opened()
    assert kinds(state.apply(1.0, 3, Bound(9, GROWTH, False, "boaster"))) == ["trouble"]
    assert state.apply(1.1, 3, Bound(9, GROWTH, False, "boaster")) == []
    assert kinds(state.apply(1.2, 3, Bound(2, GROWTH, False, "growth"))) == ["bound", "share"]


@pytest.mark.parametrize(
    ("before", "how", "words"),
    [
        ([], Exited("signal", 11, "oh"), "a: crashed (signal 11): oh"),
        ([], Exited("exit", 0), "a: crashed (exit 0)"),
        ([], Exited("killed"), "a: did not stop when asked and ignored SIGTERM; killed"),
        ([Overdue(), End(Stop.LIMIT)], Exited("exit"), "a: did not stop when asked; terminated"),
        ([Overdue()], Exited("terminated"), "a: did not stop when asked; terminated"),
        ([End(Stop.STALLED)], Exited("exit", 3), None),
        ([Started()], Exited("terminated"), None),
    ],
)
def test_how_a_worker_ended_is_reported(before, how, words):
    state = opened(*((1.0, 1, event) for event in before), (2.0, 1, how))
    assert state.troubles == ([] if words is None else [words])


def test_a_worker_that_did_not_get_to_start_is_a_remark():
    state = opened((1.0, 1, Exited("terminated")))
    assert state.remarks == ["a: was still starting when its time was up"]


def test_a_silent_engine_is_marked_until_it_sends_an_event():
    state = opened((1.0, 1, Started()), (4.0, 1, Silent(3.0)))
    assert state.seats[1].silent
    state.apply(5.0, 1, Progress(3, 1))
    assert not state.seats[1].silent


ON_QUOTIENTS = (1.0, 4, Opened("a", "engine", "quotients"))


def test_what_an_engine_cannot_do_is_a_remark_once():
    state = opened(ON_QUOTIENTS, *((1.0, seat, Unsupported("too large")) for seat in (1, 4)))
    assert state.remarks == ["a: too large"]
    assert state.history.finished == {("a", "instance"), ("a", "quotients")}


def test_an_instance_without_symmetry_is_known_from_a_search_on_quotients():
    state = opened(ON_QUOTIENTS)
    none = Unsupported("none", asymmetric=True)
    for seat, event in ((1, none), (4, Unsupported("too large")), (4, none)):
        assert not state.history.asymmetric
        state.apply(1.0, seat, event)
    assert state.history.asymmetric


def test_of_an_engines_near_solutions_the_last_is_a_contribution():
    drafts = (1, Suggest(2, GOOD[:1])), (1, Suggest(1, GOOD[:1])), (2, Suggest(3, LONGER[:2]))
    state = opened(*((1.0, *draft) for draft in drafts))
    assert [(entry.author, entry.what, entry.how) for entry in state.history.contributions] == [
        ("a", "draft", "1 steps, 1 violated rule"),
        ("b", "draft", "3 steps, 1 violated rule"),
    ]
    assert state.history.score(("a", "instance"), 0.5) == 0.5


def test_a_contribution_names_the_engine_that_seeded_it():
    first, seeded = Offer(LONGER, 3, ""), Offer(GOOD, 3, "from a's schedule of 3 steps", "a")
    stranger = Offer(GOOD, 3, "", "an engine that was not started")
    for events, seeds in ((((1, first), (2, seeded)), ["", "a"]), (((2, stranger),), [""])):
        state = opened(*((1.0, *event) for event in events))
        assert [entry.seeded_by for entry in state.history.contributions] == seeds


# Replay


def logged(*engines: str, **rest: Any) -> tuple[cchybrid.Result, list[dict[str, Any]]]:
    lines: list[dict[str, Any]] = []

    def log(line: Any) -> None:
        lines.append(json.loads(json.dumps(line, allow_nan=False)))

    instance = cchybrid.instance(*rest.pop("instance", ("mesh-3x3", "AAS")))
    return cchybrid.solve(instance, engines=engines or None, log=log, **rest), lines


@pytest.mark.long
@pytest.mark.parametrize(
    ("engines", "rest"),
    [
        ((), {"time_limit": 20}),
        (("colouring",), {"time_limit": 10, "strategy": "quotients", "steps": 5}),
        (("liar", "boast", "forge", "crash", "infinite"),
         {"time_limit": 12, "strategy": "race"}),
    ],
)  # fmt: skip
def test_a_recorded_run_replays_to_the_same_result(engines, rest, monkeypatch):
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines")
    result, lines = logged(*engines, registry=load_registry(), **rest)
    again, events = replay(lines)
    assert again.to_json() == result.to_json()
    assert again.schedule == result.schedule
    announced = [line for line in lines if line.get("event") not in (None, "run", "result")]
    assert json.loads(json.dumps(events)) == announced


@pytest.mark.slow
def test_a_log_that_was_tampered_with_does_not_give_more(recorded):
    lines = [json.loads(line) for line in recorded]
    for line in lines:
        if line.get("input") == "offer":
            line["steps"] = line["steps"][:1]
    again, _ = replay(lines)
    assert again.schedule is None
    assert any("invalid schedule" in text for text in again.troubles)


@pytest.mark.parametrize(
    ("cut", "words"),
    [
        (lambda lines: lines[1:], "no log of a run"),
        (lambda lines: [x for x in lines if x.get("input") != "finished"], "did not end"),
        (lambda lines: [*lines[:2], {"input": "dance"}, *lines[2:]], "unknown input 'dance'"),
        (lambda lines: [*lines[:2], {"input": "note"}, *lines[2:]], "unreadable"),
    ],
)
def test_a_file_that_is_no_log_is_refused(recorded, tmp_path, cut, words):
    lines = [json.loads(line) for line in recorded]
    path = tmp_path / "run.log"
    path.write_text("".join(json.dumps(line) + "\n" for line in cut(lines)))
    with pytest.raises(InputError, match=words) as caught:
        replay_file(path)
    assert "run.log" in str(caught.value)


VALUES = (None, -1, 1e9, [], {}, "x", 10**60, True, "\ud800", {"a": 1}, ["input"])


def damaged(lines: list[str], choice: random.Random) -> list[str]:
    """Return the lines of a log with one of them damaged."""
    number = choice.randrange(len(lines))
    before, line, after = lines[:number], lines[number], lines[number + 1 :]
    record = json.loads(line)
    key = choice.choice(list(record))
    value = choice.choice(VALUES)
    less = {name: content for name, content in record.items() if name != key}
    instead = choice.choice(
        [
            [],
            [line, line],
            [line[: choice.randrange(len(line))]],
            [json.dumps(value)],
            [json.dumps(less)],
            [json.dumps({**record, key: value})],
            [json.dumps({**record, key: 0.5}).replace("0.5", "1e999")],
        ]
    )
    return before + instead + after


@pytest.fixture(scope="module")
def recorded() -> list[str]:
    """The lines of a log with every kind of event of a short run."""
    _, lines = logged("colouring", time_limit=10, instance=("ring-bi-4", "AAS"))
    return [json.dumps(line) for line in lines]


@pytest.mark.parametrize("seed", range(3))
def test_a_damaged_log_is_replayed_or_gives_one_error_with_the_line(recorded, seed, tmp_path):
    choice = random.Random(seed)
    path = tmp_path / "run.log"
    for _ in range(60):
        path.write_text("".join(line + "\n" for line in damaged(recorded, choice)))
        text = ""
        try:
            json.dumps(replay_file(path).to_json(), allow_nan=False)
        except InputError as error:
            text = str(error)
        assert re.search(r"^$|line \d+|no log of a run|did not end", text)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("strategy", "magic", "strategy: no strategy is called magic"),
        ("strategy", None, "strategy: null is not a string"),
        ("budget", {"hours": 1}, "budget.hours: the format has no such key"),
        ("budget", {"seconds": "1"}, 'budget.seconds: "1" is not a number'),
        ("target", [], "target: [] is not an integer"),
        ("blind", 1, "blind: 1 is not true or false"),
        ("options", None, "options: null is not an object"),
        ("options", {"auto": {"slice": 1}}, "options.auto.slice: 1 is not a string"),
        ("instance", None, "the file: null is not an object"),
    ],
)
def test_a_wrong_first_line_of_a_log_is_named(recorded, key, value, words):
    lines = [json.loads(line) for line in recorded]
    with pytest.raises(InputError) as caught:
        replay([{**lines[0], key: value}, *lines[1:]])
    assert f"line 1: {words}" in str(caught.value)


def test_evidence_of_infeasibility_in_a_log_is_checked(recorded):
    lines = [json.loads(line) for line in recorded]
    evidence = {"kind": "unreachable", "message": 0, "destination": 1}
    wrong = {"input": "infeasible", "seconds": 0.1, "seat": 0, "evidence": evidence}
    with pytest.raises(InputError, match="line 3: unreadable"):
        replay([*lines[:2], wrong, *lines[2:]])


def test_the_hosts_schedule_refutes_a_claim_that_was_there_before_it():
    """As in a log that was edited: no run is optimal with fewer steps than its bound."""
    state = opened((0.2, 2, Bound(3, complete=True)), target=2)
    assert kinds(state.apply(0.3, HOST, Offer(GOOD, 0, ""))) == ["schedule", "trouble", "dismiss"]
    assert (state.blackboard.claims, state.best, state.is_optimal) == ({}, 2, False)
