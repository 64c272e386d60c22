"""The runs of a store as a table: what it holds, and what is refused."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys
from dataclasses import replace
from importlib import util

import pandas
import pytest
from cchybrid_plugins.bench.convergence import convergence
from cchybrid_plugins.bench.frame import COLUMNS, as_text
from cchybrid_plugins.bench.store import Run
from cchybrid_plugins.bench.suite import Suite
from pandas import NA, isna

import cchybrid
from cchybrid.host.run_history import Contribution
from cchybrid.host.schedule_task import HOST_GREEDY
from cchybrid.model.errors import InputError
from cchybrid.system.machine import machine
from tests.plugins.bench.local_runs import COLOURING, stored_under, with_seed
from tests.plugins.bench.test_report import SUITE, folder, runs, store_of

__all__ = ["folder", "runs"]


@pytest.mark.slow
def test_a_line_per_run(runs: list[Run]) -> None:
    failed = Run(SUITE.rows[5].name, COLOURING, 0, "exit -9: killed", {})
    again = with_seed(runs[0], 7)
    found = cchybrid.bench.read(store_of([*runs, again, failed]))
    assert tuple(found.columns) == COLUMNS
    assert len(found) == 7
    assert set(found.suite) == {"tiny"}
    first = found[(found["row"] == runs[0].row) & (found.seed == 7)].iloc[0]
    columns = [
        "topology", "collective", "nodes", "channels", "contestant", "budget", "steps",
        "lower_bound", "status", "certified", "gap",
    ]  # fmt: skip
    assert first[columns].tolist() == [
        "ring-bi-4", "AAS", 4, 8, "colouring", "20 evaluations, 1 thread", 2, 2, "optimal", True, 0,
    ]  # fmt: skip
    assert first.convergence[-1][1:] == (2, 2)
    last = found[found.failure != ""].iloc[0]
    assert last[["status", "failure", "steps"]].tolist() == ["failed", "exit -9: killed", NA]
    assert last.convergence == []
    assert found.groupby("collective").steps.min()["AAB"] == 4
    empty = cchybrid.bench.read(store_of([], name="b"))
    assert (len(empty), tuple(empty.columns)) == (0, COLUMNS)


def test_every_run_is_in_a_group_of_each_feature(runs: list[Run]) -> None:
    path = store_of([*runs, Run(SUITE.rows[5].name, COLOURING, 0, "killed", {})])
    found = cchybrid.bench.read(path)
    features = COLUMNS[2 : COLUMNS.index("published_steps")]
    assert features[0] == "topology"
    for name in features:
        assert found.groupby(name).size().sum() == len(found) == 6, name
    assert found.groupby("root").size().to_dict() == {0: 2, "none": 4}
    # So it is in the file of the report, where an empty cell is read as no value.
    as_text(found).to_csv("a.csv", index=False)
    read_back = pandas.read_csv("a.csv")
    assert read_back[[*features]].notna().all(axis=None)


def test_published_steps_of_another_instance_are_not_comparable(runs: list[Run]) -> None:
    row = SUITE.rows[0]
    other = replace(row, published=replace(row.published, comparable=False))
    for rows, comparable in ((SUITE.rows[:1], True), ((other,), False)):
        path = store_of(runs[:1], Suite("tiny", "", rows), name=f"{comparable}")
        assert cchybrid.bench.read(path).comparable.tolist() == [comparable]


def test_runs_say_on_which_machine_they_were_made(runs: list[Run]) -> None:
    older = {name: value for name, value in runs[1].result.items() if name != "machine"}
    odd = {**runs[2].result, "machine": ["x"]}
    stored = [runs[0], replace(runs[1], result=older), replace(runs[2], result=odd)]
    found = cchybrid.bench.read(store_of(stored))
    assert sorted(found.machine) == [machine(), "unknown", "unknown"]
    assert set(found.failure) == {""}


def test_runs_that_do_not_hold_are_no_failures(runs: list[Run]) -> None:
    forged = replace(runs[0], result={**runs[0].result, "lower_bound": 1})
    (status,) = cchybrid.bench.read(store_of([forged])).status
    assert status == "does not hold"


def test_a_row_in_several_suites_has_its_runs_once(runs: list[Run]) -> None:
    path = store_of(runs)
    store_of([], Suite("other", "", SUITE.rows[:2]))
    assert len(cchybrid.bench.read(path)) == 5
    assert len(cchybrid.bench.read(path, "other")) == 2
    for store, suite, line in (
        (path, "third", "the store has no suite third; use other, tiny"),
        ("none.sqlite", None, "there is no such store"), (3, None, "is no store"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=line):
            cchybrid.bench.read(store, suite)


def test_a_run_is_listed_once_whatever_its_contestant_is_called(runs: list[Run]) -> None:
    """Another suite has a further contestant of the same name."""
    more = stored_under(runs[3], replace(COLOURING, evaluations=40))
    path = store_of([*runs, more])
    store_of([], Suite("other", "", SUITE.rows[:2]))
    found = cchybrid.bench.read(path)
    assert len(found) == 6
    labels = {"colouring, 20 evaluations": 5, "colouring, 40 evaluations": 1}
    assert found.groupby("contestant").size().to_dict() == labels


def test_what_was_not_found_has_no_time(runs: list[Run]) -> None:
    result = {
        "steps": None, "status": "unknown", "engine": "", "contributions": [], "lower_bound": 1,
        "certified_bound": 1, "evidence_without_schedule": None,
    }  # fmt: skip
    nothing = replace(runs[0], result={**runs[0].result, **result}, record=None)
    failed = Run(runs[1].row, COLOURING, 0, "exit -9: killed", {})
    one, other = cchybrid.bench.read(store_of([nothing, failed])).itertuples()
    assert (one.status, other.status) == ("unknown", "failed")
    assert one.seconds > 0
    assert all(map(isna, (one.seconds_to_best, other.seconds_to_best, other.seconds)))


def test_convergence_ends_with_the_greedy_schedule_where_it_is_the_best(runs: list[Run]) -> None:
    result = runs[0].result
    bound, schedule = (
        {**each, "what": what, "seconds": seconds, "steps": steps, "lower": 1}
        for each in result["contributions"][:1]
        for what, seconds, steps in (("bound", 0.1, None), ("schedule", 0.4, 9))
    )
    found = {"engine": HOST_GREEDY, "seconds_to_best": 0.3, "contributions": [bound, schedule]}
    helped = replace(COLOURING, first_schedule=True)
    run = stored_under(replace(runs[0], result={**result, **found}), helped)
    (line,) = cchybrid.bench.read(store_of([run])).itertuples()
    assert line.convergence == [(0.1, None, 1), (0.3, 2, 1)]


def test_pandas_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = util.find_spec
    monkeypatch.setattr(
        "cchybrid.view.extras.find_spec", lambda name: None if name == "pandas" else real(name)
    )
    with pytest.raises(InputError, match=r"needs pandas; pip install 'cchybrid\[report\]'"):
        cchybrid.bench.read("a.sqlite")


def test_the_examples_of_new_modules_are_true() -> None:
    for name in (
        "cchybrid.library.nearest", "cchybrid.plugin.option_names", "cchybrid.view.screen",
        "cchybrid_plugins.bench.frame",
    ):  # fmt: skip
        tried = doctest.testmod(importlib.import_module(name))
        assert (tried.failed, tried.attempted > 0) == (0, True), name


def test_the_package_is_imported_without_pandas() -> None:
    script = "import sys, cchybrid; print(cchybrid.bench.read.__name__, 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["read", "False"]
    with pytest.raises(AttributeError):
        _ = cchybrid.bench.reed


def test_convergence_leaves_out_what_changes_nothing() -> None:
    entries = [
        (0.1, "bound", None, 1), (0.2, "draft", None, 1), (0.3, "schedule", 9, 1),
        (0.4, "bound", 9, 8),  # withdrawn later: the run ends with 5
        (0.5, "bound", 9, 4), (0.6, "bound", 9, 4), (0.7, "schedule", 7, 4), (0.8, "bound", 7, 5),
    ]  # fmt: skip
    states = convergence(
        [Contribution(at, "x", "", what, steps, lower, True) for at, what, steps, lower in entries],
        5,
    )
    assert states == [(0.1, None, 1), (0.3, 9, 1), (0.5, 9, 4), (0.7, 7, 4), (0.8, 7, 5)]
