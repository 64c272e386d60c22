"""Teams beside their members: whether engines are better together, and which one seeded which."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from statistics import fmean

import numpy as np
from pandas import DataFrame, Series
from scipy import stats

from cchybrid.plugin.registry import load_registry

from ..contestant import Contestant
from .statistics import CONFIDENCE, mean_of

VERDICTS = ("better", "faster", "equal", "slower", "worse")
"""Better, worse: the interval of the difference of the mean seconds excludes zero. Faster, slower:
the means differ, and the interval includes zero. Equal: the means are the same."""


def members_of(key: str, others: Iterable[str]) -> list[str]:
    """Return the contestants of one engine each that a team can be compared with.

    A team has several engines, or all but baselines; its members run under the same budget.
    """
    team = Contestant.from_key(key)
    engines = team.team(load_registry())
    if len(engines) < 2:
        return []
    found = []
    for other in others:
        alone = Contestant.from_key(other)
        if (
            alone.engines is None
            or len(alone.engines) != 1
            or _limits_of(alone) != _limits_of(team)
        ):
            continue
        if alone.engines[0] in engines:
            found.append(other)
    return found


def _limits_of(contestant: Contestant) -> tuple[object, ...]:
    """Return the budget of a contestant, and whether the host's greedy schedule takes part."""
    one = contestant
    return one.time_limit, one.evaluations, one.threads, one.first_schedule


def beside_members(runs: DataFrame) -> DataFrame:
    """Return, per row and team, the team's runs beside those of the better one of its members.

    The better member has a higher success rate, then fewer seconds. ``seconds`` are means to the
    best schedule, for a run without success as in ``_limits``; ``low`` and ``high`` are Student's
    interval at 95 %; ``verdict`` is one of ``VERDICTS``, by Welch's interval of the difference.
    """
    runs = runs.assign(penalised=runs.seconds_to_best.where(runs.success, _limits(runs)))
    names = dict(zip(runs.key, runs.contestant, strict=True))
    keys = sorted(set(runs.key))
    lines = []
    for key in keys:
        rivals = members_of(key, keys)
        for row, ours in runs[runs.key == key].groupby("row", sort=False):
            theirs = [runs[(runs.key == rival) & (runs.row == row)] for rival in rivals]
            theirs = [group for group in theirs if len(group)]
            if not theirs:
                continue
            best = min(theirs, key=lambda group: (-group.success.mean(), group.penalised.mean()))
            line = {"row": row, "team": names[key], **_summary(ours)}
            line |= {"member": best.contestant.iloc[0]}
            line |= {f"member_{name}": value for name, value in _summary(best).items()}
            line["verdict"] = verdict(ours.penalised.tolist(), best.penalised.tolist())
            lines.append(line)
    return DataFrame(lines)


def _limits(runs: DataFrame) -> Series:
    """Return the time limit of every run; where it had none, the longest time of its row."""
    limits = {key: Contestant.from_key(key).time_limit for key in set(runs.key)}
    longest = runs.seconds.groupby(runs["row"]).transform("max")
    return runs.key.map(limits).astype(float).fillna(longest)


def _summary(runs: DataFrame) -> dict[str, float]:
    mean, low, high = mean_of(runs.penalised)
    return {
        "runs": len(runs),
        "successes": int(runs.success.sum()),
        "closed": int(runs.closed.sum()),
        "seconds": mean,
        "low": low,
        "high": high,
    }


def verdict(ours: list[float], theirs: list[float]) -> str:
    """Return how the means of two samples of seconds compare: one of ``VERDICTS``.

    B. L. Welch, The generalization of Student's problem when several different population
    variances are involved, Biometrika 34, 1947, 28-35, https://doi.org/10.1093/biomet/34.1-2.28
    """
    difference = fmean(ours) - fmean(theirs)
    if not abs(difference) > 0:  # or no run has a time
        return "equal"
    sure = False
    if min(len(ours), len(theirs)) > 1:
        # SciPy warns of samples without any spread, which differ for sure: 0 or NaN.
        with warnings.catch_warnings(action="ignore"):
            value = stats.ttest_ind(ours, theirs, equal_var=False).pvalue
        sure = not value > 1 - CONFIDENCE
    if difference < 0:
        return "better" if sure else "faster"
    return "worse" if sure else "slower"


def seeds_of_teams(runs: DataFrame) -> DataFrame:
    """Return in how many runs the best schedule of one engine was seeded by another.

    ``successes`` counts those of them that are a success.
    """
    lines = []
    for run in runs.itertuples():
        found = [entry for entry in run.contributions if entry.what == "schedule"]
        if found and found[-1].seeded_by:
            seeded = found[-1]
            lines.append((run.contestant, seeded.author, seeded.seeded_by, bool(run.success)))
    names = ["contestant", "found by", "seeded by"]
    table = DataFrame(lines, columns=[*names, "success"])
    counts = table.groupby(names).success.agg(runs="size", successes="sum").reset_index()
    return counts.astype({"successes": np.int64})
