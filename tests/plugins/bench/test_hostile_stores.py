"""Stores that were edited by SQL: what is not verified for its row is named and never counted."""

from __future__ import annotations

import csv
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.runner import digests, finished, tasks_of
from cchybrid_plugins.bench.store import Store
from cchybrid_plugins.bench.suite import Suite, read_suite

import cchybrid
from cchybrid.cli.app import run as command
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.kinds import KINDS, needs
from tests.plugins.bench.local_runs import COLOURING, made, with_seed
from tests.plugins.bench.small_suites import (
    COMPLETE,
    MAKERS,
    RING,
    Kind,
    changed,
    designs,
    designs_for_steps,
    schedules,
    store_of,
    throughputs,
)

if "designs" in KINDS:
    from cchybrid_plugins.design.benchmark.row import DesignRow

    from tests.plugins.bench.small_suites import designed


@pytest.fixture(
    params=[pytest.param(name, marks=needs(name.split()[0])) for name in MAKERS], scope="module"
)
def kind(request: pytest.FixtureRequest) -> Kind:
    return MAKERS[request.param]()


@pytest.fixture(autouse=True)
def _no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw nothing, as it takes half of the time."""
    monkeypatch.setattr("cchybrid_plugins.bench.report.plots.plots", lambda rows, runs: [])


class Shown(NamedTuple):
    """The text of a report, and the columns of its rows by name."""

    text: str
    rows: dict[str, list[str]]


def shown(kind: Kind, store: Path) -> Shown:
    folder = store.with_name("out")
    assert command(["bench", "report", str(store), "-o", str(folder)]) == 0
    lines = csv.DictReader((folder / "report.csv").read_text().splitlines())
    rows = {kind.name(line): [line[word] for word in kind.words] for line in lines}
    return Shown((folder / "report.md").read_text(), rows)


def edited(store: Path, edit: str, *values: str) -> Path:
    with closing(sqlite3.connect(store)) as database, database:
        database.execute(f"UPDATE {edit}", values)
    return store


def check_left_out(kind: Kind, found: Shown, reason: str = "does not hold") -> None:
    """Check that the run of the first row is named, and that only the second row has a result."""
    first, second = (row.name for row in kind.suite.rows)
    named = [line for line in found.text.splitlines() if reason in line]
    assert len(named) == 1
    assert named[0].startswith(f"- {first}")
    assert "better" in found.rows[second]
    assert set(found.rows.get(first, [])) <= {"", "no result"}


@pytest.mark.parametrize("digest_of", [0, pytest.param(1, marks=pytest.mark.long)])
def test_a_run_of_another_row_does_not_count(kind: Kind, tmp_path: Path, digest_of: int) -> None:
    digest = kind.runs[digest_of].result["digest"]
    result = {**kind.runs[1].result, "digest": digest}
    moved = replace(kind.runs[1], row=kind.runs[0].row, result=result)
    check_left_out(kind, shown(kind, store_of(kind, tmp_path, moved, kind.runs[1])))


def test_a_row_that_no_suite_has_is_named(kind: Kind, tmp_path: Path) -> None:
    stray = replace(kind.runs[0], row="a row that was")
    found = shown(kind, store_of(kind, tmp_path, stray, kind.runs[1]))
    assert "- a row that was: no suite of the store has this row; runs: 1" in found.text
    assert "better" in found.rows[kind.runs[1].row]


def test_a_copy_of_a_run_to_another_seed_does_not_count(kind: Kind, tmp_path: Path) -> None:
    run = kind.runs[0]
    if "seed" not in run.result:
        pytest.skip("runs of this kind do not depend on their seed")
    found = shown(kind, store_of(kind, tmp_path, replace(run, seed=3), kind.runs[1]))
    check_left_out(kind, found, "does not hold: its seed is 0, but it is stored under 3")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"time_limit": 60.0}, "its time limit is None, but it is stored under 60.0"),
        ({"evaluations": 40}, "its evaluations is 20, but it is stored under 40"),
        ({"threads": 2}, "its threads is 1, but it is stored under 2"),
        ({"first_schedule": True}, "its first schedule is False, but it is stored under True"),
        ({"options": {"colouring": {"tries": "2"}}}, "its options is {}, but it is stored under {"),
        ({"strategy": "race"}, "its strategy is 'auto', but it is stored under 'race'"),
        ({"engines": ("umda",)}, "its engines is "),
        ({}, "its seed is None, but it is stored under 0"),
        ({"engines": None, "without": ("colouring",)}, "its engines is "),
    ],
)
def test_a_copy_of_a_run_to_other_settings_does_not_count(
    change: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    kind = schedules()
    copied = replace(kind.runs[0], contestant=replace(COLOURING, **change))
    if not change:  # each copy of it under another seed would be one more success
        copied = changed(copied, lambda result, record: result.pop("seed"))
    check_left_out(kind, shown(kind, store_of(kind, tmp_path, copied, kind.runs[1])), reason)


def test_the_names_of_searches_are_no_settings(tmp_path: Path) -> None:
    """Results name the search that worked, such as an engine on quotients."""

    def on_quotients(result: dict[str, Any], record: Any) -> None:
        title = "colouring on quotients"
        result.update(engine=title, evaluations={title: 5}, strategy="Turns")

    kind = schedules()
    run = changed(kind.runs[0], on_quotients)
    assert run.result["settings"]["options"] == {}
    found = shown(kind, store_of(kind, tmp_path, run, kind.runs[1]))
    assert "does not hold" not in found.text
    assert "better" in found.rows[run.row]


@pytest.mark.parametrize("seeds", [(0, 1), (1, 0)])
def test_a_crashed_seed_hides_no_verified_one(
    kind: Kind, tmp_path: Path, seeds: tuple[int, int]
) -> None:
    good, crashed = seeds
    runs = (
        with_seed(kind.runs[0], good),
        replace(kind.runs[0], seed=crashed, failure="exit -9", result={}, record=None),
        kind.runs[1],
    )
    found = shown(kind, store_of(kind, tmp_path, *runs))
    assert [words[0] for words in found.rows.values()] == ["better", "better"]
    assert "exit -9" in found.text
    assert "not hold" not in found.text


def test_a_damaged_run_is_named_and_the_others_count(kind: Kind, tmp_path: Path) -> None:
    store = edited(store_of(kind, tmp_path, *kind.runs), "runs SET result = '{' WHERE rowid = 1")
    check_left_out(kind, shown(kind, store), "is damaged")


def test_a_store_without_a_run_that_counts_has_a_report(kind: Kind, tmp_path: Path) -> None:
    found = shown(kind, store_of(kind, tmp_path))
    assert {word for words in found.rows.values() for word in words} <= {"", "no result"}


def test_runs_that_are_damaged_or_do_not_hold_are_done_again(kind: Kind, tmp_path: Path) -> None:
    whole = with_seed(kind.runs[1], 1)
    other = replace(whole.contestant, software="other")
    forged = replace(whole, contestant=other, result={**whole.result, "software": "mine"})
    store = store_of(kind, tmp_path, *kind.runs, whole, forged)
    edited(store, "runs SET result = '{' WHERE rowid = 1")
    edited(store, "runs SET contestant = '?' WHERE rowid = 2")
    registry = load_registry()
    tasks = tasks_of(kind.suite, [whole.contestant, other], range(2))
    known = digests(kind.suite, registry), registry.benchmark(kind.suite.kind)
    with Store(store) as opened:
        assert finished(tasks, known[0], opened, known[1], registry) == {whole.key}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        pytest.param("designs", '"name": "degree 2"', '"name": "degree 5"', marks=needs("designs")),
        pytest.param("designs", '"diameter": "4"', '"diameter": "x"', marks=needs("designs")),
        pytest.param("designs", '"degree": 2', '"degree": "2"', marks=needs("designs")),
        pytest.param("designs", '"published": {', '"published": 3, "x": {', marks=needs("designs")),
        *(("throughputs", '"9"', value) for value in ('"1/0"', '"x"', '"0"', '"-3"', "3")),
    ],
)
def test_damaged_rows_refuse_the_store_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, old: str, new: str
) -> None:
    store = store_of(MAKERS[name](), tmp_path)
    edited(store, "suites SET content = replace(content, ?, ?)", old, new)
    assert command(["bench", "report", str(store), "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_claimed_bound_closes_no_row(tmp_path: Path) -> None:
    kind = schedules()
    words = {"certified": False, "certified_bound": 0}
    claim = changed(kind.runs[0], lambda result, record: result.update(words))
    found = shown(kind, store_of(kind, tmp_path, claim, kind.runs[1]))
    assert found.rows[claim.row] == ["better", "claimed"]
    assert "| all | 2 | 1 | 1 | 2 |" in found.text  # rows, closed, claimed, better


def test_evidence_of_another_run_bounds_no_throughput(tmp_path: Path) -> None:
    kind = throughputs()
    other = kind.runs[1].unpacked()

    def swap(result: dict[str, Any], record: Any) -> None:
        record.update({key: other[key] for key in other if key not in ("instance", "format")})
        result.update(rounds_per_chunk="1", bound="1")

    swapped = changed(kind.runs[0], swap)
    check_left_out(kind, shown(kind, store_of(kind, tmp_path, swapped, kind.runs[1])))


@needs("designs")
def test_the_bound_of_a_design_is_that_of_the_row(tmp_path: Path) -> None:
    """A ring fits the row of degree 5; its own degree, 2, has a bound that the row has not."""
    kind = designs()
    ring = designed(kind.suite.rows[0], RING)
    honest = shown(kind, store_of(kind, tmp_path, ring, kind.runs[1]))
    assert honest.rows["degree 5"] == ["better", "1"]
    lying = changed(
        ring, lambda result, record: record.update(degree=2, claims={"diameter_bound": 3})
    )
    check_left_out(kind, shown(kind, store_of(kind, tmp_path, lying, kind.runs[1])))


@needs("designs")
def test_another_network_is_not_the_named_one(tmp_path: Path) -> None:
    row = DesignRow(
        "six", 6, 5, (("latency", 1.0),), network="ring-bi-6", published={"diameter": "3"}
    )
    other = replace(row, name="seven")
    suite = Suite("mine", "", (row, other), kind="designs")
    runs = designed(row, COMPLETE), designed(other, row.named_links())
    kind = Kind(suite, runs, lambda line: line["row"], ("verdict",))
    found = shown(kind, store_of(kind, tmp_path, *runs))
    assert found.rows == {"seven": ["equal"]}
    assert "six, seed 0: does not hold: the network is not ring-bi-6" in found.text


@pytest.mark.slow
@needs("designs")
def test_exhaustion_is_a_claim_that_is_not_checked(tmp_path: Path) -> None:
    kind = designs_for_steps()
    ring = designed(kind.suite.rows[0], RING)
    steps = int(float(ring.result["design"]["steps"]))
    lying = changed(ring, lambda result, record: result.update(proven="by exhaustion"))
    found = shown(kind, store_of(kind, tmp_path, lying, kind.runs[1]))
    assert steps > 1
    quoted = "claimed by exhaustion, not checked"
    assert found.rows["degree 5"] == ["better", "1", quoted, "yes"]
    # Nothing but the quotation depends on the claim.
    (tmp_path / "s.sqlite").unlink()
    honest = shown(kind, store_of(kind, tmp_path, ring, kind.runs[1]))
    assert found.text.count(quoted) == 1
    assert found.text.replace(quoted, "not proven") == honest.text


def test_rows_that_the_suite_has_changed_since_are_named(tmp_path: Path) -> None:
    kind = throughputs()
    suite = read_suite("forestcoll")
    first, *others = suite.rows
    stored = replace(suite, rows=(replace(first, rounds_per_chunk="9"), *others[1:]))
    kind = kind._replace(suite=stored)
    text = shown(kind, store_of(kind, tmp_path)).text
    assert f"- {first.name}: the suite now has another instance or other published values" in text
    assert f"- {others[0].name}: the store has no such row" in text
    assert text.count("the suite now has") == 1


@pytest.mark.slow
def test_a_store_with_another_instance_by_the_same_name_is_not_compared(tmp_path: Path) -> None:
    stores = []
    for number, topology in enumerate(("ring-bi-4", "mesh-2x3")):
        folder = tmp_path / str(number)
        folder.mkdir()
        cchybrid.instance(topology, "AAS").save(folder / "net.json")
        row = Row.from_text({"topology": "./net.json"}, folder)
        kind = schedules()._replace(suite=Suite("mine", "", (row,)))
        stores.append(str(store_of(kind, folder, made("schedules", row, COLOURING))))
    assert command(["bench", "report", *stores, "-o", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "report.md").read_text()
    assert "0 rows in both" in text
    assert "as the other store has another instance by this name:\n\n- net.json\n" in text


@pytest.mark.slow
def test_nothing_is_worse_where_nothing_was_published(tmp_path: Path) -> None:
    kind = schedules()
    bare = replace(kind.suite, rows=tuple(
        Row.from_text({"topology": row.topology, "collective": "AAS"}, Path())
        for row in kind.suite.rows
    ))  # fmt: skip
    text = shown(kind._replace(suite=bare), store_of(kind._replace(suite=bare), tmp_path)).text
    nothing = "Nothing was published that the results of these rows could be compared with."
    assert f"## Worse than published\n\n{nothing}\n" in text
    (tmp_path / "s.sqlite").unlink()
    text = shown(kind, store_of(kind, tmp_path, kind.runs[0])).text
    assert "## Worse than published\n\n0 of the 1 rows that are compared.\n" in text
