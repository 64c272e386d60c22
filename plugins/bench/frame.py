"""The runs of a store as a table of pandas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cchybrid.model.errors import InputError
from cchybrid.model.text import described
from cchybrid.view.extras import require_packages

if TYPE_CHECKING:
    from pandas import DataFrame

    from .report.reading import Reading

COLUMNS = (
    "suite", "row", "topology", "collective", "root", "transmitters", "receivers", "switching",
    "routing", "ports", "fail_links", "fail_nodes", "participants", "chunks", "rounds", "nodes",
    "channels", "published_steps", "comparable",
    "contestant", "strategy", "engines", "budget", "seed", "status", "steps", "lower_bound",
    "certified", "gap", "engine", "bound_by", "seconds", "seconds_to_best", "evaluations",
    "evaluations_to_best", "start_seconds", "start_wall_seconds", "search_seconds",
    "search_wall_seconds", "searched", "conflicts", "machine", "failure", "troubles", "convergence",
)  # fmt: skip
"""The columns of the table."""


def read(store: str | Path, suite: str | None = None) -> DataFrame:
    """Return the runs of a store, a line each; every schedule and bound is checked again.

    Parameters
    ----------
    store
        The file that ``cchybrid bench run`` wrote.
    suite
        Only the runs of this suite; by default of all suites. Runs of designs are left out.

    Returns
    -------
    pandas.DataFrame
        The columns ``COLUMNS``: the features of the instance, defaults included (``none``: it has
        nothing of the kind); the published steps, and whether they are ``comparable``, those of
        this instance; the contestant, its budget and the seed; the result; the machine; and
        ``convergence``, the list of (seconds, steps, bound) at which the run had a better schedule
        or bound (in older stores that of the host only where it is the best of the run). Times are
        missing where nothing was found or a run failed. ``seconds_to_best`` are those to the first
        schedule of as many steps, a greedy one included; ``engine`` and ``evaluations_to_best`` are
        of the one with the fewest channel uses, which may come later. ``status`` is ``optimal``
        (certified), ``feasible``, ``infeasible``, ``unknown``, ``failed`` or ``does not hold``;
        then ``failure`` has the reason. ``searched`` is false where no engine began its search in
        time.

    Raises
    ------
    InputError
        There is no such store or suite, it is damaged, or pandas is not installed.

    Examples
    --------
    >>> import cchybrid
    >>> runs = cchybrid.bench.read("smoke.sqlite")  # doctest: +SKIP
    >>> runs.groupby("contestant").seconds_to_best.median()  # doctest: +SKIP
    """
    require_packages("a table of runs", "pandas")
    if not isinstance(store, (str, Path)):
        raise InputError(
            f"{described(store)} is no store", where="store", hint="give the name of its file"
        )
    import pandas

    from cchybrid.plugin.registry import load_registry

    from .contestant import Contestant, labels
    from .report.reading import once, read_store
    from .store import Store

    registry = load_registry()
    names: list[str | None] = [suite]
    if suite is None:
        with Store(store) as opened:
            found = opened.suites()
            kinds = {name: opened.suite(name, registry).kind for name in found}
        names = [name for name in found if kinds[name] == "schedules"] or [suite]
    readings = [read_store(store, name, registry) for name in names]
    frames = [run_frame(each).assign(key=each.runs.key) for each in readings]
    runs = once(pandas.concat(frames, ignore_index=True))
    labelled = labels(map(Contestant.from_key, sorted(set(runs.key))))
    return runs.assign(contestant=runs.key.map(labelled).astype(object))[[*COLUMNS]]


def run_frame(reading: Reading) -> DataFrame:
    """Return the runs of a suite that was read and checked, as ``read`` does."""
    from pandas import DataFrame

    from .contestant import Contestant
    from .convergence import convergence

    rows = {row.name: reading.features(row) for row in reading.rows}
    published = {row.name: row.published for row in reading.rows}
    lines: list[dict[str, Any]] = []
    for run in reading.runs.to_dict("records"):
        contestant = Contestant.from_key(run["key"])
        states = convergence(run["contributions"], int(run["lower_bound"]))
        lines.append(
            {
                **rows[run["row"]],
                **run,
                "suite": reading.suite,
                "published_steps": published[run["row"]].steps,
                "comparable": published[run["row"]].comparable,
                "strategy": contestant.strategy,
                "engines": "+".join(contestant.engines or ()),
                "budget": contestant.budget,
                "status": _status(run),
                "gap": run["steps"] - run["lower_bound"],
                "troubles": "; ".join(run["troubles"]),
                "convergence": [tuple(state) for state in states],
            }
        )
    whole = (
        "nodes", "channels", "published_steps", "steps", "lower_bound", "gap", "evaluations",
        "evaluations_to_best", "conflicts",
    )  # fmt: skip
    frame = DataFrame(lines, columns=[*COLUMNS])
    return frame.astype(dict.fromkeys(whole, "Int64"))


def as_text(runs: DataFrame) -> DataFrame:
    """Return the table for a CSV file: the convergence of each run as JSON, times in ms."""
    texts = [
        json.dumps([[round(seconds, 3), *rest] for seconds, *rest in states])
        for states in runs.convergence
    ]
    times = runs.select_dtypes(float).map(lambda value: round(value, 3))
    return runs.assign(convergence=texts, **times)


def _status(run: dict[str, Any]) -> str:
    if run["failure"]:
        return "failed" if run["held"] else "does not hold"
    if run["infeasible"]:
        return "infeasible"
    if run["steps"] != run["steps"]:  # NaN: there is no schedule
        return "unknown"
    bound = run["lower_bound"] if run["certified"] else run["certified_bound"]
    return "optimal" if run["steps"] == bound else "feasible"
