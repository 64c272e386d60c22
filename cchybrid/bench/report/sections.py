"""What a report says, section by section; how it looks is the business of Markdown and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cchybrid.bench.contestant import labels, settings_of
from cchybrid.bench.report.columns import Cell, Table, bound_cell, full_table
from cchybrid.bench.report.commands import commands_of, outcomes_of
from cchybrid.bench.report.comparison import Comparison, compare
from cchybrid.bench.report.credit import credit_sections
from cchybrid.bench.report.reading import Reading
from cchybrid.bench.report.section import Section
from cchybrid.bench.report.standing import (
    STUDY,
    VERDICTS,
    Standing,
    contradictions,
    standings,
)
from cchybrid.bench.report.statistics import Score, scores
from cchybrid.bench.report.studies import rates, remainders
from cchybrid.bench.report.study_sections import rate_sections, remainder_sections
from cchybrid.library.node_lists import format_nodes


@dataclass(frozen=True)
class Report:
    """Everything a report says.

    Attributes
    ----------
    title
        The heading of all.
    commands
        The command lines that made the store, then the one that makes the report.
    facts
        A few lines on the whole: contestants, versions, counts.
    sections
        In their order; the last is the full table.
    """

    title: str
    commands: tuple[str, ...]
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    reading: Reading
    standings: tuple[Standing, ...]
    names: dict[str, str] = field(default_factory=dict)
    comparison: Comparison | None = None


def compose(reading: Reading, other: Reading | None, command: str) -> Report:
    """Put a report together.

    Parameters
    ----------
    other
        The store to compare with.
    command
        The command line that makes the report.
    """
    rows = standings(reading)
    names = labels(reading.contestants)
    comparison = None if other is None else compare(rows, standings(other))
    everyone = reading.contestants
    sections = [summary(rows)]
    sections += rate_sections(rates(rows, everyone, names))
    sections += remainder_sections(remainders(rows, everyone, names))
    scheduled = [row for row in rows if not row.is_study]
    if scheduled:
        sections += [*_new(scheduled), *_against_papers(scheduled), *_unfinished(scheduled)]
        sections += credit_sections(scheduled)
        sections += _contestants(scores(scheduled, everyone, names))
    if comparison is not None and other is not None:
        sections.append(_comparison(comparison, other))
    sections += _troubles(rows, names, reading)
    about = "Times are means over the seeds with which the best contestant reached those steps."
    sections.append(Section("All rows", about, table=full_table(rows)))
    commands = (*commands_of(reading), command)
    facts = _facts(reading, rows)
    return Report(
        f"Benchmark {reading.suite}",
        commands,
        facts,
        tuple(sections),
        reading,
        rows,
        names,
        comparison,
    )


def summary(rows: Sequence[Standing]) -> Section:
    """Return the counts by collective."""
    rare = ("no result", STUDY)
    verdicts = [v for v in VERDICTS if v not in rare or any(r.verdict == v for r in rows)]
    lines: list[tuple[Cell, ...]] = []
    groups = list(dict.fromkeys(row.collective for row in rows))
    for group in (*groups, "all"):
        mine = [row for row in rows if group in ("all", row.collective)]
        closed = sum(bool(row.proof) for row in mine)
        certified = sum(row.proof == "certified" for row in mine)
        counts = [sum(row.verdict == verdict for row in mine) for verdict in verdicts]
        lines.append((group, len(mine), closed, certified, *counts))
    return Section(
        "Summary",
        "Closed: the steps of a verified schedule meet a lower bound, or there is provably no"
        " schedule; certified: the proof was checked again for this report. Better, equal, worse:"
        " our steps against the published ones; new: nothing was published.",
        table=Table(("collective", "rows", "closed", "certified", *verdicts), tuple(lines)),
    )


def _new(rows: Sequence[Standing]) -> list[Section]:
    """Return the section on what the rows' sources have not, if they have any steps."""
    if all(row.row.published.steps is None for row in rows):
        return []
    found = {
        "better": [row for row in rows if row.verdict == "better"],
        "nothing published": [row for row in rows if row.verdict == "new"],
        "impossible": [row for row in rows if row.published_is_impossible],
    }
    lines: list[tuple[Cell, ...]] = [
        (row.name, word, row.row.published.steps, _ours(row), bound_cell(row), row.engine)
        for word, mine in found.items()
        for row in mine
    ]
    text = (
        f"Better than published: {len(found['better'])} rows; nothing was published:"
        f" {len(found['nothing published'])}; published steps that a certified bound rules out:"
        f" {len(found['impossible'])}."
        " New is meant beside the source of the row: others may know it."
    )
    headers = ("row", "what is new", "published", "ours", "lower bound", "engine")
    table = Table(headers, tuple(lines)) if lines else None
    return [Section("New beside the papers", text, table=table)]


def _ours(row: Standing) -> Cell:
    return "no schedule exists" if row.infeasible else row.steps


def _against_papers(rows: Sequence[Standing]) -> list[Section]:
    worse = []
    for row in (row for row in rows if row.verdict == "worse"):
        ours = "no schedule" if row.steps is None else f"{row.steps} steps"
        line = f"{row.name}: {ours}, published {row.row.published.steps}"
        if row.published_is_impossible:
            proof = "no schedule at all" if row.infeasible else f"at least {row.lower_bound} steps"
            line += f" (which a certified bound rules out: {proof})"
        note = row.row.published.note
        worse.append(f"{line}; {note}" if note else line)
    refuted = [
        f"{row.name}: published bound {row.row.published.lower_bound}, our schedule has {row.steps}"
        for row in rows
        if row.bound_verdict == "refuted"
    ]
    counts = [
        f"{word}: {sum(row.bound_verdict == word for row in rows)}"
        for word in ("tighter", "equal", "weaker", "refuted")
        if any(row.bound_verdict == word for row in rows)
    ]
    sections = [Section("Worse than published", "" if worse else "None.", tuple(worse))]
    if counts:
        sections.append(
            Section("Lower bounds against the published", "Rows: " + ", ".join(counts) + ".")
        )
    if refuted:
        sections.append(
            Section("Published lower bounds that schedules refute", lines=tuple(refuted))
        )
    return sections


def _unfinished(rows: Sequence[Standing]) -> list[Section]:
    table = Table(
        ("row", "steps", "lower bound", "gap", "published", "state"),
        tuple(
            (row.name, row.steps, bound_cell(row), row.gap, row.row.published.steps, row.state)
            for row in rows
            if row.outcomes and not row.proof
        ),
    )
    if not table.rows:
        return [Section("Not closed", "None.")]
    return [Section("Not closed", table=table)]


def _contestants(found: Sequence[Score]) -> list[Section]:
    headers = (
        "contestant", "rows", "runs", "failures", "closed", "best known reached", "successes",
        "success rate", "95 % interval", "mean s", "median s",
    )  # fmt: skip
    total = [score for score in found if score.collective == "all"]
    parts = [score for score in found if score.collective != "all"]
    text = (
        "A success is a run that reaches the fewest steps known for its row, or the row's bound;"
        " the interval is Wilson's. Seconds are those to the best schedule, over the successes."
    )
    sections = [Section("Contestants", text, table=Table(headers, tuple(map(_line, total))))]
    if parts:
        rows = tuple((score.collective, *_line(score)) for score in parts)
        table = Table(("collective", *headers), rows)
        sections.append(Section("Contestants by collective", table=table))
    return sections


def _line(score: Score) -> tuple[Cell, ...]:
    low, high = score.interval
    return (
        score.label, score.rows, score.runs, score.failures, score.closed, score.reached,
        score.successes, f"{100 * score.successes / score.runs:.0f} %",
        f"{100 * low:.0f} to {100 * high:.0f} %", score.mean_seconds, score.median_seconds,
    )  # fmt: skip


def _comparison(comparison: Comparison, other: Reading) -> Section:
    words = (
        "fewer steps",
        "more steps",
        "tighter bound",
        "weaker bound",
        "faster",
        "slower",
    )
    counts = ", ".join(f"{word} {comparison.count(word)}" for word in words)
    same = comparison.common - len(comparison.differences)
    text = f"{comparison.common} rows in both, {same} of them the same; here: {counts}."
    if comparison.only_here:
        text += f" {len(comparison.only_here)} rows only here."
    if comparison.only_there:
        text += f" {len(comparison.only_there)} rows only there."
    text += " Times differ by more than a factor of 1.5 and more than a second."
    lines: list[tuple[Cell, ...]] = []
    for each in comparison.differences:
        here, there = each.here, each.there
        lines.append(
            (here.name, ", ".join(each.words), here.steps, there.steps, here.lower_bound,
             there.lower_bound, here.seconds_to_best, there.seconds_to_best)
        )  # fmt: skip
    headers = (
        "row", "here", "steps here", "steps there", "bound here", "bound there", "s here",
        "s there",
    )  # fmt: skip
    title = f"Compared with {other.path.name}"
    return Section(title, text, table=Table(headers, tuple(lines)) if lines else None)


def _troubles(
    rows: Sequence[Standing], names: Mapping[str, str], reading: Reading
) -> list[Section]:
    outcomes = [outcome for row in rows for outcome in row.outcomes]
    bad = [f"{o.title(names)}: {o.failure}" for o in outcomes if not o.held]
    bad += [text for row in rows for text in contradictions(row, names)]
    failed = [f"{o.title(names)}: {o.failure}" for o in outcomes if o.held and o.failure]
    told = [f"{o.title(names)}: {text}" for o in outcomes for text in o.troubles]
    unchecked = [f"{name}: {why}" for name, why in reading.unchecked.items()]
    found = (
        (
            "Rows whose instances could not be looked up",
            "Their runs do not count: whose they are cannot be told.",
            unchecked,
        ),
        ("Runs that do not hold, and claims that are refuted", "They do not count.", bad),
        ("Runs that failed", "The command that made the store tries them again.", failed),
        ("Troubles during runs", "", told),
    )
    return [Section(title, text, tuple(lines)) for title, text, lines in found if lines]


def _facts(reading: Reading, rows: Sequence[Standing]) -> tuple[str, ...]:
    outcomes = [outcome for row in rows for outcome in row.outcomes]
    facts = []
    for contestant in reading.contestants:
        seeds = {outcome.seed for outcome in outcomes_of(contestant, reading)}
        words = [contestant.name, contestant.budget, *settings_of(contestant)]
        facts.append(f"contestant {', '.join(words)}; seeds {format_nodes(seeds)}")
    versions: dict[str, set[str]] = {}
    for outcome in outcomes:
        for name, version in (outcome.versions or {}).items():
            versions.setdefault(name, set()).add(version)
    if versions:
        texts = [f"{name} {' and '.join(sorted(found))}" for name, found in versions.items()]
        facts.append(f"versions: {', '.join(texts)}")
    counted = sum(not outcome.failure for outcome in outcomes)
    facts.append(
        f"{len(rows)} rows, {len(outcomes)} runs, {counted} of them verified again for this report"
    )
    return tuple(facts)
