"""The sections of a report on studies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cchybrid.bench.contestant import settings_of
from cchybrid.bench.report.columns import Cell, Table
from cchybrid.bench.report.intervals import Mean
from cchybrid.bench.report.section import Section
from cchybrid.bench.report.studies import Rate, Remainder


def rate_sections(found: Sequence[Rate]) -> list[Section]:
    """Return the section on success rates, if there are any."""
    if not found:
        return []
    headers = (
        "row", "contestant", "goal", "runs", "successes", "success rate", "95 % interval",
        "published", "at least theirs", "mean evaluations", "interval of evaluations", "mean s",
    )  # fmt: skip
    beside = [rate for rate in found if rate.published is not None]
    good = sum(rate.verdict == "yes" for rate in beside)
    unclear = sum(rate.verdict.startswith("no,") for rate in beside)
    text = (
        "A success is a run that reaches the goal, the steps of the published successes (without"
        " any: the fewest known). Interval of the rate: Wilson's; of the evaluations: Student's;"
        " both at 95 %. Evaluations and seconds are those to the best schedule, over the"
        f" successes. At least the published rate: {good} of {len(beside)}; in {unclear} of the"
        " others the published rate lies within our interval (no, but may be)."
    )
    table = Table(headers, tuple(map(_rate_line, found)))
    record = Table(_RATE_COLUMNS, tuple(map(_rate_record, found)))
    return [Section("Success rates", text, table=table, file="success-rates.csv", record=record)]


def _rate_line(rate: Rate) -> tuple[Cell, ...]:
    mean = rate.evaluations
    return (
        rate.row, rate.label, rate.goal, rate.runs, rate.successes,
        _percent(rate.successes / rate.runs), _range(rate.interval, _percent),
        "" if rate.published is None else _percent(rate.published), rate.verdict,
        None if mean is None else round(mean.value),
        "" if mean is None or mean.interval is None else _range(mean.interval, _whole),
        rate.seconds,
    )  # fmt: skip


_RATE_COLUMNS = (
    "row", "contestant", "goal", "runs", "successes", "rate", "rate_low", "rate_high",
    "published_rate", "at_least_published", "evaluations_mean", "evaluations_low",
    "evaluations_high", "seconds_mean",
)  # fmt: skip


def _rate_record(rate: Rate) -> tuple[Cell, ...]:
    return (
        rate.row, rate.label, rate.goal, rate.runs, rate.successes, rate.successes / rate.runs,
        *rate.interval, rate.published, rate.verdict, *_numbers(rate.evaluations), rate.seconds,
    )  # fmt: skip


def _numbers(mean: Mean | None) -> tuple[float | None, float | None, float | None]:
    if mean is None:
        return None, None, None
    low, high = mean.interval or (None, None)
    return mean.value, low, high


def remainder_sections(found: Sequence[Remainder]) -> list[Section]:
    """Return the section on conflicts that are left, if there are any."""
    if not found:
        return []
    headers = (
        "row", "contestant", "runs", "mean conflicts", "95 % interval", "best", "evaluations/s",
        "slower than the fastest",
    )  # fmt: skip
    text = (
        "Every run searched for the number of steps of its row, without any bound, until it had a"
        " schedule (no conflicts) or its budget was spent; conflicts are those of its best"
        " near-solution, by the engine's own count, as are evaluations. The interval of their mean"
        " is Student's at 95 %. Evaluations per second are those of the search alone, without the"
        " start of processes."
    )
    table = Table(headers, tuple(map(_remainder_line, found)))
    record = Table(_REMAINDER_COLUMNS, tuple(map(_remainder_record, found)))
    return [Section("Conflicts left", text, table=table, file="conflicts.csv", record=record)]


_REMAINDER_COLUMNS = (
    "row", "contestant", "settings", "runs", "conflicts_mean", "conflicts_low", "conflicts_high",
    "best", "evaluations_per_second", "slower_than_the_fastest",
)  # fmt: skip


def _remainder_record(left: Remainder) -> tuple[Cell, ...]:
    return (
        left.row, left.contestant.name, " ".join(settings_of(left.contestant)), left.runs,
        *_numbers(left.conflicts), "yes" if left.best else "no", left.speed, left.slower,
    )  # fmt: skip


def _remainder_line(left: Remainder) -> tuple[Cell, ...]:
    interval = left.conflicts.interval
    return (
        left.row, left.label, left.runs, float(left.conflicts.value),
        "" if interval is None else _range(interval, lambda value: f"{value:.1f}"),
        "best" if left.best else "", None if left.speed is None else round(left.speed),
        left.slower,
    )  # fmt: skip


def _range(interval: tuple[float, float], show: Callable[[float], str]) -> str:
    low, high = interval
    return f"{show(max(low, 0.0)).removesuffix(' %')} to {show(high)}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _whole(value: float) -> str:
    return f"{value:.0f}"
