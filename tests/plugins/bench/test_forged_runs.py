"""Runs of schedules that no engine made: none counts, and one line names what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cchybrid_plugins.bench.checking import check
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.schedule_checks import checked_columns, schedule_record, stored_schedule
from cchybrid_plugins.bench.store import Run

import cchybrid
from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.host.wire import steps_to_line
from cchybrid.model import FlatSteps
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_from_json
from cchybrid.plugin.benchmark import Checked
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import packed, stored_under
from tests.plugins.bench.small_suites import changed, schedules

Result = dict[str, Any]
EVIDENCE = {"kind": "linear", "steps": 2, "channels": [[1, 0, 1], [3, 0, 1]]}
"""The proof of two steps for an all-to-all scatter on a ring of four nodes."""


def checked(run: Run) -> Checked:
    """Return the check of a run against the instance of the first row."""
    registry = load_registry()
    kind, row = registry.benchmark("schedules"), schedules().suite.rows[0]
    return check(run, row, kind, kind.digest(row, registry))


def raised(result: Result, record: Any, steps: int) -> None:
    """Raise the bound to this number of steps."""
    result["lower_bound"] = record["lower_bound"]["steps"] = steps


def in_one_step(result: Result, record: Any) -> None:
    """Put both steps into one."""
    record["steps"] = [[move for step in record["steps"] for move in step]]
    result["steps"] = 1
    raised(result, record, 1)


def contributed(result: Result, steps: int | None) -> None:
    """Add a first schedule of this number of steps."""
    (entry,) = [each for each in result["contributions"] if each["what"] == "schedule"]
    result["contributions"].insert(0, {**entry, "steps": steps})


FORGED: tuple[tuple[str, Callable[[Result, Any], object]], ...] = (
    ("does not prove the bound", lambda result, record: raised(result, record, 3)),
    ("does not prove the bound", lambda result, record: (
        result.update(certified="yes"), raised(result, record, 3))),
    ("does not prove the bound", lambda result, record: (
        record["lower_bound"].update(evidence={"kind": "linear", "steps": 1}))),
    ("is no count", lambda result, record: raised(result, record, 10**1000)),
    ("kind of the evidence is missing", lambda result, record: (
        record["lower_bound"].pop("evidence"))),
    ("no kind of evidence is called 'luck'", lambda result, record: (
        record["lower_bound"].update(evidence={"kind": "luck"}))),
    ("kind of the evidence is missing", lambda result, record: (
        result.update(certified=False, certified_bound=2))),
    ("do not rule out", lambda result, record: result.update(
        certified=False, certified_bound=3, certified_evidence={"kind": "linear", "steps": 2})),
    ("does not prove the bound", lambda result, record: result.update(
        certified=False, certified_bound=3, certified_evidence=EVIDENCE)),
    ("not the one of the result", lambda result, record: record.pop("lower_bound")),
    ("not the one of the result", lambda result, record: result.update(lower_bound=1)),
    ("not the one of the result", lambda result, record: result.update(steps=1)),
    ("not the one of the result", lambda result, record: result.update(steps="\u0662")),
    ("never reaches", lambda result, record: (record["steps"].pop(), result.update(steps=1))),
    ("never reaches", lambda result, record: record["steps"][0].pop()),
    ("more than once", lambda result, record: record["steps"].append(record["steps"][0])),
    ("carries 2 messages", in_one_step),
    ("its instance differs", lambda result, record: result.update(digest=result["digest"].upper())),
    ("its instance differs", lambda result, record: result.clear()),
    ("the routing allows", lambda result, record: (
        record["instance"]["network"]["channels"].append([0, 2]))),
    ("there is no message 11", lambda result, record: (
        record["instance"]["collective"]["messages"].pop())),
    ("the format is", lambda result, record: record.update(format="other")),
    ("called infeasible", lambda result, record: result.update(status="infeasible")),
    ("KeyError: 'status'", lambda result, record: result.pop("status")),
    ("seconds is 'soon'", lambda result, record: result.update(seconds="soon")),
    ("is no count", lambda result, record: result.update(conflicts=10**30)),
    ("contributions do not match", lambda result, record: contributed(result, 1)),
    ("contributions do not match", lambda result, record: contributed(result, None)),
    ("contributions do not match", lambda result, record: result.update(contributions=[])),
    ("its schedule is of 99 s, but it took", lambda result, record: (
        result.update(seconds_to_best=99.0))),
    ("KeyError", lambda result, record: result.update(contributions=[{"author": "tabu"}])),
)  # fmt: skip


def in_arrays(_: Result, record: Any) -> None:
    """Put the steps into arrays, as those of a large schedule are stored."""
    record["steps"] = steps_to_line(FlatSteps.of(steps_from_json(record["steps"], "steps")))


@pytest.mark.slow
@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize(("reason", "change"), FORGED)
def test_a_forged_run_does_not_count(
    reason: str, change: Callable[[Result, Any], object], arrays: bool
) -> None:
    run = schedules().runs[0]
    forged = changed(run, change)
    if arrays:
        run, forged = changed(run, in_arrays), changed(forged, in_arrays)
    assert checked(run).failure == ""
    found = checked(forged)
    assert not found.held
    assert found.failure.startswith("does not hold: ")
    assert reason in found.failure
    assert found.failure.isprintable()


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"rubbish", "incorrect header check"),
        (packed([1])[:-2], "cut short, or too large"),
        (packed([1]), "is not an object"),
        (packed({}), "the key is missing"),
        (None, "the schedule is missing"),
    ],
)
def test_a_record_that_is_not_the_schedule_does_not_count(
    record: bytes | None, reason: str
) -> None:
    assert reason in checked(replace(schedules().runs[0], record=record)).failure


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ({}, "not the arrays of steps"),
        ({"message": "1", "first": "1", "node": "1", "start": "1x"}, "base64"),
        ({"message": "1AA==", "first": "1AA==", "node": "1", "start": "1AA=="}, "do not divide"),
        ("steps", "is not a list"),
    ],
)
def test_arrays_that_are_no_steps_do_not_count(steps: Any, reason: str) -> None:
    run = changed(schedules().runs[0], lambda _, record: record.update(steps=steps))
    assert reason in checked(run).failure


def test_a_schedule_of_flat_steps_is_stored_as_its_arrays() -> None:
    schedule = stored_schedule(schedules().runs[0])
    assert schedule is not None
    plain, flat = (
        schedule_record(schedule),
        schedule_record(replace(schedule, steps=FlatSteps.of(schedule.steps))),
    )
    assert plain == schedule.to_json()
    assert sorted(flat["steps"]) == ["first", "message", "node", "start"]
    found = stored_schedule(replace(schedules().runs[0], record=packed(flat)))
    assert found == schedule
    assert isinstance(found.steps, FlatSteps)


def test_a_packed_record_must_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    run = changed(schedules().runs[0], lambda _, record: record.update(x={"a": " " * 100_000}))
    monkeypatch.setattr("cchybrid_plugins.bench.store.MAX_FILE_CHARACTERS", 50_000)
    assert "too large" in checked(run).failure


def test_a_claim_is_no_certificate() -> None:
    """A bound without evidence may stand in a store, as a claim."""
    found = checked(changed(schedules().runs[0], lambda result, _: result.update(
        certified=False, certified_bound=0)))  # fmt: skip
    assert found.held
    assert (found.found["certified"], found.found["certified_bound"]) == (False, 0)


def test_engines_may_be_behind_the_greedy_schedule_of_the_host() -> None:
    def behind(result: Result, engine: str) -> None:
        contributed(result, 4)
        result.update(contributions=result["contributions"][:1], engine=engine)

    run = schedules().runs[0]
    for engine, reason in (("colouring", "contributions do not match"), (HOST_GREEDY, "")):
        contestant = replace(run.contestant, first_schedule=True)
        forged = changed(run, lambda result, _, engine=engine: behind(result, engine))
        found = checked(stored_under(forged, contestant))
        assert reason in found.failure
        assert bool(reason) == bool(found.failure)


def with_greedy(run: Run, steps: int, *found: tuple[float, int]) -> Run:
    """Return a run with a greedy schedule after 0.1 s, and with these times and steps of others."""

    def change(result: Result, _: Any) -> None:
        (entry,) = [each for each in result["contributions"] if each["what"] == "schedule"]
        first = {**entry, "author": HOST_GREEDY, "seconds": 0.1, "steps": steps}
        more = [{**entry, "seconds": at, "steps": count} for at, count in found]
        result.update(contributions=[first, *more], seconds=2.0, seconds_to_best=found[-1][0])

    contestant = replace(run.contestant, first_schedule=True)
    return stored_under(changed(run, change), contestant)


@pytest.mark.parametrize(
    ("greedy", "kept", "seconds"),
    [
        (3, [(HOST_GREEDY, 3), ("colouring", 2), ("colouring", 2)], 0.3),
        (2, [(HOST_GREEDY, 2), ("colouring", 2)], 0.1),
        (4, [(HOST_GREEDY, 4), ("colouring", 2), ("colouring", 2)], 0.3),
        (5, [(HOST_GREEDY, 5), ("colouring", 4), ("colouring", 2), ("colouring", 2)], 0.3),
    ],
)
def test_contributions_are_better_than_the_greedy_schedule(
    greedy: int, kept: list[tuple[str, int]], seconds: float
) -> None:
    """The last schedule has as many steps as that before, and fewer channel uses.

    Of the others it is not known how many uses they have beside the greedy one.
    """
    found = checked(with_greedy(schedules().runs[0], greedy, (0.2, 4), (0.3, 2), (0.9, 2))).found
    assert [
        (entry.author, entry.steps) for entry in found["contributions"] if entry.what == "schedule"
    ] == kept
    assert found["seconds_to_best"] == seconds


@pytest.mark.parametrize("greedy", [2, 3])
def test_engines_improve_on_one_another_where_the_greedy_schedule_is_the_result(
    greedy: int,
) -> None:
    def behind(result: Result, _: Any) -> None:
        first, *found = result["contributions"]
        found = [{**each, "seconds": at} for each, at in zip(found, (0.05, 0.06, 0.2), strict=True)]
        result.update(contributions=[*found[:2], first, found[2]], engine=HOST_GREEDY)
        result["seconds_to_best"] = 0.1

    run = with_greedy(schedules().runs[0], 2, (0.2, greedy), (0.3, greedy), (0.9, greedy))
    found = checked(changed(run, behind))
    assert not found.failure
    entries = [each for each in found.found["contributions"] if each.what == "schedule"]
    assert [each.seconds for each in entries] == [0.05, 0.06, 0.1]


def test_the_result_is_no_worse_than_the_greedy_schedule() -> None:
    forged = with_greedy(schedules().runs[0], 1, (0.3, 2))
    assert "contributions do not match" in checked(forged).failure


@pytest.mark.parametrize(
    ("spent", "seconds"),
    [({}, 0.0), (None, None), ({"a": 1.0}, None), ({"a": {"processor": 0.5, "wall": 1}}, 0.5)],
)
def test_engines_that_were_not_started_took_no_time(spent: Any, seconds: float | None) -> None:
    run = changed(
        schedules().runs[0],
        lambda result, _: result.update(start_seconds=spent, search_seconds=spent),
    )
    found = checked(run).found
    assert (found["start_seconds"], found["search_seconds"]) == (seconds, seconds)


@pytest.mark.parametrize(
    ("unfinished", "spent", "cut_off"),
    [
        (["a"], {"a": {"processor": 1.0, "wall": 1.0}}, True),
        ([], {"a": {"processor": 1.0, "wall": 1.0}}, False),
        ([], {}, None),  # the time of the run says whether there was none for a search
    ],
)
def test_a_limit_cuts_off_a_search(unfinished: list[str], spent: Any, cut_off: bool | None) -> None:
    change = {"unfinished": unfinished, "start_seconds": {}, "search_seconds": spent}
    run = changed(schedules().runs[0], lambda result, _: result.update(change))
    assert checked(run).found["cut_off"] is cut_off


def test_runs_of_older_versions_and_rounded_times_count() -> None:
    def older(result: Result, _: Any) -> None:
        del result["contributions"]
        result.update(seconds=2.0, seconds_to_best=2.001)

    assert checked(changed(schedules().runs[0], older)).failure == ""


def without_a_schedule(**facts: Any) -> Run:
    """Return a run on a ring of four nodes that has a bound, but no schedule."""
    instance = cchybrid.instance("ring-bi-4", "AAS")
    result = {
        "status": "unknown", "lower_bound": 2, "certified": True,
        "evidence_without_schedule": EVIDENCE, "instance_record": instance.to_json(),
        "digest": instance.digest, "seconds": 1.0, "seconds_to_best": 0.0, "engine": "",
        "bound_by": "cut", "versions": {}, "troubles": [],
    }  # fmt: skip
    return Run("ring-bi-4 AAS", Contestant(), 0, "", result | facts)


LESS = {
    "lower_bound": 9, "certified": False, "certified_bound": 2, "evidence_without_schedule": None,
    "certified_evidence": EVIDENCE,
}  # fmt: skip
"""A certified bound below a claimed one."""


def test_a_bound_without_a_schedule_counts() -> None:
    assert checked_columns(without_a_schedule())["certified"]
    assert checked_columns(without_a_schedule(**LESS))["certified_bound"] == 2


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({**LESS, "certified_bound": 3}, "the bound does not hold"),
        ({**LESS, "certified_evidence": None}, "evidence of the bound is missing"),
        ({"evidence_without_schedule": None}, "evidence of the bound is missing"),
        ({"evidence_without_schedule": None, "status": "infeasible", "certified": False,
          "lower_bound": 0}, "evidence of the bound is missing"),
        ({"lower_bound": 3}, "the bound does not hold"),
        ({"evidence_without_schedule": {"kind": "linear", "steps": 2, "accept": [[9, 1]]}}, "hold"),
        ({"instance_record": cchybrid.instance("ring-bi-8", "AAS").to_json()}, "another instance"),
        ({"instance_record": {"format": "cchybrid-instance/1"}}, "the bound does not hold"),
        ({"status": "infeasible",
          "evidence_without_schedule": {"kind": "unreachable", "message": 0}}, "does not hold"),
        ({"conflicts": 0}, "no conflicts are left, but the schedule is missing"),
        ({"steps": 2}, "the schedule is missing"),
    ],
)  # fmt: skip
def test_a_bound_without_a_schedule_is_checked(facts: Result, words: str) -> None:
    with pytest.raises(InputError, match=words):
        checked_columns(without_a_schedule(**facts))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"status": "feasible", "steps": 5, "lower_bound": 4}, "5 steps, at least 4 (claimed)"),
        ({"status": "feasible", "steps": 5, "lower_bound": 4, "certified": True},
         "5 steps, at least 4"),
        ({"status": "optimal", "steps": 4, "lower_bound": 4}, "4 steps, optimal (claimed)"),
        ({"status": "unknown", "lower_bound": 4}, "nothing found; at least 4 steps (claimed)"),
        ({"status": "unknown", "lower_bound": 1}, "nothing found; at least 1 step"),
        (
            {"status": "unknown", "lower_bound": 1, "remarks": ["tabu: was still starting"]},
            "nothing found; at least 1 step; tabu: was still starting",
        ),
    ],
)  # fmt: skip
def test_a_bound_without_evidence_is_called_claimed(result: Result, words: str) -> None:
    kind = load_registry().benchmark("schedules")
    time = ", 1.0 s" if "steps" in result else ""
    assert kind.words({"seconds": 1.0, **result}) == words + time
