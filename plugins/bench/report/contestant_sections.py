"""The sections of the report on contestants, their steps, and teams beside their members."""

from collections.abc import Iterable
from math import comb, inf

from pandas import CategoricalDtype, DataFrame, Series

from cchybrid.model.shown import counted
from cchybrid.plugin.benchmark_report import Section

from .cells import percent, ranges, shown
from .significance import beside_lowest_of_all
from .teams import VERDICTS, beside_members, seeds_of_teams
from .texts import text_of

MAX_COLUMNS = 8
"""Contestants above which the page has no table of their steps, which would be too wide."""


def contestants(runs: DataFrame, found: DataFrame, without: str) -> list[Section]:
    """Return the sections on the scores of contestants, and on how their seconds compare."""
    idle = (found.unsearched == found.runs) & (found.successes == 0)
    names = ["collective", "contestant", "rows", "runs", "failures", "closed"]
    table = found[names].assign(**{
        "best known reached": found.reached, "successes": found.successes,
        "success rate": (100 * found.successes / found.runs).map("{:.0f} %".format).mask(idle, ""),
        "95 % interval": ranges(found.rate_low.mask(idle), found.rate_high, percent),
        "mean s": found.seconds_mean, "median s": found.seconds_median,
        "start, mean s": found.start_mean, "search, mean s": found.search_mean,
        **({"no search": found.unsearched} if found.unsearched.any() else {}),
    })  # fmt: skip
    parts = found.collective != "all"
    overall = table[~parts].drop(columns="collective")
    compared = beside_lowest_of_all(runs[~runs.key.isin(found.key[idle & ~parts])])
    if compared:
        overall["seconds over all runs"] = [compared.get(key, "") for key in found.key[~parts]]
    text = text_of(
        "contestants", without=without, unsearched=found.unsearched.any(),
        pairs=comb(len(compared), 2),
    )  # fmt: skip
    total = Section("Contestants", text, table=overall)
    by_collective = Section("Contestants by collective", table=table[parts])
    return [total, by_collective] if parts.any() else [total]


def steps(runs: DataFrame, order: Iterable[str]) -> list[Section]:
    """Return the section on the steps of several contestants in the rows, in this order.

    Only in rows with different steps or several runs of a contestant; none without such rows.
    """
    runs = runs.assign(steps=runs.steps.where(runs.failure == "").fillna(inf)).sort_values("key")
    kinds = {"row": CategoricalDtype([*order])}
    kinds["contestant"] = CategoricalDtype([*runs.contestant.unique()])
    groups = runs.astype(kinds).groupby([*kinds], observed=True).steps
    found = groups.agg(runs="size", best="min", median="median", worst="max")
    rows = found.groupby("row", observed=True)
    differ = rows.best.transform("min") < rows.worst.transform("max")
    found = found[differ | (rows.runs.transform("max") > 1)]
    count = len(kinds["contestant"].categories)
    if count < 2 or found.empty:
        return []
    text = "Best, median and worst steps of the runs; one number: all are equal; none: no schedule."
    numbers = found[["best", "median", "worst"]].map("{:g}".format).replace("inf", "none")
    words = [each[0] if len({*each}) == 1 else ", ".join(each) for each in numbers.to_numpy()]
    table = Series(words, found.index).unstack(fill_value="").rename(columns=str).reset_index()
    title, file, record = "Steps of each contestant", "steps.csv", found.reset_index()
    if count > MAX_COLUMNS:
        text = f"In {file} and runs.csv: a table of {count} contestants would be too wide."
        return [Section(title, text, file=file, record=record)]
    return [Section(title, text, (), table, file, record)]


def teams(runs: DataFrame, without: str) -> list[Section]:
    """Return the sections on teams beside their members, and on which engine seeded which."""
    found = beside_members(runs)
    sections = []
    if len(found):
        lines = []
        for team, rows in found.groupby("team", sort=False):
            counts = rows.verdict.value_counts()
            words = [f"{word} {counts[word]}" for word in VERDICTS if word in counts]
            members = dict.fromkeys("; ".join(rows.members).split("; "))
            lines.append(
                f"{team} beside {', '.join(members)}: {', '.join(words)} of"
                f" {counted(len(rows), 'row')}; {rows.successes.sum()} successes of"
                f" {counted(rows.runs.sum(), 'run')}, the better members"
                f" {rows.member_successes.sum()}; closed {rows.closed.sum()}, the better members"
                f" {rows.member_closed.sum()}"
            )
        table = found[["row", "team", "successes", "closed"]].assign(**{
            "mean s": found.seconds, "95 % interval": ranges(found.low, found.high, shown),
            "better member": found.member, "its successes": found.member_successes,
            "its closed": found.member_closed, "its mean s": found.member_seconds,
            "its 95 % interval": ranges(found.member_low, found.member_high, shown),
            "verdict": found.verdict,
        })  # fmt: skip
        text = text_of("teams", without=without)
        sections.append(
            Section("Teams beside their members", text, lines, table, "teams.csv", found)
        )
    seeds = seeds_of_teams(runs)
    if len(seeds):
        sections.append(Section("Which engine seeded which", text_of("seeds"), table=seeds))
    return sections
