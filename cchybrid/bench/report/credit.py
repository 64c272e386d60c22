"""Who contributed what: the story of a row's best run, and the share of each engine in all rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from cchybrid.bench.report.columns import Table
from cchybrid.bench.report.section import Section
from cchybrid.bench.report.standing import Standing
from cchybrid.host.run_history import Contribution

MOST = 5
"""So many ways are named."""


@dataclass
class Credit:
    """What is owed to one engine or bound provider.

    Attributes
    ----------
    author, what
        Who, and whether it is about its schedules or its bounds.
    rows
        Rows in which it found something better than was known.
    best
        Rows whose best schedule, or best bound, is owed to it.
    improved
        Rows in which somebody else had found something worse before.
    seconds
        Per row, when it found its last.
    """

    author: str
    what: str
    rows: int = 0
    best: int = 0
    improved: int = 0
    seconds: list[float] = field(default_factory=list)


def credit_of(standings: Sequence[Standing]) -> list[Credit]:
    """Return what is owed to whom, in the best run of each row: schedules first, most first."""
    found: dict[tuple[str, str], Credit] = {}
    for standing in standings:
        for what, gains in (("schedule", _schedules(standing)), ("bound", _bounds(standing))):
            last = {gain.author: gain for gain in gains}
            after = {
                gain.author for before, gain in pairwise(gains) if before.author != gain.author
            }
            for author, gain in last.items():
                credit = found.setdefault((what, author), Credit(author, what))
                credit.rows += 1
                credit.best += gain is gains[-1] and _stands(gain, standing)
                credit.improved += author in after
                credit.seconds.append(gain.seconds)
    return sorted(found.values(), key=lambda c: (c.what != "schedule", -c.best, -c.rows, c.author))


def credit_sections(standings: Sequence[Standing]) -> list[Section]:
    """Return the section on what each engine contributed; none where no run tells."""
    telling = [standing for standing in standings if standing.course]
    if not telling:
        return []
    text = (
        f"In the best run of each row; {len(telling)} of {len(standings)} rows tell. Rows: it found"
        " something better than was known; best: the best schedule, or the best bound, is owed to"
        " it; improved on others: somebody else had found something worse before. Seconds are"
        " those to its last in each row."
    )
    lines = tuple(
        (each.author, f"{each.what}s", each.rows, each.best, each.improved, median(each.seconds))
        for each in credit_of(telling)
    )
    headers = ("by", "what", "rows", "best", "improved on others", "median s")
    table = Table(headers, lines) if lines else None
    ways = _ways(telling)
    return [Section("What each engine contributed", f"{text} {ways}".strip(), table=table)]


def _ways(standings: Sequence[Standing]) -> str:
    """Return the ways in which schedules were found in most rows, such as quotients by groups."""
    counts = Counter(
        how
        for standing in standings
        for how in dict.fromkeys(gain.how for gain in _schedules(standing) if gain.how)
    )
    if not counts:
        return ""
    ordered = sorted(counts, key=lambda how: (-counts[how], how))
    named = [f"{how} ({_rows(counts[how])})" for how in ordered[:MOST]]
    if len(ordered) > MOST:
        named.append(f"{len(ordered) - MOST} others")
    return f"Schedules were found by way of: {', '.join(named)}."


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _schedules(standing: Standing) -> list[Contribution]:
    return [entry for entry in standing.course if entry.what == "schedule"]


def _bounds(standing: Standing) -> list[Contribution]:
    """Return the bounds that said more than those before them, or made certain what was claimed.

    That something takes a step says nothing, and what exceeds the row's bound was withdrawn.
    """
    gains: list[Contribution] = []
    known = (1, True)
    for entry in standing.course:
        said = (entry.lower, entry.certified)
        if entry.what == "bound" and said > known and entry.lower <= _bound(standing):
            gains.append(entry)
            known = said
    return gains


def _stands(gain: Contribution, standing: Standing) -> bool:
    """Return whether no other run has something better."""
    return gain.what == "schedule" or gain.lower == _bound(standing)


def _bound(standing: Standing) -> int:
    return max(standing.lower_bound or 0, standing.claimed or 0)
