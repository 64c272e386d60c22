"""Studies in numbers: success rates beside published ones, and conflicts that are left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from cchybrid.bench.contestant import Contestant
from cchybrid.bench.report.intervals import Mean, mean_of, wilson
from cchybrid.bench.report.reading import Outcome
from cchybrid.bench.report.standing import Standing


@dataclass(frozen=True)
class Rate:
    """How often one contestant reached the goal of one row.

    Attributes
    ----------
    goal
        Steps of a success; ``None`` if nobody knows any.
    runs, successes
        Runs, failed ones included, and those that reached the goal.
    interval
        Of the success rate, at 95 % (Wilson).
    published
        Their rate between 0 and 1, of the engine of this contestant; ``None`` without one.
    evaluations, seconds
        To the best schedule of each success: the mean with its interval, and the mean.
    """

    row: str
    label: str
    goal: int | None
    runs: int
    successes: int
    interval: tuple[float, float]
    published: float | None
    evaluations: Mean | None
    seconds: float | None

    @property
    def verdict(self) -> str:
        """Whether ours is at least theirs; "" where nothing was published."""
        if self.published is None:
            return ""
        if self.successes >= self.published * self.runs - 1e-9:
            return "yes"
        return "no, but may be" if self.published <= self.interval[1] else "no"


@dataclass(frozen=True)
class Remainder:
    """The conflicts that one contestant is left with in one row.

    Attributes
    ----------
    runs
        Those that said how many.
    conflicts
        Their mean with its interval.
    speed
        Evaluations per second of search, over all runs together; ``None`` if nobody counted.
    slower
        How many times the fastest contestant's speed is this one's.
    best
        Whether nobody's mean is lower.
    """

    row: str
    contestant: Contestant
    label: str
    runs: int
    conflicts: Mean
    speed: float | None
    slower: float | None
    best: bool


def rates(
    standings: Sequence[Standing], contestants: Sequence[Contestant], names: Mapping[str, str]
) -> list[Rate]:
    """Return every rate, where any was published; else nothing."""
    if not any(standing.row.published.rates for standing in standings):
        return []
    found = []
    for standing in standings:
        for contestant in contestants:
            mine = _of(standing, contestant)
            if mine and not standing.is_study:
                found.append(_rate(standing, contestant, mine, names[contestant.key]))
    return found


def _rate(standing: Standing, contestant: Contestant, mine: Sequence[Outcome], label: str) -> Rate:
    goal, published = standing.goal, standing.row.published
    good = [
        outcome
        for outcome in mine
        if not outcome.failure
        and None not in (goal, outcome.steps)
        and (outcome.steps or 0) <= (goal or 0)
    ]
    counts = [o.evaluations_to_best for o in good if o.evaluations_to_best is not None]
    theirs = None
    if len(contestant.engines or ()) == 1 and published.comparable:
        theirs = published.rates.get((contestant.engines or ("",))[0])
    return Rate(
        row=standing.name,
        label=label,
        goal=goal,
        runs=len(mine),
        successes=len(good),
        interval=wilson(len(good), len(mine)),
        published=None if theirs is None else theirs / 100,
        evaluations=mean_of(counts),
        seconds=fmean(outcome.seconds_to_best for outcome in good) if good else None,
    )


def remainders(
    standings: Sequence[Standing], contestants: Sequence[Contestant], names: Mapping[str, str]
) -> list[Remainder]:
    """Return the conflicts left in every conflict study."""
    found = []
    for standing in (each for each in standings if each.is_study):
        told = {
            contestant.key: [
                outcome
                for outcome in _of(standing, contestant)
                if not outcome.failure and outcome.conflicts is not None
            ]
            for contestant in contestants
        }
        means = {key: mean_of([o.conflicts or 0 for o in mine]) for key, mine in told.items()}
        speeds = {key: _speed(mine) for key, mine in told.items()}
        least = min((mean.value for mean in means.values() if mean), default=0.0)
        most = max((speed for speed in speeds.values() if speed), default=0.0)
        for contestant in contestants:
            mean, speed = means[contestant.key], speeds[contestant.key]
            if mean is not None:
                found.append(
                    Remainder(
                        row=standing.name,
                        contestant=contestant,
                        label=names[contestant.key],
                        runs=len(told[contestant.key]),
                        conflicts=mean,
                        speed=speed,
                        slower=most / speed if speed else None,
                        best=mean.value == least,
                    )
                )
    return found


def _speed(outcomes: Sequence[Outcome]) -> float | None:
    pairs = [(o.evaluations, o.search_seconds) for o in outcomes]
    known = [(count, seconds) for count, seconds in pairs if count and seconds]
    if not known:
        return None
    return sum(count for count, _ in known) / sum(seconds for _, seconds in known)


def _of(standing: Standing, contestant: Contestant) -> list[Outcome]:
    return [o for o in standing.outcomes if o.contestant.key == contestant.key]
