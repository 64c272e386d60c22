"""Differences that are shown by tests, and those that are not."""

from __future__ import annotations

import math
import random
from itertools import product

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.significance import (
    NOT_SHOWN,
    beside_lowest,
    beside_lowest_of_all,
    differences,
    holm,
    p_value,
    pairs_of,
    penalised,
    signed_rank_p,
)
from pandas import DataFrame, Series
from scipy import stats


def test_holm_as_by_hand() -> None:
    """0.01 < 0.05 / 4 and 0.013 < 0.05 / 3, but 0.03 > 0.05 / 2: the last two are not shown."""
    assert holm([0.03, 0.01, 0.04, 0.013]) == [False, True, False, True]
    assert holm([0.03, 0.04]) == [False, False]
    assert holm([]) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([1.0, 1.1, 0.9], [5.0, 5.1, 4.9], "less"),
        ([5.0, 5.1, 4.9], [1.0, 1.1, 0.9], "more"),
        ([1.0, 9.0], [2.0, 9.0], NOT_SHOWN),
        ([10.0, 10.0], [10.0, 10.0], NOT_SHOWN),
        ([4.0, 4.0], [2.66, 2.7, 2.75], NOT_SHOWN),  # both at the limit: no spread by chance
        ([3.0, 3.1], [10.0, 10.1], NOT_SHOWN),
        ([3.0] * 4, [10.0] * 4, "less"),  # 1 of 35
        ([3.0] * 3, [10.0] * 4, "less"),  # 1 of 35: three and four cannot change places
        ([18.0] * 9 + [19.0], [19.0] * 9 + [18.0], "less"),  # p = 2e-5; the values are the same two
        ([3.0], [10.0], NOT_SHOWN),
        ([3.0, math.nan], [10.0, 10.1], NOT_SHOWN),
        ([], [10.0, 10.1], NOT_SHOWN),
    ],
)
def test_only_what_a_test_shows_is_a_difference(
    ours: list[float], theirs: list[float], expected: str
) -> None:
    assert differences([(ours, theirs)], "less", "more") == [expected]


def test_welch_and_permutations_as_by_hand() -> None:
    """Welch's own example is by its formula: t = -2.8352, 27.71 degrees of freedom (R, t.test)."""
    ours = [
        27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4,
    ]  # fmt: skip
    theirs = [
        27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4,
    ]  # fmt: skip
    assert p_value(ours, theirs) == pytest.approx(0.0085, abs=1e-3)
    assert p_value([3.0] * 3, [4.0] * 3) == pytest.approx(2 / 20)
    exact = stats.permutation_test(
        ([3.0] * 3, [4.0] * 3), lambda a, b: sum(a) / 3 - sum(b) / 3, n_resamples=math.inf
    )
    assert p_value([3.0] * 3, [4.0] * 3) == pytest.approx(exact.pvalue)


def test_more_comparisons_show_less() -> None:
    pair = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    assert 0.01 < p_value(*pair) < 0.05
    assert differences([pair], "less", "more") == ["less"]
    assert differences([pair] * 5, "less", "more") == [NOT_SHOWN] * 5


def test_the_lowest_of_many_was_chosen_from_all_pairs() -> None:
    """Of five alike samples the lowest and the highest are far apart by chance: 10 pairs, not 4."""
    low, high, other = [1.0, 2.0, 3.0], [4.8, 5.7, 6.6], [2.0, 3.0, 4.0]
    assert 0.05 / 10 < p_value(low, high) < 0.05 / 4
    assert pairs_of("aaaaab") == 10
    assert beside_lowest("aaaaa", [low, high, other, other, other])[1] == NOT_SHOWN
    assert beside_lowest("aa", [low, high])[1] == "more"
    assert holm([0.01], 5) == [True]
    assert holm([0.01], 6) == [False]


def test_runs_without_success_are_compared_under_one_limit_only() -> None:
    failed, sure = [6.0, 6.5, *[10.0] * 8], [25.0 + seed for seed in range(10)]
    for penalties, word in (((60.0, 60.0), "less"), ((10.0, 60.0), NOT_SHOWN)):
        assert differences([(failed, sure)], "less", "more", 0, [penalties]) == [word]
        assert differences([(sure, sure)], "less", "more", 0, [penalties]) == [NOT_SHOWN]
    assert differences([([6.0, 6.5, 7.0], sure)], "less", "more", 0, [(10.0, 60.0)]) == ["less"]
    assert beside_lowest("aa", [failed, sure], [10.0, 60.0])[1] == NOT_SHOWN


def test_each_row_has_one_lowest_mean() -> None:
    low, high, wide = [1.0, 1.1, 0.9], [5.0, 5.1, 4.9], [0.5, 9.0, 4.0]
    assert beside_lowest(["a", "a", "a", "b"], [high, low, wide, high]) == [
        "more", "lowest mean", NOT_SHOWN, "lowest mean",
    ]  # fmt: skip
    assert beside_lowest(["a", "a"], [low, low]) == ["lowest mean", NOT_SHOWN]
    assert beside_lowest(["a", "a"], [[], low]) == [NOT_SHOWN, "lowest mean"]


def every(seconds: dict[str, list[float]], limits: dict[str, float] | None = None) -> list[str]:
    """Return how engines with these seconds, one a row, compare; 60 s is a run without success."""
    runs = DataFrame(
        [
            (Contestant((name,), time_limit=(limits or {}).get(name, 60.0)).key, f"row {row}", 0,
             value, value, value < 60.0)
            for name, values in seconds.items() for row, value in enumerate(values)
        ],
        columns=["key", "row", "seed", "seconds", "seconds_to_best", "success"],
    )  # fmt: skip
    return [*beside_lowest_of_all(runs).values()]


def test_contestants_are_compared_over_the_rows_that_all_have() -> None:
    rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    later = [2 * value + 0.1 for value in rising]
    # Six rows of one sign: 2 / 2^6 by the exact test; with three pairs Holm asks for 0.05 / 3.
    assert every({"tabu": rising, "cpsat": later}) == ["lowest mean", "more"]
    assert every({"tabu": later, "cpsat": rising}) == ["lowest mean", "more"]
    assert every({"tabu": rising[:5], "cpsat": later}) == ["lowest mean", NOT_SHOWN]
    assert every({"tabu": rising, "cpsat": later, "lns": rising}).count("more") == 0
    assert every({"tabu": rising, "cpsat": rising}) == ["lowest mean", NOT_SHOWN]
    # The lowest mean, by far in one row, is the higher one in nine: nothing is shown.
    assert every({"tabu": [59.0] + [1.0] * 9, "cpsat": [1.0] + [2.0] * 9}).count("more") == 0
    assert every({"tabu": rising}) == []
    assert every({"tabu": rising, "cpsat": []}) == []


def test_rows_without_a_difference_show_nothing() -> None:
    """Five rows of one sign are 2 / 2^5, however many rows have no difference."""
    rising, failed = [1.0, 2.0, 3.0, 4.0, 5.0], [60.0] * 9
    later = [2 * value for value in rising]
    assert every({"tabu": rising + failed, "cpsat": later + failed}) == ["lowest mean", NOT_SHOWN]


@pytest.mark.parametrize("seed", range(20))
def test_the_signed_rank_test_counts_all_signs(seed: int) -> None:
    rng = random.Random(seed)
    values = [float(rng.randint(-4, 6)) for _ in range(rng.randint(0, 9))]
    left = [value for value in values if value]
    ranks = stats.rankdata([abs(value) for value in left])
    sums = [sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
            for signs in product((False, True), repeat=len(left))]  # fmt: skip
    ours = sum(r for r, value in zip(ranks, left, strict=True) if value > 0)
    assert signed_rank_p(values) == sum(each >= ours for each in sums) / len(sums)


def test_the_signed_rank_test_is_that_of_scipy_without_ties() -> None:
    values = [((-1) ** k if k % 3 else 1) * (k + k / 97) for k in range(1, 40)]
    theirs = stats.wilcoxon(values, alternative="greater", method="exact").pvalue
    assert signed_rank_p(values) == pytest.approx(theirs)


def test_runs_without_success_under_other_limits_decide_nothing_over_all_rows() -> None:
    rising, failed = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [60.0] * 7
    assert every({"tabu": rising, "cpsat": failed}) == ["lowest mean", "more"]
    limits = {"tabu": 30.0}
    assert every({"tabu": rising, "cpsat": failed}, limits) == ["lowest mean", NOT_SHOWN]
    assert every({"tabu": rising, "cpsat": [9.0] * 7}, limits) == ["lowest mean", "more"]


def test_a_run_without_success_counts_with_its_limit_or_the_longest_time_of_its_row() -> None:
    limited, endless = Contestant(("umda",), time_limit=10.0), Contestant(None, time_limit=None)
    lines = [
        ("a", limited, 1.0, 4.0), ("a", limited, 2.0, 5.0), ("b", endless, 3.0, 6.0),
        ("b", endless, 0.1, 0.2), ("b", endless, 0.0, 0.0), ("c", endless, 0.0, 0.0),
    ]  # fmt: skip
    runs = DataFrame(lines, columns=["row", "key", "seconds_to_best", "seconds"])
    runs["key"] = [each.key for each in runs.key]
    reached = Series([True, False, True, False, False, False])
    *spent, crashed = penalised(runs, reached).tolist()
    assert spent == [1.0, 10.0, 3.0, 6.0, 6.0]  # failing early is not better than succeeding late
    assert math.isnan(crashed)
