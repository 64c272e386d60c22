"""Rates, times and curves over outcomes made by hand."""

from __future__ import annotations

import math

import pytest

from cchybrid.bench.contestant import Contestant, labels
from cchybrid.bench.report.comparison import compare
from cchybrid.bench.report.intervals import mean_of, t_quantile, wilson
from cchybrid.bench.report.reading import Outcome
from cchybrid.bench.report.standing import Standing, contradictions, standings
from cchybrid.bench.report.statistics import (
    performance_profile,
    scores,
    settled_over_time,
    staircase,
)
from cchybrid.bench.row import Published, Row
from cchybrid.library.instance_spec import InstanceSpec

FAST = Contestant(("colouring",))
SLOW = Contestant(("cpsat",))


def outcome(row: str, contestant: Contestant, seed: int = 0, **facts: object) -> Outcome:
    known = {"steps": 4, "lower_bound": 4, "certified": True, "engine": "x", "seconds_to_best": 1.0}
    return Outcome(row, contestant, seed, **{**known, **facts})  # type: ignore[arg-type]


def stand(*outcomes: Outcome, **published: object) -> Standing:
    """Return the standing of the row of these outcomes."""
    from pathlib import Path

    from cchybrid.bench.report.reading import Reading

    row = Row(InstanceSpec(outcomes[0].row, "AAS"), Published(**published))  # type: ignore[arg-type]
    (found,) = standings(Reading(Path("x"), "x", (row,), {row.name: outcomes}))
    return found


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # rate and interval as in Newcombe 1998 (Statistics in Medicine 17), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson(successes, trials) == pytest.approx((low, high), abs=5e-5)
    assert wilson(trials - successes, trials) == pytest.approx((1 - high, 1 - low), abs=5e-5)


def test_wilson_of_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_staircase_climbs_once_per_value() -> None:
    assert staircase([3.0, 1.0, 3.0], 4) == [(1.0, 0.25), (3.0, 0.75)]
    assert staircase([], 4) == []


def test_scores() -> None:
    first = stand(
        outcome("a", FAST, 0, seconds_to_best=2.0),
        outcome("a", FAST, 1, steps=5),
        outcome("a", SLOW, 0, steps=None, failure="crashed"),
    )
    second = stand(outcome("b", FAST, 0, steps=6, lower_bound=3, seconds_to_best=4.0), steps=5)
    fast, slow = scores([first, second], [FAST, SLOW], labels([FAST, SLOW]))
    assert (fast.label, fast.rows, fast.runs, fast.failures) == ("colouring", 2, 3, 0)
    assert (fast.closed, fast.reached, fast.successes) == (1, 1, 1)
    assert (fast.mean_seconds, fast.median_seconds) == (2.0, 2.0)
    assert (slow.runs, slow.failures, slow.successes, slow.mean_seconds) == (1, 1, 0, None)
    assert slow.interval == wilson(0, 1)


def test_performance_profile_of_common_rows() -> None:
    rows = [
        stand(outcome("a", FAST), outcome("a", SLOW, seconds_to_best=3.0)),
        stand(outcome("b", FAST, steps=5), outcome("b", SLOW, seconds_to_best=8.0)),
        stand(outcome("c", FAST)),
    ]
    profile = performance_profile(rows, [FAST, SLOW])
    assert profile == {FAST.key: [(1.0, 0.5)], SLOW.key: [(1.0, 0.5), (3.0, 1.0)]}
    assert performance_profile(rows[2:], [FAST, SLOW]) == {}


def test_settled_counts_closed_rows_and_bears_no_time_at_all() -> None:
    rows = [
        stand(outcome("a", FAST, seconds_to_best=0.0)),
        stand(outcome("b", FAST, lower_bound=3)),
        stand(outcome("c", FAST, 0), outcome("c", FAST, 1, steps=7), outcome("c", FAST, 2)),
        stand(outcome("d", FAST, 0), outcome("d", FAST, 1, failure="crashed")),
    ]
    (curve,) = settled_over_time(rows, [FAST]).values()
    assert curve == [(0.01, 0.25), (1.0, 0.5)]
    assert all(math.isfinite(x) and x > 0 for x, _ in curve)


def test_a_bound_counts_whoever_found_it() -> None:
    row = stand(outcome("a", FAST, lower_bound=2), outcome("a", SLOW, steps=6))
    assert (row.steps, row.lower_bound, row.proof, row.best) == (4, 4, "certified", "colouring")


def test_a_claim_is_told_from_a_proof() -> None:
    row = stand(outcome("a", SLOW, certified=False), outcome("a", FAST, lower_bound=2))
    assert (row.lower_bound, row.claimed, row.proof, row.gap) == (2, 4, "claimed", 0)


def test_a_refuted_claim_does_not_count_and_is_named() -> None:
    row = stand(outcome("a", SLOW, certified=False, steps=6, lower_bound=6), outcome("a", FAST))
    assert (row.steps, row.claimed, row.proof) == (4, None, "certified")
    (text,) = contradictions(row, labels([FAST, SLOW]))
    assert "claims at least 6 steps, but 4 suffice" in text


def test_infeasible() -> None:
    facts = {"steps": None, "infeasible": True, "lower_bound": 1}
    row = stand(outcome("a", FAST, **facts))
    assert (row.state, row.proof, row.lower_bound, row.verdict) == (
        "infeasible", "certified", None, "new",
    )  # fmt: skip
    assert stand(outcome("a", FAST, certified=False, **facts)).proof == "claimed"


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


def test_nothing_found_is_worse_than_something_published() -> None:
    row = stand(outcome("a", FAST, steps=None, lower_bound=3), steps=4, lower_bound=4)
    assert (row.verdict, row.bound_verdict, row.state) == ("worse", "weaker", "nothing found")
    failed = stand(outcome("a", FAST, failure="crashed"), steps=4)
    assert (failed.verdict, failed.state) == ("no result", "failed")


def test_the_best_contestant_has_the_fewest_steps_then_the_least_time() -> None:
    row = stand(
        outcome("a", FAST, 0, seconds_to_best=2.0, seconds=3.0),
        outcome("a", FAST, 1, seconds_to_best=4.0, seconds=5.0),
        outcome("a", FAST, 2, steps=5, seconds_to_best=0.1),
        outcome("a", SLOW, 0, seconds_to_best=3.5),
    )
    assert (row.best, row.seconds_to_best, row.seconds) == ("colouring", 3.0, 4.0)


def test_labels_tell_contestants_apart() -> None:
    longer = Contestant(("cpsat",), time_limit=300)
    tuned = Contestant(("cpsat",), time_limit=300, options={"cpsat": {"log": "1"}})
    assert list(labels([FAST, SLOW]).values()) == ["colouring", "cpsat"]
    assert list(labels([SLOW, longer, tuned]).values()) == [
        "cpsat, 60 s, 1 thread",
        "cpsat, 300 s, 1 thread",
        "cpsat log=1, 300 s, 1 thread",
    ]


def test_labels_show_what_differs_only() -> None:
    grid = [
        Contestant(("umda",), options={"umda": {"population": size, "mutation": share}})
        for size, share in (("50", "0.9"), ("100", "0.9"))
    ]
    assert list(labels(grid).values()) == ["umda population=50", "umda population=100"]
    assert list(labels([*grid, FAST]).values())[2] == "colouring"


@pytest.mark.parametrize(
    ("freedom", "t"), [(1, 12.706), (2, 4.303), (3, 3.182), (9, 2.262), (29, 2.045), (120, 1.980)]
)
def test_student(freedom: int, t: float) -> None:
    """As in every table of the distribution."""
    assert t_quantile(freedom) == pytest.approx(t, abs=5e-4)


def test_means() -> None:
    assert mean_of([]) is None
    one = mean_of([3.0])
    assert one is not None
    assert (one.value, one.interval) == (3.0, None)
    few = mean_of([1.0, 2.0, 3.0])
    assert few is not None
    assert few.interval == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-3)


@pytest.mark.parametrize(
    ("there", "words"),
    [
        ({}, ()),
        ({"steps": 5}, ("fewer steps",)),
        ({"steps": None, "lower_bound": 5}, ("fewer steps", "weaker bound")),
        ({"lower_bound": 3}, ("tighter bound",)),
        ({"seconds_to_best": 2.1}, ("faster",)),
        ({"seconds_to_best": 1.9}, ()),
        ({"steps": 3, "lower_bound": 3, "seconds_to_best": 9.0}, ("more steps", "tighter bound")),
    ],
)
def test_comparison(there: dict[str, object], words: tuple[str, ...]) -> None:
    found = compare([stand(outcome("a", FAST))], [stand(outcome("a", FAST, **there))])
    assert found.common == 1
    assert [each.words for each in found.differences] == ([words] if words else [])


def test_rows_of_one_store_only() -> None:
    failed = stand(outcome("b", FAST, failure="crashed"))
    found = compare([stand(outcome("a", FAST)), failed], [stand(outcome("b", FAST))])
    assert (found.common, found.only_here, found.only_there) == (0, ("a AAS",), ("b AAS",))
