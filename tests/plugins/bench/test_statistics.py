"""Rates, times and curves over outcomes made by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.contestant import Contestant, labels
from cchybrid_plugins.bench.report.reading import Reading, run_table
from cchybrid_plugins.bench.report.sections import compose
from cchybrid_plugins.bench.report.significance import NOT_SHOWN
from cchybrid_plugins.bench.report.standing import (
    compare,
    contradictions,
    standings,
    without_shared,
)
from cchybrid_plugins.bench.report.statistics import (
    judged,
    mean_of,
    performance_profile,
    scores,
    settled_over_time,
    staircase,
    times,
    wilson,
)
from cchybrid_plugins.bench.row import Published, Row
from pandas import NA, Series

from cchybrid.host.run_history import Contribution
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.plugin.benchmark import CheckedSuite

FAST = Contestant(("colouring",))
SLOW = Contestant(("cpsat",))


def outcome(row: str, contestant: Contestant, seed: int = 0, **facts: object) -> dict[str, Any]:
    known = {"steps": 4, "lower_bound": 4, "certified": True, "engine": "x", "seconds_to_best": 1.0}
    return {"row": f"{row} AAS", "key": contestant.key, "seed": seed, **known, **facts}


def read(*outcomes: dict[str, Any], **published: Mapping[str, object]) -> Reading:
    """Return the rows of these outcomes, with what was published of them, by their topology."""
    rows = [
        Row(InstanceSpec(name, "AAS"), Published(**published.get(name, {})))  # type: ignore[arg-type]
        for name in dict.fromkeys(outcome["row"].split()[0] for outcome in outcomes)
    ]
    checked = CheckedSuite(Path("x"), "x", rows, {})
    return Reading(tuple(rows), run_table(outcomes), checked)


def stand(*outcomes: dict[str, Any], **published: object) -> Any:
    """Return what stands in the row of these outcomes."""
    (found,) = standings(read(*outcomes, a=published)).itertuples()
    return found


def test_wilson() -> None:
    """As in Newcombe 1998 (Statistics in Medicine 17), table I, method 3."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)


def test_staircase_climbs_once_per_value() -> None:
    assert [*staircase(Series([3.0, 1.0, 3.0, math.inf]), 4).items()] == [(1.0, 0.25), (3.0, 0.75)]
    assert staircase(Series(dtype=float), 4).empty


def test_scores() -> None:
    reading = read(
        outcome("a", FAST, 0, seconds_to_best=2.0),
        outcome("a", FAST, 1, steps=5),
        outcome("a", SLOW, 0, steps=None, failure="crashed"),
        outcome("b", FAST, 0, steps=6, lower_bound=3, seconds_to_best=4.0),
        b={"steps": 5},
    )
    fast, slow = scores(judged(reading.runs, standings(reading)), ["AAS"]).itertuples()
    assert (fast.contestant, fast.rows, fast.runs, fast.failures) == ("colouring", 2, 3, 0)
    assert (fast.closed, fast.reached, fast.successes) == (1, 1, 1)
    assert (fast.seconds_mean, fast.seconds_median) == (2.0, 2.0)
    assert (slow.runs, slow.failures, slow.successes) == (1, 1, 0)
    assert math.isnan(slow.seconds_mean)
    assert (slow.rate_low, slow.rate_high) == wilson(0, 1)


def test_contestants_have_one_standing_over_all_collectives() -> None:
    outcomes = [
        {**outcome("a", each), "row": row, "seconds_to_best": seconds}
        for each, seconds in ((FAST, 1.0), (SLOW, 2.0))
        for row in ("a AAS", "a AAB")
    ]
    rows = tuple(Row(InstanceSpec("a", each)) for each in ("AAS", "AAB"))
    checked = CheckedSuite(Path("x"), "x", [*rows], {})
    sections = compose(Reading(rows, run_table(outcomes), checked), None).sections
    tables = {each.title: each.table for each in sections}
    assert [*tables["Contestants"]["seconds over all runs"]] == ["lowest mean", NOT_SHOWN]
    assert [*tables["Contestants by collective"].collective] == ["AAS", "AAS", "AAB", "AAB"]


def test_tables_say_of_which_schedules_seconds_and_engine_are() -> None:
    """The greedy schedule has as many steps as that of the engine, and more channel uses."""
    found = tuple(
        Contribution(at, author, "", "schedule", 4, 1, certified=False)
        for at, author in ((0.1, "host greedy"), (2.0, "matching"))
    )
    facts: dict[str, object] = {"engine": "matching", "contributions": found}
    reading = read(outcome("a", FAST, seconds_to_best=0.1, **facts))
    sections = {each.title: each for each in compose(reading, None).sections}
    (line,) = sections["All rows"].table.to_dict("records")
    shown = (line["s to best"], line["engine"], line["story"])
    assert shown == (0.1, "matching", "host greedy 4, matching 4")
    for title in ("All rows", "Contestants"):
        assert "a greedy one included" in sections[title].text
    assert "the fewest channel uses, which may come later" in sections["All rows"].text


def curves(*outcomes: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the performance profile, and what was settled over time, as lists of corners."""
    reading = read(*outcomes)
    rows = standings(reading)
    found = times(judged(reading.runs, rows))
    closed = rows.index[rows.proof != ""]
    profile, settled = performance_profile(found), settled_over_time(found, closed)
    corners = {key: [*curve.items()] for key, curve in profile.items()}
    return corners, {key: [*curve.items()] for key, curve in settled.items()}


def test_performance_profile_of_common_rows() -> None:
    rows = (
        (outcome("a", FAST), outcome("a", SLOW, seconds_to_best=3.0)),
        (outcome("b", FAST, steps=5), outcome("b", SLOW, seconds_to_best=8.0)),
        (outcome("c", FAST),),
    )
    profile, _ = curves(*rows[0], *rows[1], *rows[2])
    assert profile == {FAST.key: [(1.0, 0.5)], SLOW.key: [(1.0, 0.5), (3.0, 1.0)]}
    profile, _ = curves(*rows[2], outcome("d", SLOW))
    assert profile == {FAST.key: [], SLOW.key: []}


def test_settled_counts_closed_rows_and_bears_no_time_at_all() -> None:
    _, settled = curves(
        outcome("a", FAST, seconds_to_best=0.0),
        outcome("b", FAST, lower_bound=3),
        *(outcome("c", FAST, 0), outcome("c", FAST, 1, steps=7), outcome("c", FAST, 2)),
        *(outcome("d", FAST, 0), outcome("d", FAST, 1, failure="crashed")),
    )
    assert settled == {FAST.key: [(0.01, 0.25), (1.0, 0.5)]}


def test_a_row_without_a_schedule_is_no_success_of_any_contestant() -> None:
    none = {"steps": None, "infeasible": True, "lower_bound": 1, "seconds_to_best": None}
    reading = read(outcome("a", FAST), outcome("b", FAST, **none), outcome("b", SLOW, **none))
    found = judged(reading.runs, standings(reading))
    assert [*found.success] == [True, False, False]
    assert [*found.closed] == [True, True, True]
    assert [*times(found[found.key == FAST.key]).index] == ["a AAS"]

    def contestants(reading: Reading) -> Any:
        sections = compose(reading, None).sections
        return next(each for each in sections if each.title == "Contestants")

    assert len(contestants(read(outcome("b", FAST, **none))).table) == 0
    section = contestants(reading)
    assert "no schedule are left out" in section.text
    assert [*section.table.contestant] == ["colouring"]
    assert [*section.table.rows] == [1]
    assert [*section.table["success rate"]] == ["100 %"]
    rates = {"rates": {"colouring": 50.0}}
    reading = read(outcome("a", FAST), outcome("b", FAST, **none), a=rates, b=rates)
    section = next(s for s in compose(reading, None).sections if s.title == "Success rates")
    assert [*section.table.row] == ["a AAS"]


def test_a_bound_counts_for_the_row_of_any_contestant() -> None:
    row = stand(outcome("a", FAST, lower_bound=2), outcome("a", SLOW, steps=6))
    assert (row.steps, row.lower_bound, row.proof, row.contestant) == (
        4, 4, "certified", "colouring",
    )  # fmt: skip


def test_a_claim_differs_from_a_proof() -> None:
    row = stand(outcome("a", SLOW, certified=False), outcome("a", FAST, lower_bound=2))
    assert (row.lower_bound, row.claimed_bound, row.proof, row.gap) == (2, 4, "claimed", 2)
    assert row.state == "open"


def test_a_refuted_claim_does_not_count_and_is_named() -> None:
    reading = read(outcome("a", SLOW, certified=False, steps=6, lower_bound=6), outcome("a", FAST))
    rows = standings(reading)
    (row,) = rows.itertuples()
    assert (row.steps, row.claimed_bound, row.proof) == (4, NA, "certified")
    (text,) = contradictions(rows, reading.runs)
    assert "claims at least 6 steps, but 4 suffice" in text


def test_infeasible() -> None:
    facts = {"steps": None, "infeasible": True, "lower_bound": 1}
    row = stand(outcome("a", FAST, **facts))
    assert (row.state, row.proof, row.lower_bound, row.verdict) == (
        "infeasible", "certified", NA, "new",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("published", "verdict", "bound", "impossible"),
    [
        ({}, "new", "", False),
        ({"steps": 4, "lower_bound": 4}, "equal", "equal", False),
        ({"steps": 5, "lower_bound": 3}, "better", "tighter", False),
        ({"steps": 5, "lower_bound": 5}, "better", "refuted", False),
        ({"steps": 3, "lower_bound": 3}, "worse", "tighter", True),
        ({"steps": 3, "lower_bound": 3, "comparable": False}, "not comparable", "", False),
    ],
)
def test_verdicts(published: dict[str, object], verdict: str, bound: str, impossible: bool) -> None:
    row = stand(outcome("a", FAST), **published)
    assert (row.verdict, row.bound_verdict, row.published_is_impossible) == (
        verdict, bound, impossible,
    )  # fmt: skip


def test_nothing_found_is_not_compared_with_something_published() -> None:
    row = stand(outcome("a", FAST, steps=None, lower_bound=3), steps=4, lower_bound=4)
    assert (row.verdict, row.bound_verdict, row.state) == (
        "no schedule", "weaker", "nothing found",
    )  # fmt: skip
    none = stand(outcome("a", FAST, steps=None, lower_bound=3))
    assert (none.verdict, none.state) == ("no result", "nothing found")
    lost = stand(outcome("a", FAST, steps=None, lower_bound=1, infeasible=True), steps=4)
    assert (lost.verdict, lost.state, lost.published_is_impossible) == (
        "no schedule", "infeasible", True,
    )  # fmt: skip
    failed = stand(outcome("a", FAST, failure="crashed"), steps=4)
    assert (failed.verdict, failed.state) == ("no result", "failed")


def test_the_best_contestant_has_the_fewest_steps_then_the_shortest_time() -> None:
    row = stand(
        outcome("a", FAST, 0, seconds_to_best=2.0, seconds=3.0),
        outcome("a", FAST, 1, seconds_to_best=4.0, seconds=5.0),
        outcome("a", FAST, 2, steps=5, seconds_to_best=0.1),
        outcome("a", SLOW, 0, seconds_to_best=3.5),
    )
    assert (row.contestant, row.seconds_to_best, row.seconds) == ("colouring", 3.0, 4.0)


def test_labels_tell_contestants_apart() -> None:
    longer = Contestant(("cpsat",), time_limit=300)
    tuned = Contestant(("cpsat",), time_limit=300, options={"cpsat": {"log": "1"}})
    assert list(labels([FAST, SLOW]).values()) == ["colouring", "cpsat"]
    assert list(labels([SLOW, longer, tuned]).values()) == [
        "cpsat, 60 s",
        "cpsat, 300 s",
        "cpsat log=1, 300 s",
    ]


def test_labels_have_what_is_not_common_of_the_budgets() -> None:
    greedy, auto = Contestant((), first_schedule=True), Contestant(first_schedule=True)
    mine, tabu = Contestant(("mine",), time_limit=3), Contestant(("tabu",), threads=2)
    for entries, expected in (
        ([mine, replace(tabu, threads=1)], ["mine, 3 s", "tabu, 60 s"]),
        ([mine, tabu], ["mine, 3 s, 1 thread", "tabu, 60 s, 2 threads"]),
        ([SLOW, auto, greedy], ["cpsat", "auto, greedy schedule", "host greedy"]),
        ([replace(SLOW, first_schedule=True), auto, greedy], ["cpsat", "auto", "host greedy"]),
        ([SLOW, replace(FAST, evaluations=20)], ["cpsat", "colouring, 20 evaluations"]),
        ([], []),
    ):
        assert list(labels(entries).values()) == expected


def test_labels_show_what_differs_only() -> None:
    grid = [
        Contestant(("umda",), options={"umda": {"population": size, "mutation": share}})
        for size, share in (("50", "0.9"), ("100", "0.9"))
    ]
    assert list(labels(grid).values()) == ["umda population=50", "umda population=100"]
    of_two = [replace(FAST, options={name: {"batch": "20"}}) for name in ("colouring", "quotients")]
    assert list(labels(of_two).values()) == ["colouring batch=20", "colouring quotients.batch=20"]
    assert list(labels([*grid, FAST]).values())[2] == "colouring"


def test_means() -> None:
    assert all(map(math.isnan, mean_of([])))
    one, *interval = mean_of([3.0, math.nan])
    assert one == 3.0
    assert all(map(math.isnan, interval))
    assert mean_of([1.0, 2.0, 3.0])[1:] == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-3)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ({}, ()),
        ({"steps": 5}, ("fewer steps",)),
        ({"steps": None, "lower_bound": 5}, ("fewer steps", "weaker bound")),
        ({"lower_bound": 3}, ("tighter bound",)),
        ({"seconds_to_best": 50.0}, ()),  # one run shows no difference
        ({"steps": 3, "lower_bound": 3, "seconds_to_best": 9.0}, ("more steps", "tighter bound")),
    ],
)
def test_comparison(there: dict[str, object], words: tuple[str, ...]) -> None:
    other = read(outcome("a", FAST, **there))
    (found,) = compare(standings(read(outcome("a", FAST))), standings(other)).itertuples()
    assert (found.where, found.here) == ("both", ", ".join(words))


def test_times_of_two_stores_differ_where_a_test_shows_it() -> None:
    """Rows by rows: shown, shown the other way, not shown, other steps, and one run alone."""
    times = {"a": (1.0, 5.0), "b": (5.0, 1.0), "c": (1.0, 1.02), "d": (1.0, 5.0)}
    sides = [
        read(*(
            outcome(
                row, FAST, seed, seconds_to_best=both[side] + seed / 10,
                steps=5 if side and row == "d" else 4,
            )
            for row, both in times.items() for seed in range(3)
        ), outcome("e", FAST, seconds_to_best=1.0 + side))
        for side in (0, 1)
    ]  # fmt: skip
    found = compare(*map(standings, sides))
    assert found.time.tolist() == ["faster", "slower", NOT_SHOWN, "", NOT_SHOWN]
    assert found.here.tolist() == ["faster", "slower", "", "fewer steps", ""]


def test_runs_without_the_steps_count_with_their_time_limit() -> None:
    """One lucky run is not faster than three sure ones: the other two took all of 60 s."""
    lucky = [outcome("a", FAST, 0), *(outcome("a", FAST, seed, steps=5) for seed in (1, 2))]
    sure = [outcome("a", FAST, seed, seconds_to_best=9.0 + seed) for seed in range(3)]
    here, there = standings(read(*lucky)), standings(read(*sure))
    assert here.samples.tolist() == [[1.0, 60.0, 60.0]]
    assert compare(here, there).time.tolist() == [NOT_SHOWN]


def test_times_under_other_limits_are_compared_where_all_runs_have_the_steps() -> None:
    """Two of ten within 10 s are not faster than ten within 60 s, ten of ten are."""
    quick, late = (Contestant(("colouring",), time_limit=limit) for limit in (10.0, 60.0))
    sure = [outcome("a", late, seed, seconds_to_best=25.0 + seed) for seed in range(10)]
    for reached, word in ((2, NOT_SHOWN), (10, "faster")):
        lucky = [
            outcome("a", quick, seed, seconds_to_best=6.0 + seed / 9, steps=steps)
            for seed, steps in enumerate([4] * reached + [9] * (10 - reached))
        ]
        assert compare(*map(standings, (read(*lucky), read(*sure)))).time.tolist() == [word]


def test_the_best_of_several_contestants_was_chosen_from_all_pairs() -> None:
    """The best of ten contestants shows less than a single one: 10 comparisons, not 1."""
    there = read(*(outcome("a", FAST, seed, seconds_to_best=4.0 + seed) for seed in range(3)))
    for count, word in ((1, "faster"), (10, NOT_SHOWN)):
        names = [f"engine-{number}" for number in range(count)]
        here = read(*(
            outcome("a", Contestant((name,)), seed, seconds_to_best=1.0 + seed + 9 * bool(place))
            for place, name in enumerate(names) for seed in range(3)
        ))  # fmt: skip
        (found,) = compare(standings(here), standings(there)).itertuples()
        assert (found.time, found.comparisons) == (word, count)


OLD, NEW = (Contestant(("own",), software=version) for version in ("one", "two"))


def compared(here: list[dict[str, Any]], there: list[dict[str, Any]]) -> tuple[Any, str]:
    """Return the comparison of two stores as a table by row, and the words of the report."""
    one, two = read(*here), read(*there)
    (section,) = (each for each in compose(one, two).sections if each.title == "Compared with x")
    first, second, _ = without_shared(one, two)
    return compare(standings(first), standings(second)), section.text


@pytest.mark.parametrize("engine", [OLD, NEW])
def test_a_store_that_was_continued_is_compared_by_its_own_runs(engine: Contestant) -> None:
    """A new version, or further seeds: what both hold would be compared with itself."""
    known = [outcome(row, OLD, seed) for row in "ab" for seed in range(3)]
    worse = [
        outcome(row, engine, seed, steps=5, lower_bound=3) for row in "ab" for seed in range(3, 6)
    ]
    for here, there, word, counts in (
        (known + worse, known, "more steps, weaker bound", "6 here, 0 there"),
        (known, known + worse, "fewer steps, tighter bound", "0 here, 6 there"),
    ):
        table, text = compared(here, there)
        assert table.here.tolist() == [word] * 2
        assert "2 rows in both, 0 of them with no difference shown" in text
        assert f"left out where a store has others of the row: {counts}." in text
        assert "the same runs" not in text


def test_runs_that_only_one_store_holds_are_compared_on_each_side() -> None:
    known = [outcome("a", SLOW, steps=3, lower_bound=3)]
    table, text = compared([*known, outcome("a", OLD)], [*known, outcome("a", NEW, steps=5)])
    assert table.here.tolist() == ["fewer steps"]
    assert "others of the row: 1 here, 1 there." in text


def test_rows_of_which_both_stores_hold_the_same_runs_are_counted() -> None:
    """A run that failed is none to compare; a repeated one has other seconds."""
    known = [outcome("a", OLD), outcome("b", OLD)]
    failed = outcome("a", NEW, steps=None, failure="exit 1")
    table, text = compared([*known, failed], [known[0], outcome("b", OLD, seconds_to_best=1.5)])
    assert table.here.tolist() == ["", ""]
    assert "Both stores hold the same runs, and no others, of 1 row." in text
    assert "left out" not in text


def test_that_there_is_no_schedule_is_more_than_any_bound() -> None:
    none = read(outcome("a", FAST, steps=None, lower_bound=0, infeasible=True))
    open_row = read(outcome("a", FAST, steps=None, lower_bound=1))
    for here, there, words in ((none, open_row, "tighter bound"), (open_row, none, "weaker bound")):
        (found,) = compare(standings(here), standings(there)).itertuples()
        assert found.here == words
    (same,) = compare(standings(none), standings(none)).itertuples()
    assert same.here == ""


def test_steps_of_two_stores_stand_with_the_numbers_of_runs() -> None:
    """One seed in one store, four in the other: more runs find fewer steps by chance."""
    here = [outcome(row, OLD, 0, steps=5, lower_bound=3) for row in "ab"]
    there = [outcome("a", OLD, seed, steps=seed + 3, lower_bound=3) for seed in range(1, 5)]
    there += [outcome("b", OLD, 1, steps=5, lower_bound=3), outcome("c", OLD, 1)]
    one, two = read(*here), read(*there)
    (section,) = (each for each in compose(one, two).sections if each.title == "Compared with x")
    table: Any = section.table
    assert table.astype(str)[["row", "runs here", "runs there"]].to_numpy().tolist() == [
        ["a AAS", "1", "4"]
    ]
    said = "Steps and bounds are the best of all runs of a row (1 here, 1 to 4 there), without a"
    assert f"{said} test: more runs may find better ones by chance." in section.text


def test_equal_numbers_of_runs_are_in_no_column() -> None:
    one, two = read(outcome("a", OLD, steps=5)), read(outcome("a", NEW, steps=6))
    (section,) = (each for each in compose(one, two).sections if each.title == "Compared with x")
    assert not {"runs here", "runs there"} & {*section.table}  # type: ignore[misc]
    assert "(1 here, 1 there)" in section.text
