"""What stands per row: the best of all runs, against what was published, or another store's."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame

from cchybrid.bench.report.reading import Reading
from cchybrid.bench.row import Row
from cchybrid.host.run_history import Contribution
from cchybrid.library.node_lists import format_nodes

STUDY = "conflict study"
VERDICTS = ("better", "equal", "worse", "new", "not comparable", STUDY, "no result")
PUBLISHED = {"steps": "published_steps", "lower_bound": "published_lower_bound", "goal": "goal"}
FACTOR, SECONDS = 1.5, 1.0
"""Times differ if one is more than so many times the other, and more than so many seconds more."""
UNKNOWN = {"steps": 1 << 53, "bound": 0}
"""What no schedule, and no bound, count as."""
FOUND = ("steps", "lower_bound", "claimed_bound", "gap", "target")


def standings(reading: Reading) -> DataFrame:
    """Return what stands in every row, in the suite's order; the index is the row's name.

    Beside the columns of the question and of what was published, and ``runs`` and ``failures``:

    - ``group``: the collective in capitals, ``(file)`` where an instance file says it.
    - ``is_study``: the row is about the conflicts that are left, not about schedules.
    - ``steps``: the fewest of a verified schedule; ``lower_bound``: the best certified one of any
      run, for bounds are of the instance; ``claimed_bound``: a better one without checkable
      evidence; ``gap``: steps above the better of them.
    - ``infeasible``: ``certified`` or ``claimed`` if there is no schedule, else "".
    - ``contestant``: who was best: fewest steps, then least time; ``engine``: who found them;
      ``seconds_to_best``, ``seconds``: means over the seeds with which it reached those steps.
    - ``course``: who found what in its first run to have them, without a schedule in the run with
      the best bound; ``story``: the same in words.
    - ``proof``: ``certified`` or ``claimed`` if nothing is left to be done, else ""; ``state``:
      ``optimal``, ``infeasible``, ``open``, ``nothing found``, ``failed``, ``not run`` or
      ``conflict study``.
    - ``verdict``: our steps against the published ones, one of ``VERDICTS``; ``bound_verdict``: our
      certified bound against theirs: ``tighter``, ``equal``, ``weaker``, or ``refuted`` by a
      schedule with fewer steps; ``published_is_impossible``: it exceeds their steps.
    - ``target``: the fewest steps known, ours or published, never below the certified bound;
      ``goal``: the steps of a success beside published rates: theirs, else the target.
    """
    rows = DataFrame([_asked(row) for row in reading.rows], dtype=object).rename(columns=PUBLISHED)
    kinds = dict.fromkeys(PUBLISHED.values(), float)
    rows = rows.astype({"is_study": bool, "comparable": bool, **kinds})
    rows.index = pd.Index(rows["row"], name=None)
    held = reading.runs[reading.runs.failure == ""]
    rows["runs"] = reading.runs.row.value_counts().reindex(rows.index, fill_value=0)
    rows["failures"] = rows.runs - held.row.value_counts().reindex(rows.index, fill_value=0)
    held = held.assign(fewest=held.groupby("row").steps.transform("min"))
    none = dict.fromkeys(("infeasible", "contestant", "engine", "story"), "")
    rows = _with_verdicts(rows.join(_best(held)).fillna(none))
    return rows.astype(dict.fromkeys((*PUBLISHED.values(), *FOUND), "Int64"))


def _asked(row: Row) -> dict[str, Any]:
    asked, published = row.question, row.published
    usual = "" if asked.switching == "store-and-forward" or not asked.collective else "minimal"
    return {
        **vars(asked), **vars(published), "row": row.name,
        "group": (asked.collective or "(file)").upper(), "is_study": row.fixed_steps is not None,
        "transmitters": format_nodes(asked.transmitters or ()),
        "receivers": format_nodes(asked.receivers or ()),
        "routing": usual if asked.routing is None else str(asked.routing),
        "fail_links": " ".join(asked.fail_links), "fail_nodes": format_nodes(asked.fail_nodes),
    }  # fmt: skip


def _best(held: DataFrame) -> DataFrame:
    """Return the best of every row's runs; their ``fewest`` are the row's steps."""
    proven = (held.certified | (held.beneath > 0)) & ~held.infeasible
    refuted = held.lower_bound > held.fewest
    bounds = held.lower_bound.where(held.certified, held.beneath)[proven].groupby(held.row)
    claims = held[~held.certified & ~held.infeasible & ~refuted].groupby("row")
    none = held[held.infeasible & held.fewest.isna()].groupby("row").certified.any()

    there = held[held.steps == held.fewest]
    means = there.groupby(["row", "key", "contestant"], as_index=False).agg(
        {"seconds_to_best": fmean, "seconds": fmean, "engine": lambda names: names.mode()[0]}
    )
    best = means.sort_values(["seconds_to_best", "key"]).drop_duplicates("row")
    first = there.merge(best[["row", "key"]]).sort_values(["seconds_to_best", "seed"])
    order = {"lower_bound": False, "key": True, "seed": True}
    other = held[held.fewest.isna()].sort_values([*order], ascending=[*order.values()])
    course = pd.concat([first, other]).drop_duplicates("row").set_index("row").course
    found = DataFrame({
        "steps": held.groupby("row").fewest.first(),
        "lower_bound": bounds.max(),
        "claimed_bound": claims.lower_bound.max(),
        "infeasible": none.map({True: "certified", False: "claimed"}),
        "course": course, "story": course.map(_story),
    })  # fmt: skip
    more = found.claimed_bound > found.lower_bound.fillna(0)
    found["claimed_bound"] = found.claimed_bound.where(more)
    return found.join(best.set_index("row").drop(columns="key"))


def _story(course: Iterable[Contribution]) -> str:
    """Return whose schedules led to the best one: ``classical 69, tabu on quotients 64 (how)``.

    Everyone's last, in the order of time, and how the best was found; "" if nobody tells.
    """
    latest: dict[str, Contribution] = {}
    for entry in (entry for entry in course if entry.what == "schedule"):
        latest.pop(entry.author, None)
        latest[entry.author] = entry
    words = ", ".join(f"{entry.author} {entry.steps}" for entry in latest.values())
    how = next((entry.how for entry in reversed(latest.values())), "")
    return f"{words} ({how})" if how else words


def _with_verdicts(rows: DataFrame) -> DataFrame:
    """Add what the best amounts to, by itself and against what was published."""
    steps, bound, claim = rows.steps, rows.lower_bound, rows.claimed_bound
    theirs, their_bound = rows.published_steps, rows.published_lower_bound
    at_least, some, none = bound.fillna(0), rows.runs > rows.failures, rows.infeasible
    rows["gap"] = steps - np.fmax(at_least, claim)
    rows["proof"] = _first(
        (none != "", none), (steps == bound, "certified"), (steps == claim, "claimed"), default=""
    )
    rows["state"] = _first(
        (~some, np.where(rows.runs > 0, "failed", "not run")), (rows.is_study, STUDY),
        (none != "", "infeasible"), (steps.isna(), "nothing found"), (rows.proof != "", "optimal"),
        default="open",
    )  # fmt: skip
    rows["verdict"] = _first(
        (~some, "no result"), (rows.is_study, STUDY), (~rows.comparable, "not comparable"),
        (theirs.isna(), np.where(steps.notna() | (none != ""), "new", "no result")),
        (steps < theirs, "better"), (steps == theirs, "equal"), default="worse",
    )  # fmt: skip
    rows["bound_verdict"] = _first(
        (their_bound.isna() | ~rows.comparable | ~some | (none != ""), ""),
        (their_bound > steps, "refuted"), (at_least == their_bound, "equal"),
        (at_least > their_bound, "tighter"), default="weaker",
    )  # fmt: skip
    ruled_out = (none == "certified") | (at_least > theirs)
    rows["published_is_impossible"] = rows.comparable & theirs.notna() & ruled_out
    rows["target"] = np.maximum(np.fmin(steps, theirs.where(rows.comparable)), at_least)
    rows["goal"] = rows.goal.where(rows.comparable).fillna(rows.target)
    return rows


def _first(*cases: tuple[Any, Any], default: str) -> Any:
    """Return, row by row, the value of the first case that holds."""
    return np.select([case for case, _ in cases], [value for _, value in cases], default)


def contradictions(rows: DataFrame, runs: DataFrame) -> list[str]:
    """Return what runs say that verified schedules of other runs refute."""
    fewest = rows.steps.rename("fewest").dropna()
    held = runs[runs.failure == ""].join(fewest, on="row", how="inner")
    return [
        f"{run.title}: says infeasible, but {run.fewest} steps suffice"
        if run.infeasible
        else f"{run.title}: {run.bound_by} {'certifies' if run.certified else 'claims'} at least"
        f" {run.lower_bound} steps, but {run.fewest} suffice"
        for run in held[held.infeasible | (held.lower_bound > held.fewest)].itertuples()
    ]


def compare(here: DataFrame, there: DataFrame) -> DataFrame:
    """Return what stands in two stores side by side, in every row that ran in one of them.

    ``here`` says in what ways it differs from there, and each way has a column; times are compared
    where both have as many steps. ``where`` the row ran: ``both``, ``here`` or ``there``.
    """
    names = {"steps": "steps", "lower_bound": "bound", "seconds_to_best": "s"}
    one, other = (
        rows.loc[rows.runs > rows.failures, [*names]].rename(columns=names)
        for rows in (here, there)
    )
    table = pd.concat([one.add_suffix(" here"), other.add_suffix(" there")], axis=1)
    mine, their = (side.reindex(table.index).fillna(UNKNOWN) for side in (one, other))
    low, high = np.fmin(mine.s, their.s), np.fmax(mine.s, their.s)
    apart = (mine.steps == their.steps) & (high > FACTOR * low) & (high - low > SECONDS)
    ways = DataFrame({
        "fewer steps": mine.steps < their.steps, "more steps": mine.steps > their.steps,
        "tighter bound": mine.bound > their.bound, "weaker bound": mine.bound < their.bound,
        "faster": apart & (mine.s < their.s), "slower": apart & (mine.s > their.s),
    }, dtype=bool)  # fmt: skip
    table = table[[f"{name} {side}" for name in names.values() for side in ("here", "there")]]
    table.insert(0, "here", [", ".join(ways.columns[line]) for line in ways.to_numpy()])
    ran = [table.index.isin(one.index.intersection(other.index)), table.index.isin(one.index)]
    return table.assign(where=np.select(ran, ["both", "here"], "there")).join(ways)
