"""Tests of differences between samples of runs, with a correction for their number."""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb, inf, isnan, nan
from statistics import fmean

import numpy as np
from pandas import DataFrame, Series
from scipy import stats

from ..contestant import Contestant

LEVEL = 0.05
"""The level of all tests: the largest probability that any difference of a table is chance."""
NOT_SHOWN = "no difference shown"
PENALTY = "the time limit (without one, the longest time of any run of the row)"
UNLIKE = "no difference is shown where a run has no success and these limits or times differ"
TEST = (
    "Welch's test of the means (where neither sample has any spread, a permutation test) at 5 %,"
    " with Holm's correction for {} comparisons"
)


def differences(
    pairs: Iterable[tuple[Sequence[float], Sequence[float]]],
    less: str,
    more: str,
    count: int = 0,
    penalties: Iterable[tuple[float, float]] = (),
) -> list[str]:
    """Return how the mean of the first sample of each pair compares with that of the second.

    ``less`` or ``more`` where ``p_value`` shows it, else ``NOT_SHOWN``. Unknown values (NaN) are
    left out. ``count`` is the number of comparisons from which the pairs were chosen by their
    values; by default there are no others. ``penalties`` has, for each pair of ``penalised``
    samples, the ``penalty`` of both: where they differ, a sample with such a value shows nothing,
    as its run might have had success by the later time.
    """
    known = [([x for x in a if not isnan(x)], [x for x in b if not isnan(x)]) for a, b in pairs]
    found = [p_value(*pair) for pair in known]
    for place, ((a, b), (one, other)) in enumerate(zip(known, penalties, strict=False)):
        if one != other and (one in a or other in b):
            found[place] = 1.0
    shown = holm(found, count)
    return [
        NOT_SHOWN if not sure else less if fmean(a) < fmean(b) else more
        for (a, b), sure in zip(known, shown, strict=True)
    ]


def beside_lowest(
    rows: Sequence[str], samples: Sequence[Sequence[float]], penalties: Sequence[float] = ()
) -> list[str]:
    """Return how each sample compares with that of the lowest mean in its row.

    ``lowest mean`` for this one, ``more`` or ``NOT_SHOWN`` for the others: as any of a row could
    have been the lowest, all its pairs count as comparisons (``pairs_of``). ``penalties``, one a
    sample, are those of ``differences``.
    """
    lowest: dict[str, int] = {}
    means = [fmean([x for x in values if not isnan(x)] or [inf]) for values in samples]
    for place, row in enumerate(rows):
        if row not in lowest or means[place] < means[lowest[row]]:
            lowest[row] = place
    pairs = [(place, lowest[row]) for place, row in enumerate(rows) if lowest[row] != place]
    values = [(samples[one], samples[other]) for one, other in pairs]
    counted = [(penalties[one], penalties[other]) for one, other in pairs if penalties]
    words = differences(values, "less", "more", pairs_of(rows), counted)
    shown = {place: word for (place, _), word in zip(pairs, words, strict=True)}
    return [shown.get(place, "lowest mean") for place in range(len(rows))]


def beside_lowest_of_all(runs: DataFrame) -> dict[str, str]:
    """Return by key how each of several contestants compares with that of the lowest mean.

    The seconds are ``penalised``, of the rows and seeds that all of them have; ``more`` is what
    ``signed_rank_p`` of the means of rows shows, with Holm's correction for all pairs.
    Where time limits differ, it shows nothing if some run of the two has no success.
    """
    if runs.key.nunique() < 2 or not runs.success.any():
        return {}
    seconds = runs.assign(value=penalised(runs, runs.success))
    each = seconds.pivot_table(index=["row", "seed"], columns="key", values=["value", "success"])
    means = each.dropna().groupby("row").mean()
    if means.empty:
        return {}
    lowest = means.value.mean().idxmin()
    limits = {key: Contestant.from_key(key).time_limit for key in means.value}
    others = [key for key in means.value if key != lowest]
    p_values = []
    for key in others:
        more = means.value[key] - means.value[lowest]
        unlike = limits[key] != limits[lowest] and means.success[[key, lowest]].min(axis=None) < 1
        p_values.append(1.0 if unlike else 2 * signed_rank_p(more))
    shown = holm(p_values, comb(len(limits), 2))
    words = ("more" if sure else NOT_SHOWN for sure in shown)
    return {lowest: "lowest mean", **dict(zip(others, words, strict=True))}


def signed_rank_p(values: Sequence[float]) -> float:
    """Return the probability of so high a signed-rank sum, or a higher one, if only chance decided.

    By Wilcoxon's test (one-sided) of paired differences, exactly: every sign is as likely as the
    other. Zeros are left out; equal values share their ranks.

    References
    ----------
    F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945),
    doi:10.2307/3001968.
    """
    signed = np.array([value for value in values if value])
    ranks = (2 * stats.rankdata(abs(signed))).astype(int)  # twice, as shared ones may be halves
    chances = np.ones(1)
    for rank in ranks:  # of every sum of the ranks so far with the sign plus
        chances = np.pad(chances, (0, rank)) / 2 + np.pad(chances, (rank, 0)) / 2
    return float(chances[ranks[signed > 0].sum() :].sum())


def pairs_of(rows: Iterable[str]) -> int:
    """Return the number of pairs within rows."""
    return sum(comb(count, 2) for count in Counter(rows).values())


def p_value(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return the probability of means that are as far apart, or farther, if only chance decided.

    By Welch's test (two-sided). Where neither sample has any spread, it has no value, and a
    permutation test decides; with fewer than three values in a sample nothing does (1): two may
    have no spread by chance, such as those of two runs that reached the time limit.

    References
    ----------
    B. L. Welch, "The generalization of 'Student's' problem when several different population
    variances are involved", Biometrika 34 (1947), doi:10.1093/biomet/34.1-2.28.
    """
    if min(len(ours), len(theirs)) < 3 or len({*ours, *theirs}) == 1:
        return 1.0
    if len({*ours}) == len({*theirs}) == 1:
        return (1 + (len(ours) == len(theirs))) / comb(len(ours) + len(theirs), len(ours))
    with warnings.catch_warnings(action="ignore"):  # of values that are nearly the same
        found = float(stats.ttest_ind(ours, theirs, equal_var=False).pvalue)
    return 1.0 if isnan(found) else found


def holm(p_values: Sequence[float], count: int = 0) -> list[bool]:
    """Return which of several tests show a difference, at ``LEVEL`` for all of them together.

    ``count`` is the number of all tests, where ``p_values`` are only some of them.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979), 65-70.
    """
    shown, count = [False] * len(p_values), max(count, len(p_values))
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[index] > LEVEL / (count - place):
            break
        shown[index] = True
    return shown


def penalty(runs: DataFrame) -> Series:
    """Return what each run counts with if it has no success: ``PENALTY``; NaN if no run has a time.

    So failing early is never better than succeeding late, under one limit.
    """
    limits = {key: Contestant.from_key(key).time_limit for key in set(runs.key)}
    longest = runs.seconds.groupby(runs["row"]).transform("max").replace(0.0, nan)
    return runs.key.map(limits).astype(float).fillna(longest)


def penalised(runs: DataFrame, reached: Series) -> Series:
    """Return the seconds to the best schedule; the ``penalty`` of runs without success."""
    return runs.seconds_to_best.where(reached, penalty(runs))
