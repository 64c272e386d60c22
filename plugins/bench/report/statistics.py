"""Statistics of the contestants' runs: rates with intervals, times, remaining conflicts."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, median_high
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series
from scipy import stats

from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.host.worker_control import usable_seconds

from ..contestant import Contestant
from .significance import NOT_SHOWN, beside_lowest, holm
from .standing import certified_bounds

MIN_SECONDS = 0.01
"""Shorter times are set to this in the plots."""
CONFIDENCE = 0.95
"""The confidence of all intervals."""
CONTESTANT = ["key", "contestant"]


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """Return Wilson's score interval of a success rate; without trials (0, 1).

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of
    the American Statistical Association 22 (1927), doi:10.1080/01621459.1927.10502953.
    """
    if trials == 0:
        return 0.0, 1.0
    found = stats.binomtest(successes, trials).proportion_ci(CONFIDENCE, "wilson")
    return float(found.low), float(found.high)


def mean_of(values: Iterable[float]) -> tuple[float, float, float]:
    """Return the mean of known values and the ends of Student's t interval, NaN where unknown."""
    known = [value for value in values if not math.isnan(value)]
    middle, spread = fmean(known) if known else math.nan, math.nan
    if len(known) > 1:
        spread = float(stats.t.ppf(0.5 + CONFIDENCE / 2, len(known) - 1) * stats.sem(known))
    return middle, middle - spread, middle + spread


def judged(runs: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the runs with the columns of their rows (``row_...``) and two outcomes.

    ``success``: the run reached the fewest steps known, or the row's bound. ``closed``: it has the
    row's fewest steps and meets its own certified bound, or it shows that there is no schedule.
    """
    runs = runs.join(rows.add_prefix("row_"), on="row")
    held, none = runs.failure == "", runs.infeasible
    reached = runs.steps <= runs.row_best_known.astype(float)
    met = (certified_bounds(runs) == runs.steps) & (runs.steps == runs.row_steps.astype(float))
    return runs.assign(success=held & reached, closed=held & (none | met))


def reach_goal(runs: DataFrame) -> Series:
    """Return which judged runs reach the goal of their row, to which published rates refer."""
    return (runs.failure == "") & (runs.steps <= runs.row_goal.astype(float))


def aggregate(runs: DataFrame, by: Sequence[str], **more: Any) -> DataFrame:
    """Return the statistics of each group of runs; ``more`` names further aggregates.

    ``rows``, the numbers of rows with a ``closed`` run and with a success (``reached``); ``runs``,
    ``failures``, and ``successes`` with the interval of their rate; over the successes, seconds and
    evaluations to the best schedule; over all runs, processor seconds of starting and searching,
    and the number of those that ended before any engine began its search (``unsearched``).
    """
    has_engines = ~runs.contestant.str.startswith(HOST_GREEDY)
    data = runs.assign(
        tried=runs.row, closed=runs.row.where(runs.closed), reached=runs.row.where(runs.success),
        failed=runs.failure != "", seconds=runs.seconds_to_best.where(runs.success),
        evaluations=runs.evaluations_to_best.where(runs.success),
        unsearched=~runs.searched & has_engines,
    )  # fmt: skip
    groups = data.groupby([*by], sort=False)
    found = groups.agg(
        rows=("tried", "nunique"), runs=("tried", "size"), failures=("failed", "sum"),
        closed=("closed", "nunique"), reached=("reached", "nunique"), successes=("success", "sum"),
        seconds_mean=("seconds", lambda values: mean_of(values)[0]),
        seconds_median=("seconds", "median"), start_mean=("start_seconds", "mean"),
        search_mean=("search_seconds", "mean"), unsearched=("unsearched", "sum"), **more,
    ).reset_index()  # fmt: skip
    ends = [wilson(*counts) for counts in zip(found.successes, found.runs, strict=True)]
    found = found.join(DataFrame(ends, columns=["rate_low", "rate_high"]))
    return found.join(_means(groups.evaluations, "evaluations"))


def _means(groups: Any, name: str) -> DataFrame:
    means = [mean_of(values) for _, values in groups]
    return DataFrame(means, columns=[f"{name}_{end}" for end in ("mean", "low", "high")])


def scores(runs: DataFrame, groups: Sequence[str]) -> DataFrame:
    """Return the statistics of every contestant, over ``all`` first, then per group if several."""
    ordered = runs.sort_values("key", kind="stable")
    parts = {name: ordered[ordered.row_group == name] for name in groups if len(groups) > 1}
    return pd.concat(
        aggregate(part, CONTESTANT).assign(collective=name)
        for name, part in {"all": ordered, **parts}.items()
    )


def rates(runs: DataFrame) -> DataFrame:
    """Return every contestant's success rate in every row except conflict studies without a goal.

    The published rate, evaluations and time are those of the contestant's only engine;
    ``reaches_published`` says whether our rate is at least as high: ``yes``, ``no`` by the exact
    binomial test with Holm's correction (``cut off`` where runs that were cut off decide),
    ``NOT_SHOWN``, or ``impossible`` where a certified bound rules the goal out.
    """
    runs = runs[~runs.row_is_study | runs.row_rates.map(bool) | runs.row_mean_times.map(bool)]
    published = {"published": "rates", "their_evaluations": "mean_evaluations"}
    published["their_time"] = "mean_times"
    figures = {
        name: [
            values.get(only_engine(key)) if comparable else None
            for key, values, comparable in zip(
                runs.key, runs[f"row_{column}"], runs.row_comparable, strict=True
            )
        ]
        for name, column in published.items()
    }
    success = reach_goal(runs)
    ended = np.array([_is_cut_off(run) for run in runs.itertuples()], dtype=bool)
    cut_off = ~success & (runs.failure == "") & ended
    found = aggregate(
        runs.assign(success=success, cut_off=cut_off, **figures), ["row", *CONTESTANT],
        goal=("row_goal", "first"), bound=("row_lower_bound", "first"), cut_off=("cut_off", "sum"),
        **{name: (name, "first") for name in published},
    )  # fmt: skip
    published = found.published.astype(float) / 100
    ruled_out = published.notna() & (found.bound.fillna(0) > found.goal).fillna(False)
    known = found[published.notna() & ~ruled_out]
    tests = zip(known.successes, known.runs, published[known.index], strict=True)
    shown = holm([stats.binomtest(*counts).pvalue for counts in tests])
    below = Series(shown, index=known.index, dtype=bool).reindex(found.index, fill_value=False)
    reached = found.successes >= published * found.runs - 1e-9
    could = found.successes + found.cut_off >= published * found.runs - 1e-9
    cases = [published.isna(), ruled_out, reached, below & could, below]
    verdicts = np.select(cases, ["", "impossible", "yes", "cut off", "no"], NOT_SHOWN)
    rate = found.successes / found.runs
    return found.assign(rate=rate, published_rate=published, reaches_published=verdicts)


def _is_cut_off(run: Any) -> bool:
    """Return whether a limit ended a search; where that is unknown, the run itself."""
    if not math.isnan(run.cut_off):
        return bool(run.cut_off)
    budget = Contestant.from_key(run.key)
    seconds = budget.time_limit and usable_seconds(budget.time_limit)
    spent = ((run.max_evaluations, budget.evaluations), (run.seconds, seconds))
    return any(limit is not None and amount >= limit for amount, limit in spent)


def only_engine(key: str) -> str:
    """Return the only author of the contestant's schedules; "" for all engines, or several."""
    contestant = Contestant.from_key(key)
    engines = contestant.engines or ()
    return engines[0] if len(engines) == 1 and not contestant.first_schedule else ""


def remainders(runs: DataFrame) -> DataFrame:
    """Return the remaining conflicts of every contestant in every conflict study.

    ``verdict``: ``lowest mean`` of its row, or, of its conflicts beside those, ``more`` or
    ``NOT_SHOWN``; ``speed``: evaluations per second, over all its runs together; ``slower``: the
    highest speed of its row, divided by that.
    """
    data = runs[runs.row_is_study & (runs.failure == "") & runs.conflicts.notna()]
    known = (data.evaluations > 0) & (data.search_seconds > 0)
    data = data.assign(spent=data.evaluations.where(known), took=data.search_seconds.where(known))
    groups = data.groupby(["row", *CONTESTANT], sort=False)
    total = {name: (name, lambda values: sum(values.dropna())) for name in ("spent", "took")}
    found = groups.agg(runs=("seed", "size"), **total).reset_index()
    found = found.join(_means(groups.conflicts, "conflicts")).assign(speed=found.spent / found.took)
    rows = found.groupby("row")
    words = beside_lowest([*found["row"]], [*groups.conflicts.agg(list)])
    return found.assign(verdict=words, slower=rows.speed.transform("max") / found.speed)


def gains_of(rows: DataFrame) -> DataFrame:
    """Return the improvements in the best run of each row, in the order of time.

    A bound is an improvement if it is higher than those before it, or certifies a claimed one;
    bounds of 1 are trivial, and bounds above the row's were withdrawn.
    """
    data = [
        {"row": name, **vars(each)}
        for name, contributions in rows.contributions.items()
        for each in contributions
    ]
    entries = DataFrame(data)
    best = rows[["lower_bound", "claimed_bound"]].max(axis=1).fillna(0)
    entries["bound"] = entries["row"].map(best)
    bounds = entries[(entries.what == "bound") & (entries.lower <= entries.bound)]
    said = 2 * bounds.lower + bounds.certified
    before = said.groupby(bounds["row"]).cummax().groupby(bounds["row"]).shift(fill_value=0)
    return pd.concat([entries[entries.what == "schedule"], bounds[said > before.clip(lower=3)]])


def credit_of(gains: DataFrame) -> DataFrame:
    """Return the credit of every engine: schedules before bounds, in descending order.

    The numbers of rows in which it improved on the best known, found the best, and improved on
    another engine; and the median of the seconds to its last improvement.
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

    Only of rows that all contestants ran, so that a contestant with few easy rows is not above the
    others, and that were not shown to have no schedule. A failed seed counts as infinite.
    """
    runs = runs[~runs.row_infeasible]
    spent = runs.seconds_to_best.where(runs.success, math.inf).clip(lower=MIN_SECONDS)
    return spent.groupby([runs.row, runs.key]).agg(median_high).unstack().dropna()


def performance_profile(times: DataFrame) -> dict[str, Series]:
    """Return, by key, the share of rows solved within a factor of the best time.

    A row is solved by reaching the fewest steps known.

    References
    ----------
    E. D. Dolan, J. J. Moré, "Benchmarking optimization software with performance profiles",
    Mathematical Programming 91 (2002), doi:10.1007/s101070100263.
    """
    ratios = times.div(times.min(axis=1), axis=0)
    return {key: staircase(column, len(times)) for key, column in ratios.items()}


def settled_over_time(times: DataFrame, closed: Iterable[str]) -> dict[str, Series]:
    """Return, by key, the share of the rows of ``times`` that were settled, over time.

    A row is settled when the best schedule is found; only rows that are closed in the end count.
    """
    settled = times[times.index.isin(closed)]
    return {key: staircase(settled[key], len(times)) for key in times}


def staircase(values: Series, total: int) -> Series:
    """Return the step curve that rises by ``1 / total`` at every finite value, indexed by x."""
    return values[values < math.inf].value_counts().sort_index().cumsum() / total
