"""Reports on studies: rates beside published ones, conflicts that are left, over made-up runs."""

from __future__ import annotations

import csv
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.report.pages import write_report
from cchybrid_plugins.bench.report.plots import conflict_plots, main_option
from cchybrid_plugins.bench.report.reading import Reading, read_store, run_table
from cchybrid_plugins.bench.report.sections import _remainders, compose
from cchybrid_plugins.bench.report.significance import NOT_SHOWN
from cchybrid_plugins.bench.report.standing import STUDY, standings
from cchybrid_plugins.bench.report.statistics import judged, rates, remainders, wilson
from cchybrid_plugins.bench.row import Published, Row
from cchybrid_plugins.bench.store import Store
from cchybrid_plugins.bench.suite import read_suite
from pandas import DataFrame

from cchybrid.cli.app import run as command
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.plugin.benchmark import CheckedSuite
from cchybrid.plugin.registry import load_registry

UMDA, SGA = Contestant(("umda",)), Contestant(("sga",))
TEAM = Contestant(("sga", "umda"))
SPEC = InstanceSpec("ring-bi-8", "AAS")


def reading(row: Row, runs: list[tuple[Contestant, dict[str, Any]]]) -> Reading:
    records = (
        {"row": row.name, "key": contestant.key, "seed": seed, **facts}
        for seed, (contestant, facts) in enumerate(runs)
    )
    return Reading((row,), run_table(records), CheckedSuite(Path("x.sqlite"), "x", (row,), {}))


def stand(row: Row, runs: list[tuple[Contestant, dict[str, Any]]]) -> DataFrame:
    """Return the runs beside what stands in their row."""
    found = reading(row, runs)
    return judged(found.runs, standings(found))


def good(spent: int) -> dict[str, Any]:
    return {"steps": 8, "lower_bound": 8, "evaluations_to_best": spent, "seconds_to_best": 2.0}


def test_rates_beside_published_ones() -> None:
    row = Row(SPEC, Published(steps=9, goal=8, rates={"umda": 60.0, "sga": 90.0}))
    runs = [
        *((UMDA, good(spent)) for spent in (100, 200, 300)),
        (UMDA, {"steps": 9}),
        (UMDA, {"failure": "crashed"}),
        (SGA, good(100)),
        (SGA, {"steps": None}),
        (TEAM, good(50)),
    ]
    umda, sga, team = rates(stand(row, runs)).itertuples()
    assert (umda.goal, umda.runs, umda.successes) == (8, 5, 3)
    assert (umda.rate_low, umda.rate_high) == wilson(3, 5)
    assert (umda.published_rate, umda.reaches_published, umda.seconds_mean) == (0.6, "yes", 2.0)
    assert umda.evaluations_mean == 200
    assert umda.evaluations_low == pytest.approx(200 - 248.41, abs=0.1)
    assert umda.evaluations_high == pytest.approx(200 + 248.41, abs=0.1)
    assert (sga.successes, sga.reaches_published) == (1, NOT_SHOWN)
    assert sga.evaluations_mean == 100
    assert isnan(sga.evaluations_low)
    assert isnan(team.published_rate)
    assert team.reaches_published == ""


def test_a_rate_is_lower_only_where_the_binomial_test_shows_it() -> None:
    """2 of 6 where 90 % were published: 0.9**2 * 0.1**4 * 15 + ... = 0.0013; one of two: 0.19."""
    runs = [*((UMDA, good(1)) for _ in range(2)), *((UMDA, {"steps": 9}) for _ in range(4))]
    runs += [(SGA, good(1)), (SGA, {"steps": 9})]
    row = Row(SPEC, Published(steps=8, goal=8, rates={"umda": 90.0, "sga": 90.0}))
    found = rates(stand(row, runs))
    assert found.reaches_published.tolist() == ["no", NOT_SHOWN]


def test_the_goal_is_the_published_one_where_it_compares() -> None:
    runs = [(UMDA, {"steps": 9, "lower_bound": 8})]
    theirs = Row(SPEC, Published(steps=12, goal=10, rates={"umda": 0.0}))
    (rate,) = rates(stand(theirs, runs)).itertuples()
    assert (rate.goal, rate.successes, rate.reaches_published) == (10, 1, "yes")
    others = Row(SPEC, Published(goal=5, rates={"umda": 90.0}, comparable=False))
    (rate,) = rates(stand(others, runs)).itertuples()
    assert (rate.goal, rate.successes) == (9, 1)
    assert isnan(rate.published_rate)
    titles = [each.title for each in compose(reading(Row(SPEC), runs), None).sections]
    assert "Success rates" not in titles


def test_a_rate_of_a_goal_that_a_bound_rules_out_is_not_compared() -> None:
    row = Row(SPEC, Published(steps=7, goal=7, rates={"umda": 100.0, "sga": 0.0}))
    runs = [*((UMDA, {**good(100), "certified": True}),) * 9, (SGA, good(100))]
    found = rates(stand(row, runs))
    assert found.reaches_published.tolist() == ["impossible", "impossible"]
    texts = {each.title: each.text for each in compose(reading(row, runs), None).sections}
    assert "At least the published rate: 0 of 0." in texts["Success rates"]


def left(conflicts: int | None, seconds: float) -> dict[str, Any]:
    return {"conflicts": conflicts, "evaluations": 1000, "search_seconds": seconds}


def test_conflicts_that_are_left() -> None:
    row = Row(SPEC, target=7)
    runs = [
        (UMDA, left(4, 1.0)), (UMDA, left(6, 1.0)), (UMDA, left(None, 1.0)),
        (SGA, left(9, 0.5)), (TEAM, {"conflicts": None}),
    ]  # fmt: skip
    found = stand(row, runs)
    assert {*found.row_state, *found.row_verdict} == {STUDY}
    umda, sga = remainders(found).itertuples()
    assert (umda.runs, umda.conflicts_mean, umda.verdict) == (2, 5.0, "lowest mean")
    assert umda.conflicts_low == pytest.approx(5 - 12.706, abs=1e-2)
    assert umda.conflicts_high == pytest.approx(5 + 12.706, abs=1e-2)
    assert (umda.speed, umda.slower) == (1000.0, 2.0)
    assert (sga.verdict, sga.speed, sga.slower) == (NOT_SHOWN, 2000.0, 1.0)
    assert rates(found).empty
    [section] = _remainders(remainders(found), uncounted=2)
    assert "Left out: 2 runs without a count" in section.text
    [section] = _remainders(remainders(found).head(0), uncounted=1)
    assert "Left out: 1 run without a count" in section.text
    assert section.table is None


@pytest.mark.slow
def test_rates_of_a_row_with_fixed_steps_and_a_goal() -> None:
    published = Published(
        goal=8, rates={"umda": 50.0}, mean_evaluations={"umda": "82 million"},
        mean_times={"umda": "4d5h"},
    )  # fmt: skip
    limited = Contestant(("umda",), time_limit=9.0, evaluations=1000)
    runs = [
        (limited, {**good(7), "seconds": 2.0, "evaluations": 7}),
        (limited, {"steps": None, "seconds": 9.1, "evaluations": 500}),
        (limited, {"steps": None, "seconds": 3.0, "max_evaluations": 1000}),
        (limited, {"steps": None, "seconds": 3.0, "evaluations": 1200, "max_evaluations": 600}),
        (limited, {"failure": "crashed"}),
        (SGA, {"steps": None, "seconds": 3.0}),
    ]
    row = Row(SPEC, published, target=8)
    umda, sga = rates(stand(row, runs)).itertuples()
    assert (umda.successes, umda.runs, umda.cut_off, umda.failures) == (1, 5, 2, 1)
    assert (umda.their_evaluations, umda.their_time) == ("82 million", "4d5h")
    assert sga.cut_off == 0
    assert isnan(sga.their_time)
    certain = Row(SPEC, replace(published, rates={"umda": 100.0}), target=8)
    # The host stops engines within the last tenth of a short limit.
    for seconds, ended, verdict in (
        (9.1, None, "cut off"), (8.2, None, "cut off"), (8.0, None, "no"),  # as in older stores
        (9.1, False, "no"), (8.0, True, "cut off"),  # a limit ended the engine, or none did
    ):  # fmt: skip
        failed = {"steps": None, "seconds": seconds, "evaluations": 500, "cut_off": ended}
        tried = [(limited, good(7))] * 9 + [(limited, failed)] * 9
        (rate,) = rates(stand(certain, tried)).itertuples()
        assert rate.reaches_published == verdict
    found = {each.title: each for each in compose(reading(row, runs), None).sections}
    table = found["Success rates"].table
    assert list(table["published time"]) == ["4d5h", ""]
    assert list(table["cut off"]) == [2, 0]


def test_conflicts_are_more_where_a_test_shows_it() -> None:
    """Samples without spread as well: four of 7 and four of 8 differ, two and two do not."""
    for count, word in ((4, "more"), (2, NOT_SHOWN)):
        runs = [(UMDA, left(7, 1.0))] * count + [(SGA, left(8, 1.0))] * count
        found = remainders(stand(Row(SPEC, target=7), runs))
        assert found.verdict.tolist() == ["lowest mean", word]


def test_the_files_of_a_study(tmp_path: Path) -> None:
    def page(name: str, row: Row, facts: dict[str, Any]) -> dict[str, str]:
        files = write_report(
            compose(reading(row, [(UMDA, facts)]), None), tmp_path / name, name, []
        )
        return {path.name: path.read_text() for path in files}

    pages = page("rates", Row(SPEC, Published(goal=8, rates={"umda": 50.0})), good(7))
    names = {"report.md", "report.csv", "report.html", "runs.csv", "success-rates.csv"}
    assert set(pages) == names
    (line,) = csv.DictReader(pages["success-rates.csv"].splitlines())
    assert (line["rate"], line["published_rate"], line["at_least_published"]) == (
        "1.0", "0.5", "yes",
    )  # fmt: skip
    shown = "| ring-bi-8 AAS | umda | 8 | 1 | 1 | 0 | 100 % | 21 to 100 % | 50 % | yes |"
    assert shown in pages["report.md"]
    pages = page("left", Row(SPEC, target=7), left(4, 1.0))
    (line,) = csv.DictReader(pages["conflicts.csv"].splitlines())
    assert (line["conflicts_mean"], line["conflicts_low"], line["verdict"]) == (
        "4.0", "", "lowest mean",
    )  # fmt: skip
    assert "## Conflicts left" in pages["report.md"]
    assert "## Not closed" not in pages["report.md"]
    assert ">Conflicts left</h2>" in pages["report.html"]


STUDY_FILE = """
name = "tiny"
[[contestants]]
engine = "umda"
options = { population = [10, 20], sweeps = 0, moves = 1 }
[budget]
evaluations = 100
seeds = 2
[[rows]]
topology = "ring-bi-6"
collective = "AAS"
fixed_steps = 2
"""


@pytest.mark.long
def test_a_study_is_run_as_its_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(STUDY_FILE)
    assert command(["bench", "run", "tiny.toml", "--jobs", "2"]) == 0
    assert "[umda population=10, seed 1]" in capsys.readouterr().err
    with Store(tmp_path / "tiny.sqlite") as store:
        runs = list(store.runs())
        assert store.suite("tiny").rows == read_suite("tiny.toml").rows
    assert len(runs) == 4
    assert {run.contestant.evaluations for run in runs} == {100}
    assert all(run.result["conflicts"] > 0 for run in runs)
    found = read_store(tmp_path / "tiny.sqlite", None, load_registry())
    assert set(found.runs.row) == {"ring-bi-6 AAS in 2 steps"}
    assert found.runs[["conflicts", "evaluations"]].gt(0).all(axis=None)
    assert found.runs.held.all()
    # What the command line says replaces what the file says.
    words = "--engine umda --evaluations 50 --seeds 1 --store other.sqlite"
    assert command(["bench", "run", "tiny.toml", *words.split()]) == 0
    with Store(tmp_path / "other.sqlite") as store:
        (run,) = store.runs()
    plain = Contestant(("umda",), time_limit=None, evaluations=50)
    assert replace(run.contestant, software="") == plain


def swept(values: tuple[str, ...]) -> list[Contestant]:
    return [
        Contestant(("umda",), options={"umda": {"mutation": share, "population": size}})
        for share in values
        for size in ("50", "100", "150")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("grid", "axis"),
    [
        (swept(("0.0", "0.5", "0.9")), "mutation"),
        (swept(("0.0", "0.9")), "population"),  # two values of the mutation make no axis
        ([*swept(("0.0", "0.5", "0.9")), SGA], None),
    ],
)
def test_plots_of_conflicts(grid: list[Contestant], axis: str | None) -> None:
    runs: list[tuple[Contestant, dict[str, Any]]] = []
    for number, contestant in enumerate(grid):
        share = contestant.options.get("umda", {}).get("mutation", "1")
        fewest = round(90 - 80 * float(share)) + number % 3
        runs += [(contestant, left(fewest + more, 1.0)) for more in (0, 2)]
    found = remainders(stand(Row(SPEC, target=7), runs))
    assert main_option(found) == axis
    ((title, svg),) = conflict_plots(found)
    assert title == "Conflicts left: ring-bi-8 AAS in 7 steps"
    assert f">{axis or 'mean conflicts, 95 %'}</text>" in svg
    assert conflict_plots(found) == [(title, svg)]


def test_conflict_studies_of_two_stores_are_not_compared() -> None:
    """Steps and seconds say nothing of them: all are equal, whatever conflicts are left."""
    row = Row(SPEC, target=3)
    sides = [
        reading(row, [(UMDA, {"steps": None, "conflicts": left + seed}) for seed in range(3)])
        for left in (50, 10)
    ]
    section = next(each for each in compose(*sides).sections if each.title.startswith("Compared"))
    assert "0 rows in both" in section.text
    assert "Not compared: 1 row of conflict studies." in section.text
