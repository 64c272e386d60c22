"""What the runs of each contestant amount to: rates with their intervals, times, conflicts left."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import NormalDist, fmean, median_high, stdev
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from cchybrid.bench.contestant import Contestant

SHORTEST = 0.01
"""Seconds below which all times count as the same in the plots."""
WHO = ["key", "contestant"]


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the score interval of a success rate.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of
    the American Statistical Association 22 (158), 1927, 209-212. Without trials: (0, 1).
    """
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    rate = successes / trials
    middle = rate + z * z / (2 * trials)
    spread = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else (middle - spread) / scale
    high = 1.0 if successes == trials else (middle + spread) / scale
    return low, high


def mean_of(values: Iterable[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the mean of known values and the ends of Student's t interval, NaN where unknown."""
    known = [value for value in values if not math.isnan(value)]
    middle, spread = fmean(known) if known else math.nan, math.nan
    if len(known) > 1:
        spread = t_quantile(len(known) - 1, confidence) * stdev(known) / math.sqrt(len(known))
    return middle, middle - spread, middle + spread


def t_quantile(freedom: int, confidence: float = 0.95) -> float:
    """Return the t within which Student's distribution has so much of its mass, both sides.

    The mass within ``sqrt(freedom) * tan(angle)`` of zero is that of M. Abramowitz, I. A. Stegun,
    Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
    """
    odd, low, high = freedom % 2, 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        cosine = math.cos(angle)
        term = cosine if odd else 1.0
        total = term if freedom > 1 else 0.0
        for index in range(2 + odd, freedom - 1, 2):
            term *= cosine * cosine * (index - 1) / index
            total += term
        mass = math.sin(angle) * total
        mass = 2 / math.pi * (angle + mass) if odd else mass
        low, high = (angle, high) if mass < confidence else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def judged(runs: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the runs with what stands in their rows (``row_...``), and two judgements.

    ``success``: it reached the fewest steps known, or the row's bound. ``closed``: it met the
    row's fewest steps and its own bound, or it said that there is no schedule.
    """
    runs = runs.join(rows.add_prefix("row_"), on="row")
    held, none = runs.failure == "", runs.infeasible & (runs.row_infeasible != "")
    reached = (runs.row_infeasible == "") & (runs.steps <= runs.row_target.astype(float))
    met = (runs.lower_bound == runs.steps) & (runs.steps == runs.row_steps.astype(float))
    return runs.assign(success=held & (none | reached), closed=held & (none | met))


def tally(runs: DataFrame, by: Sequence[str], **more: Any) -> DataFrame:
    """Return what the runs of each group amount to; ``more`` aggregates may be named.

    ``rows``, and those in which one run was ``closed`` or ``reached`` a success; ``runs``,
    ``failures``, and ``successes`` with the interval of their rate; over the successes, seconds and
    evaluations to the best schedule.
    """
    told = runs.assign(
        tried=runs.row, closed=runs.row.where(runs.closed), reached=runs.row.where(runs.success),
        failed=runs.failure != "", seconds=runs.seconds_to_best.where(runs.success),
        evaluations=runs.evaluations_to_best.where(runs.success),
    )  # fmt: skip
    groups = told.groupby([*by], sort=False)
    found = groups.agg(
        rows=("tried", "nunique"), runs=("tried", "size"), failures=("failed", "sum"),
        closed=("closed", "nunique"), reached=("reached", "nunique"), successes=("success", "sum"),
        seconds_mean=("seconds", lambda values: mean_of(values)[0]),
        seconds_median=("seconds", "median"), **more,
    ).reset_index()  # fmt: skip
    ends = [wilson(*counts) for counts in zip(found.successes, found.runs, strict=True)]
    found = found.join(DataFrame(ends, columns=["rate_low", "rate_high"]))
    return found.join(_means(groups.evaluations, "evaluations"))


def _means(groups: Any, name: str) -> DataFrame:
    means = [mean_of(values) for _, values in groups]
    return DataFrame(means, columns=[f"{name}_{end}" for end in ("mean", "low", "high")])


def scores(runs: DataFrame, groups: Sequence[str]) -> DataFrame:
    """Return the tally of every contestant, over ``all`` first, then per group if several."""
    ordered = runs.sort_values("key", kind="stable")
    parts = {name: ordered[ordered.row_group == name] for name in groups if len(groups) > 1}
    return pd.concat(
        tally(part, WHO).assign(collective=name) for name, part in {"all": ordered, **parts}.items()
    )


def rates(runs: DataFrame) -> DataFrame:
    """Return how often every contestant reached the goal of every row that is no study.

    The published rate is that of the engine that the contestant is.
    """
    runs = runs[~runs.row_is_study]
    told = zip(runs.key, runs.row_rates, runs.row_comparable, strict=True)
    runs = runs.assign(
        success=(runs.failure == "") & (runs.steps <= runs.row_goal.astype(float)),
        theirs=[rates.get(only_engine(key)) if fair else None for key, rates, fair in told],
    )
    found = tally(runs, ["row", *WHO], goal=("row_goal", "first"), theirs=("theirs", "first"))
    theirs = found.theirs.astype(float) / 100
    reached = found.successes >= theirs * found.runs - 1e-9
    cases = [theirs.isna(), reached, theirs <= found.rate_high]
    verdicts = np.select(cases, ["", "yes", "no, but may be"], "no")
    rate = found.successes / found.runs
    return found.assign(rate=rate, published_rate=theirs, at_least_published=verdicts)


def only_engine(key: str) -> str:
    """Return the engine that the contestant with this key is; "" for all, or several."""
    engines = Contestant.from_key(key).engines or ()
    return engines[0] if len(engines) == 1 else ""


def remainders(runs: DataFrame) -> DataFrame:
    """Return the conflicts that every contestant is left with in every conflict study.

    ``speed``: evaluations per second, over all its runs together; ``slower``: how many times the
    speed is the fastest contestant's.
    """
    told = runs[runs.row_is_study & (runs.failure == "") & runs.conflicts.notna()]
    known = (told.evaluations > 0) & (told.search_seconds > 0)
    told = told.assign(spent=told.evaluations.where(known), took=told.search_seconds.where(known))
    groups = told.groupby(["row", *WHO], sort=False)
    total = {name: (name, lambda values: sum(values.dropna())) for name in ("spent", "took")}
    found = groups.agg(runs=("seed", "size"), **total).reset_index()
    found = found.join(_means(groups.conflicts, "conflicts")).assign(speed=found.spent / found.took)
    rows = found.groupby("row")
    return found.assign(
        best=found.conflicts_mean == rows.conflicts_mean.transform("min"),
        slower=rows.speed.transform("max") / found.speed,
    )


def gains_of(rows: DataFrame) -> DataFrame:
    """Return what was better than all before it in the best run of each row, in the order of time.

    Bounds gain if they say more than those before them, or make certain what was claimed. That
    something takes a step says nothing, and what exceeds the row's bound was withdrawn.
    """
    told = [{"row": name, **vars(each)} for name, course in rows.course.items() for each in course]
    entries = DataFrame(told)
    best = rows[["lower_bound", "claimed_bound"]].max(axis=1).fillna(0)
    entries["bound"] = entries["row"].map(best)
    bounds = entries[(entries.what == "bound") & (entries.lower <= entries.bound)]
    said = 2 * bounds.lower + bounds.certified
    before = said.groupby(bounds["row"]).cummax().groupby(bounds["row"]).shift(fill_value=0)
    return pd.concat([entries[entries.what == "schedule"], bounds[said > before.clip(lower=3)]])


def credit_of(gains: DataFrame) -> DataFrame:
    """Return what is owed to whom, schedules first, most first.

    In how many rows it found something better than was known, the best, something better than
    what somebody else had found before; and the median of when it found its last.
    """
    before = gains.groupby(["row", "what"]).author.shift()
    good = (gains.what == "schedule") | (gains.lower == gains.bound)
    final = ~gains.duplicated(["row", "what"], keep="last")
    gains = gains.assign(best=good & final, improved=before.notna() & (before != gains.author))
    last = {"best": "any", "improved": "any", "seconds": "last"}
    own = gains.groupby(["author", "what", "row"], as_index=False).agg(last)
    total = {"row": "size", "best": "sum", "improved": "sum", "seconds": "median"}
    found = own.groupby(["author", "what"], as_index=False).agg(total)
    order = {"what": False, "best": False, "row": False, "author": True}
    found = found.sort_values([*order], ascending=[*order.values()])
    names = ["by", "what", "rows", "best", "improved on others", "median s"]
    return found.assign(what=found.what + "s").set_axis(names, axis=1)


def times(runs: DataFrame) -> DataFrame:
    """Return the median seconds to success over the seeds, by row and contestant's key.

    A failed seed counts as for ever (inf); where there is no run at all, there is no number.
    """
    spent = runs.seconds_to_best.where(runs.success, math.inf).clip(lower=SHORTEST)
    return spent.groupby([runs.row, runs.key]).agg(median_high).unstack()


def performance_profile(times: DataFrame) -> dict[str, Series]:
    """Return, by key, the share of rows solved within a factor of the best time.

    E. D. Dolan, J. J. More, Benchmarking optimization software with performance profiles,
    Mathematical Programming 91 (2), 2002, 201-213. A row is solved by reaching the fewest steps
    known. Only rows that all contestants tried take part.
    """
    common = times.dropna()
    ratios = common.div(common.min(axis=1), axis=0)
    return {key: staircase(column, len(common)) for key, column in ratios.items()}


def settled_over_time(times: DataFrame, closed: Iterable[str]) -> dict[str, Series]:
    """Return, by key, the share of the rows it tried whose best schedule it had by then.

    Only closed rows can be settled: those whose fewest steps meet a bound.
    """
    settled = times[times.index.isin(closed)]
    return {key: staircase(settled[key], times[key].count()) for key in times}


def staircase(values: Series, total: int) -> Series:
    """Return the curve that climbs by ``1 / total`` at every finite value: corners by their x."""
    return values[values < math.inf].value_counts().sort_index().cumsum() / total
