"""The files for a paper: the table of all rows in LaTeX, and the plot of convergence as PDF."""

from pandas import DataFrame

from cchybrid.library.node_lists import format_nodes
from cchybrid.model.errors import InputError

from .pages import rendered
from .plots import convergence_pdf
from .reading import Reading
from .significance import PENALTY, TEST, UNLIKE, beside_lowest, pairs_of, penalised, penalty
from .statistics import only_engine, reach_goal

MAX_CONTESTANTS = 3
"""Contestants above which the table has the best of each row only, as a page is too narrow."""


def paper_files(
    reading: Reading, rows: DataFrame, runs: DataFrame, version: str
) -> dict[str, bytes]:
    """Return ``report.tex`` and, if any run improved, ``convergence.pdf``.

    Parameters
    ----------
    rows, runs
        The results of ``standings`` and ``judged``.
    version
        The version of cchybrid with which the runs were made.

    Raises
    ------
    InputError
        A row is a conflict study, which has no steps for such a table.
    """
    if rows.is_study.any():
        raise InputError(
            f"{rows['row'][rows.is_study].iloc[0]} is a conflict study, which has no steps",
            where="--latex", hint="drop the option; conflicts.csv has the numbers",
        )  # fmt: skip
    files = {"report.tex": _table(reading, rows, runs, version).encode()}
    plot = convergence_pdf(runs)
    return {**files, "convergence.pdf": plot} if plot else files


def _table(reading: Reading, rows: DataFrame, runs: DataFrame, version: str) -> str:
    """Return the table by the template ``paper.j2``."""
    runs = runs.assign(success=reach_goal(runs), fewest=runs.steps.where(runs.failure == ""))
    runs = runs.assign(spent=penalised(runs, runs.success), penalty=penalty(runs))
    cells = runs[~runs.row_infeasible].groupby(["row", "key", "contestant"], as_index=False).agg(
        steps=("fewest", "min"), rate=("success", "mean"), seconds=("spent", "mean"),
        spent=("spent", list), penalty=("penalty", "first"),
    )  # fmt: skip
    bounds = cells["row"].map(rows.lower_bound.astype(float))
    cells = cells.astype({"steps": "Int64"}).assign(
        optimal=cells.steps == bounds, engine=[*map(only_engine, cells.key)],
        beside=beside_lowest([*cells["row"]], [*cells.spent], [*cells.penalty]),
    )  # fmt: skip
    names = dict(zip(runs.key, runs.contestant, strict=True))
    published = [
        name for name in ("lower_bound", "steps") if rows[f"published_{name}"].notna().any()
    ]
    return rendered(
        "paper.j2", html=False, rows=rows.to_dict("records"), published=published,
        names={key: names[key] for key in sorted(names)} if len(names) <= MAX_CONTESTANTS else {},
        cells={(cell["row"], cell["key"]): cell for cell in cells.to_dict("records")},
        count=len(names), suite=reading.suite, version=version,
        budgets=sorted({each.budget for each in reading.contestants}),
        seeds=sorted(set(runs.groupby("key").seed.agg(format_nodes))),
        penalty=PENALTY, test=TEST.format(pairs_of(cells["row"])), unlike=UNLIKE,
    )  # fmt: skip
