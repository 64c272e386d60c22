"""What the runs of each contestant amount to: rates, times, and the data of the plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, median_high

from cchybrid.bench.contestant import Contestant
from cchybrid.bench.report.intervals import wilson
from cchybrid.bench.report.reading import Outcome
from cchybrid.bench.report.standing import Standing

SHORTEST = 0.01
"""Seconds below which all times count as the same in the plots."""

Curve = list[tuple[float, float]]
"""Corners of a staircase: from x on, the share is y."""


@dataclass(frozen=True)
class Score:
    """What one contestant did, in one collective or in all.

    Attributes
    ----------
    label, collective
        Who, and where; ``all`` for everything.
    rows, runs, failures
        Rows tried, runs, and runs without a result that holds.
    closed
        Rows in which one of its runs met its own lower bound, or showed that there is no schedule.
    reached
        Rows in which one of its runs was a success.
    successes
        Runs that reached the fewest steps known for the row, or the row's bound.
    interval
        Of the success rate, at 95 % (Wilson).
    mean_seconds, median_seconds
        To the best schedule, over the successes; ``None`` without any.
    """

    label: str
    collective: str
    rows: int
    runs: int
    failures: int
    closed: int
    reached: int
    successes: int
    interval: tuple[float, float]
    mean_seconds: float | None
    median_seconds: float | None


def scores(
    standings: Sequence[Standing], contestants: Sequence[Contestant], names: Mapping[str, str]
) -> list[Score]:
    """Return the score of every contestant: over all first, then per collective."""
    collectives = list(dict.fromkeys(standing.collective for standing in standings))
    groups = ["all", *(collectives if len(collectives) > 1 else [])]
    found = []
    for group in groups:
        rows = [each for each in standings if group in ("all", each.collective)]
        for contestant in contestants:
            score = _score(rows, contestant.key, names[contestant.key], group)
            if score.runs:
                found.append(score)
    return found


def _score(rows: Sequence[Standing], key: str, label: str, collective: str) -> Score:
    tried = closed = reached = runs = failures = 0
    seconds: list[float] = []
    for standing in rows:
        mine = _of(standing, key)
        good = [outcome for outcome in mine if standing.reached(outcome)]
        tried += bool(mine)
        runs += len(mine)
        failures += sum(bool(outcome.failure) for outcome in mine)
        closed += any(
            (outcome.infeasible and standing.infeasible)
            or outcome.lower_bound == outcome.steps == standing.steps
            for outcome in mine
            if not outcome.failure
        )
        reached += bool(good)
        seconds += [outcome.seconds_to_best for outcome in good]
    return Score(
        label,
        collective,
        tried,
        runs,
        failures,
        closed,
        reached,
        len(seconds),
        wilson(len(seconds), runs),
        fmean(seconds) if seconds else None,
        median(seconds) if seconds else None,
    )


def performance_profile(
    standings: Sequence[Standing], contestants: Sequence[Contestant]
) -> dict[str, Curve]:
    """Return, by contestant, the share of rows solved within a factor of the best time.

    E. D. Dolan, J. J. More, Benchmarking optimization software with performance profiles,
    Mathematical Programming 91 (2), 2002, 201-213. A row is solved by reaching the fewest steps
    known; its time is the median over the seeds, a failed seed counting as for ever. Only rows
    that all contestants tried take part; none: no profile.
    """
    common = [
        standing
        for standing in standings
        if all(_of(standing, contestant.key) for contestant in contestants)
    ]
    if not common:
        return {}
    ratios: dict[str, list[float]] = {contestant.key: [] for contestant in contestants}
    for standing in common:
        times = {key: max(SHORTEST, _time(standing, key)) for key in ratios}
        best = min(times.values())
        for key, time in times.items():
            if math.isfinite(time):
                ratios[key].append(time / best)
    return {key: staircase(values, len(common)) for key, values in ratios.items()}


def settled_over_time(
    standings: Sequence[Standing], contestants: Sequence[Contestant]
) -> dict[str, Curve]:
    """Return, by contestant, the share of the rows it tried whose best schedule it had by then.

    Only closed rows can be settled: those whose fewest steps meet a bound. The time is the median
    over the seeds, a seed that did not get there counting as for ever.
    """
    found = {}
    for contestant in contestants:
        tried = [standing for standing in standings if _of(standing, contestant.key)]
        times = [
            _time(standing, contestant.key)
            for standing in tried
            if standing.steps is not None and standing.proof
        ]
        finite = [max(SHORTEST, time) for time in times if math.isfinite(time)]
        if tried:
            found[contestant.key] = staircase(finite, len(tried))
    return found


def staircase(values: Sequence[float], total: int) -> Curve:
    """Return the corners of the curve that climbs by ``1 / total`` at every value."""
    corners: dict[float, float] = {}
    for count, value in enumerate(sorted(values), 1):
        corners[value] = count / total
    return list(corners.items())


def _of(standing: Standing, key: str) -> list[Outcome]:
    return [outcome for outcome in standing.outcomes if outcome.contestant.key == key]


def _time(standing: Standing, key: str) -> float:
    return median_high(
        outcome.seconds_to_best if standing.reached(outcome) else math.inf
        for outcome in _of(standing, key)
    )
