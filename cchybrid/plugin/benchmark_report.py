"""The content of a report on benchmarks, and the sections that reports of all kinds have."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cchybrid.model.shown import counted
from cchybrid.model.text import one_line
from cchybrid.plugin.benchmark import CheckedSuite, StoredRun

Table = Any
"""A list of mappings, a line each, or a ``pandas.DataFrame``."""


@dataclass(frozen=True)
class Section:
    """A heading, then text, then a list, then a table.

    Parameters
    ----------
    title, text, lines, table
        The heading, the text, the list and the table.
    file, record
        A CSV file of the report, and the table that is written to it.
    """

    title: str
    text: str = ""
    lines: Sequence[str] = ()
    table: Table | None = None
    file: str = ""
    record: Table | None = None


@dataclass(frozen=True)
class Report:
    """The content of a report.

    Attributes
    ----------
    facts
        What holds for all of it, a line each.
    sections
        The first is the summary, the last the table of all rows.
    table
        The lines of ``report.csv``.
    columns
        The columns of ``report.csv``.
    plots
        Returns titles and SVG elements for the page; drawn only if the page is written.
    paper
        Returns the files of ``--latex`` by name; none for a kind without a table in LaTeX. Raises
        an ``InputError`` if there can be none of these rows.
    """

    facts: Sequence[str]
    sections: Sequence[Section]
    table: Table
    columns: Sequence[str]
    plots: Callable[[], Sequence[tuple[str, str]]] = tuple
    paper: Callable[[], Mapping[str, bytes]] = dict


def machine_of(run: StoredRun) -> str:
    """Return the machine on which a run was made, as its result has it; ``unknown`` without one."""
    found = run.result.get("machine")
    return (one_line(found) if isinstance(found, str) else "") or "unknown"


def machines_of(checked: CheckedSuite) -> list[str]:
    """Return a line for each machine on which runs that count were made, and one if several."""
    counts = Counter(machine_of(each.run) for each in checked.all_runs if not each.failure)
    lines = [f"machine {name}; runs: {count}" for name, count in sorted(counts.items())]
    return [*lines, "several machines: seconds may differ by them, too"] if lines[1:] else lines


def missing(checked: CheckedSuite) -> list[Section]:
    """Return the section on rows without a run that counts, if there are any."""
    lines = [
        f"{name}: {'no run counts' if runs else 'not run'}"
        for name, runs in checked.runs.items()
        if all(run.failure for run in runs)
    ]
    return [Section("No result", lines=lines)] if lines else []


def exclusions(
    checked: CheckedSuite, bad: Sequence[str] | None = None, failed: Sequence[str] | None = None
) -> list[Section]:
    """Return the sections on rows that changed and on runs that do not count.

    ``bad`` and ``failed`` are the lines of runs that do not hold and of runs that failed, by
    default by row and seed.
    """
    runs = checked.all_runs
    if bad is None:
        bad = [run.line for run in runs if not run.held]
    if failed is None:
        failed = [run.line for run in runs if run.held and run.failure]
    lost = [f"{name}: {why}" for name, why in checked.unchecked.items()]
    not_counted = "Their runs do not count, since their instances are unknown."
    sections = (
        ("Rows that differ from the suite now", "Those of the store count.", checked.changed),
        ("Rows whose instances could not be looked up", not_counted, lost),
        (
            "Runs that do not hold, and claims that are refuted",
            "They do not count.",
            [*checked.excluded, *bad],
        ),
        ("Runs that failed", "The command that made the store tries them again.", failed),
    )
    return [Section(title, text, lines) for title, text, lines in sections if lines]


def counts_of(checked: CheckedSuite) -> str:
    """Return the numbers of rows, of runs, of verified runs, and of runs that do not hold."""
    runs = [run for run in checked.all_runs if run.held]
    bad = len(checked.all_runs) - len(runs)
    return (
        f"{counted(len(checked.runs), 'row')}, {counted(len(runs), 'run')},"
        f" {sum(not run.failure for run in runs)} of them verified again for this report"
        + (f"; {counted(bad, 'run')} more that do not hold and do not count" if bad else "")
    )
