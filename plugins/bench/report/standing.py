"""The state of every row: the best of all runs, compared with published values or a store."""

from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from cchybrid.host.run_history import Contribution
from cchybrid.plugin.benchmark import shown_collective

from ..row import Row
from ..schedule_checks import COLUMNS
from .reading import Reading
from .significance import differences, penalised, penalty

STUDY = "conflict study"
VERDICTS = (
    "better", "equal", "worse", "no schedule", "new", "not comparable", STUDY, "no result",
)  # fmt: skip
PUBLISHED = {"steps": "published_steps", "lower_bound": "published_lower_bound", "goal": "goal"}
MAX_COUNT = 1 << 53
UNKNOWN = {"steps": MAX_COUNT, "bound": 0, "infeasible": False}
"""Values in place of what a row lacks."""
FOUND = ("steps", "lower_bound", "claimed_bound", "gap", "best_known")


def standings(reading: Reading) -> DataFrame:
    """Return the state of every row in the suite's order; the index is the row's name.

    Columns beside the features of the instance and of the published values, ``runs`` and
    ``failures`` (runs that do not hold are in neither):

    - ``group``: the collective in capitals, ``(file)`` for an instance file.
    - ``is_study``: the row is a conflict study.
    - ``steps``: the fewest of a verified schedule; ``lower_bound``: the best certified one of any
      run; ``claimed_bound``: a better one without checkable evidence; ``gap``: the difference of
      the steps and the certified bound.
    - ``infeasible``: whether it was shown again that there is no schedule.
    - ``contestant``: the best one: fewest steps, then shortest time; ``seconds_to_best``,
      ``seconds``: means over the seeds that reached those steps.
    - ``samples``: the seconds of the best contestant's runs, ``penalised`` without those steps;
      ``penalty``: that of its runs; ``rivals``: the number of contestants with runs.
    - ``engine``, ``contributions``: those of its fastest run with these steps, without a schedule
      those of the run with the best bound; ``story``: the contributions in words.
    - ``proof``: ``certified`` if the row is closed, ``claimed`` if its steps meet a claimed bound,
      which does not close it, else ""; ``state``:
      ``optimal``, ``infeasible``, ``open``, ``nothing found``, ``failed``, ``not run``,
      ``no run counts`` (those there are do not hold) or ``conflict study``.
    - ``verdict``: our steps against the published ones, one of ``VERDICTS``; ``bound_verdict``: our
      certified bound against the published one: ``tighter``, ``equal``, ``weaker``, or ``refuted``
      by a schedule with fewer steps; ``published_is_impossible``: the bound exceeds the published
      steps.
    - ``best_known``: the fewest steps known, ours or published, never below the certified bound;
      ``goal``: the steps of a success: the published goal, else ``best_known``.
    """
    stored = {*reading.runs["row"]}
    reading = reading.counted
    rows = DataFrame([_columns(row, reading) for row in reading.rows], dtype=object).rename(
        columns=PUBLISHED
    )
    kinds = dict.fromkeys(PUBLISHED.values(), float)
    rows = rows.astype({"is_study": bool, "comparable": bool, **kinds})
    rows.index = pd.Index(rows["row"], name=None)
    held = reading.runs[reading.runs.failure == ""]
    rows["runs"] = reading.runs.row.value_counts().reindex(rows.index, fill_value=0)
    rows["failures"] = rows.runs - held.row.value_counts().reindex(rows.index, fill_value=0)
    rows["none_counts"] = rows.index.isin(stored) & (rows.runs == 0)
    held = held.assign(fewest=held.groupby("row").steps.transform("min"))
    none = dict.fromkeys(("contestant", "engine", "story"), "")
    rows["infeasible"] = rows.index.isin(held.row[held.infeasible])
    rows = rows.join(_best(held))
    rows = rows.join(_samples(reading.runs, rows))
    rows["rivals"] = reading.runs.groupby("row").key.nunique().reindex(rows.index, fill_value=0)
    rows = _with_verdicts(rows.fillna(none))
    return rows.astype(dict.fromkeys((*PUBLISHED.values(), *FOUND), "Int64"))


def _columns(row: Row, reading: Reading) -> dict[str, Any]:
    return {
        **vars(row.published), **reading.features(row), "row": row.name,
        "group": shown_collective(row.spec.collective or "(file)").upper(),
        "is_study": row.target is not None,
    }  # fmt: skip


def certified_bounds(runs: DataFrame) -> Series:
    """Return the best bound of each run whose evidence was checked again."""
    return runs.lower_bound.where(runs.certified, runs.certified_bound)


def _best(held: DataFrame) -> DataFrame:
    """Return the best of every row's runs; the column ``fewest`` holds the row's steps."""
    proven = (held.certified | (held.certified_bound > 0)) & ~held.infeasible
    refuted = held.lower_bound > held.fewest
    bounds = certified_bounds(held)[proven].groupby(held.row)
    claims = held[~held.certified & ~held.infeasible & ~refuted].groupby("row")

    there = held[held.steps == held.fewest]
    means = there.groupby(["row", "key", "contestant"], as_index=False).agg(
        {"seconds_to_best": fmean, "seconds": fmean}
    )
    best = means.sort_values(["seconds_to_best", "key"]).drop_duplicates("row")
    first = there.merge(best[["row", "key"]]).sort_values(["seconds_to_best", "seed"])
    order = {"lower_bound": False, "key": True, "seed": True}
    other = held[held.fewest.isna()].sort_values([*order], ascending=[*order.values()])
    shown = pd.concat([first, other]).drop_duplicates("row").set_index("row")
    found = DataFrame({
        "steps": held.groupby("row").fewest.first(),
        "lower_bound": bounds.max(),
        "claimed_bound": claims.lower_bound.max(),
        "engine": shown.engine, "contributions": shown.contributions,
        "story": shown.contributions.map(_story),
    })  # fmt: skip
    more = found.claimed_bound > found.lower_bound.fillna(0)
    found["claimed_bound"] = found.claimed_bound.where(more)
    return found.join(best.set_index("row"))


def _samples(runs: DataFrame, rows: DataFrame) -> DataFrame:
    """Return, by row, the seconds of its best contestant's runs to its fewest steps."""
    reached = (runs.failure == "") & (runs.steps == runs["row"].map(rows.steps).astype(float))
    runs = runs.assign(samples=penalised(runs, reached), penalty=penalty(runs))
    best = runs[runs.key == runs["row"].map(rows.key)].groupby("row")
    return best.agg({"samples": list, "penalty": "first"})


def _story(contributions: Iterable[Contribution]) -> str:
    """Return the engines behind the best schedule: ``classical 69, tabu on quotients 64 (how)``.

    The last schedule of each in the order of time, and the method of the best one; "" if none.
    """
    latest: dict[str, Contribution] = {}
    for entry in (entry for entry in contributions if entry.what == "schedule"):
        latest.pop(entry.author, None)
        latest[entry.author] = entry
    words = ", ".join(f"{entry.author} {entry.steps}" for entry in latest.values())
    how = next((entry.how for entry in reversed(latest.values())), "")
    return f"{words} ({how})" if how else words


def _with_verdicts(rows: DataFrame) -> DataFrame:
    """Add the columns that compare the best with the bounds and with the published values."""
    steps, bound, claim = rows.steps, rows.lower_bound, rows.claimed_bound
    published, published_bound = rows.published_steps, rows.published_lower_bound
    certified, some, none = bound.fillna(0), rows.runs > rows.failures, rows.infeasible
    rows["gap"] = steps - certified
    rows["proof"] = _first(
        (none | (steps == bound), "certified"), (steps == claim, "claimed"), default=""
    )
    rows["state"] = _first(
        (rows.none_counts, "no run counts"),
        (~some, np.where(rows.runs > 0, "failed", "not run")), (rows.is_study, STUDY),
        (none, "infeasible"), (steps.isna(), "nothing found"), (steps == bound, "optimal"),
        default="open",
    )  # fmt: skip
    rows["verdict"] = _first(
        (~some, "no result"), (rows.is_study, STUDY), (~rows.comparable, "not comparable"),
        (published.isna(), np.where(steps.notna() | none, "new", "no result")),
        (steps.isna(), "no schedule"), (steps < published, "better"), (steps == published, "equal"),
        default="worse",
    )  # fmt: skip
    rows["bound_verdict"] = _first(
        (published_bound.isna() | ~rows.comparable | ~some | rows.is_study | none, ""),
        (published_bound > steps, "refuted"), (certified == published_bound, "equal"),
        (certified > published_bound, "tighter"), default="weaker",
    )  # fmt: skip
    ruled_out = none | (certified > published)
    rows["published_is_impossible"] = rows.comparable & published.notna() & ruled_out
    rows["best_known"] = np.maximum(np.fmin(steps, published.where(rows.comparable)), certified)
    rows["goal"] = rows.goal.where(rows.comparable).fillna(rows.best_known)
    return rows


def _first(*cases: tuple[Any, Any], default: str) -> Any:
    """Return, row by row, the value of the first case that holds."""
    return np.select([case for case, _ in cases], [value for _, value in cases], default)


def contradictions(rows: DataFrame, runs: DataFrame) -> list[str]:
    """Return the claims of runs that verified schedules of other runs refute."""
    fewest = rows.steps.rename("fewest").dropna()
    held = runs[runs.failure == ""].join(fewest, on="row", how="inner")
    return [
        f"{run.title}: {run.bound_by} {'certifies' if run.certified else 'claims'} at least"
        f" {run.lower_bound} steps, but {run.fewest} suffice"
        for run in held[held.lower_bound > held.fewest].itertuples()
    ]


def without_shared(here: Reading, there: Reading) -> tuple[Reading, Reading, set[str]]:
    """Return readings without the runs that both have, and the rows where neither has others.

    Runs of the same key, seed and result, as after a copy or a merge, would be compared with
    themselves. A reading keeps them where it has no other run of the row that did not fail.
    """
    sides = (here.counted, there.counted)
    marks = [
        Series([*map(repr, each.runs[[*COLUMNS]].itertuples(index=False))], each.runs.index, str)
        for each in sides
    ]
    kept: list[Reading] = []
    only_shared: list[set[str]] = []
    for each, own, other in zip(sides, marks, marks[::-1], strict=True):
        rows, shared = each.runs["row"], own.isin(other)
        others = {*rows[~shared & (each.runs.failure == "")]}
        kept.append(replace(each, runs=each.runs[~(shared & rows.isin(others))]))
        only_shared.append({*rows[shared]} - others)
    return kept[0], kept[1], only_shared[0] & only_shared[1]


def compare(here: DataFrame, there: DataFrame) -> DataFrame:
    """Return the rows of two stores side by side, for all rows with runs in one of them.

    Column ``here`` lists the differences, each of which also has a column of its own. Column
    ``where`` is ``both``, ``here`` or ``there``; ``time`` is ``faster``, ``slower`` or
    ``NOT_SHOWN`` in rows with equal steps, else "". There any contestant could have been the best
    of its store, so all pairs of them count (``comparisons``).
    """
    names = {"steps": "steps", "lower_bound": "bound", "seconds_to_best": "s", "runs": "runs"}
    one, other = (
        rows.loc[rows.runs > rows.failures, [*names, "infeasible"]]
        .rename(columns=names)
        .astype({"runs": "Int64"})
        for rows in (here, there)
    )
    table = pd.concat([one.add_suffix(" here"), other.add_suffix(" there")], axis=1)
    mine, their = (side.reindex(table.index).fillna(UNKNOWN) for side in (one, other))
    for side in (mine, their):  # that there is no schedule is more than any bound
        side["bound"] = side.bound.mask(side.infeasible.astype(bool), MAX_COUNT)
    equal = table.index[(mine.steps == their.steps) & (mine.steps < MAX_COUNT)]
    pairs = (here.rivals[equal] * there.rivals[equal]).reindex(table.index, fill_value=0)
    samples, penalties = (
        [*zip(here[name][equal], there[name][equal], strict=True)]
        for name in ("samples", "penalty")
    )
    words = differences(samples, "faster", "slower", int(pairs.sum()), penalties)
    time = Series(words, index=equal, dtype=object).reindex(table.index, fill_value="")
    changes = DataFrame({
        "fewer steps": mine.steps < their.steps, "more steps": mine.steps > their.steps,
        "tighter bound": mine.bound > their.bound, "weaker bound": mine.bound < their.bound,
        "faster": time == "faster", "slower": time == "slower",
    }, dtype=bool)  # fmt: skip
    table = table[[f"{name} {side}" for name in names.values() for side in ("here", "there")]]
    table.insert(0, "here", [", ".join(changes.columns[line]) for line in changes.to_numpy()])
    ran = [table.index.isin(one.index.intersection(other.index)), table.index.isin(one.index)]
    where = np.select(ran, ["both", "here"], "there")
    return table.assign(where=where, time=time, comparisons=pairs).join(changes)
