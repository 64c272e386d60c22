"""Reading a store for a report: what cannot be looked up does not count, damage is one line."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.merging import merge
from cchybrid_plugins.bench.report.reading import read_store
from cchybrid_plugins.bench.report.standing import standings
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.runner import digests, run_suite, tasks_of
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import Suite, read_suite
from pandas import NA

import cchybrid
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.plugin.records import EngineInfo
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import fill, local, made, stored_under
from tests.plugins.bench.small_suites import changed

STEPS = "UPDATE suites SET content = replace(content, '\"steps\": 2', '\"steps\": NEW')"


def run_of(suite: Suite, topology: str, engine: str) -> Run:
    row = Row(InstanceSpec(topology, "AAS"))
    run = made("schedules", row, Contestant((engine,), "auto", None, 20))
    return replace(run, row=suite.rows[0].name)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two contestants, between whose runs the row's file changed."""
    (tmp_path / "mine.toml").write_text('[[rows]]\ntopology = "net.json"\nsteps = 2')
    path = tmp_path / "s.sqlite"
    for engine, name in (("colouring", "ring-bi-4"), ("umda", "ring-bi-6")):
        cchybrid.instance(name, "AAS").save(tmp_path / "net.json")
        suite = read_suite(str(tmp_path / "mine.toml"))
        fill(path, suite, [run_of(suite, name, engine)])
    return path


def execute(store: Path, script: str) -> None:
    with closing(sqlite3.connect(store)) as database, database:
        database.execute(script)


@pytest.mark.slow
def test_runs_of_what_the_row_names_no_more_do_not_count(store):
    reading = read_store(store, None, load_registry())
    (standing,) = standings(reading).itertuples()
    assert reading.runs.held.tolist() == [False, True]
    assert standing.steps == 5  # of the ring of six


def test_nodes_have_the_names_that_the_file_of_the_row_has_now(tmp_path):
    (tmp_path / "mine.toml").write_text('[[rows]]\ntopology = "net.edgelist"\ncollective = "OAB"')
    for links in ("a b\nb c\n", "c b\nb a\n"):
        (tmp_path / "net.edgelist").write_text(links)
        suite = read_suite(str(tmp_path / "mine.toml"))
        if not (tmp_path / "s.sqlite").exists():
            run = made("schedules", suite.rows[0], Contestant(("colouring",), "auto", None, 20))
            fill(tmp_path / "s.sqlite", suite, [run])
    reading = read_store(tmp_path / "s.sqlite", None, load_registry())
    assert reading.runs.held.tolist() == [True]
    assert reading.features(reading.rows[0])["root"] == "c"


def test_nodes_have_the_names_of_the_row_whatever_a_record_calls_them(tmp_path):
    """The answer of an executor, or a store that was edited: names are outside the digest."""
    row = Row(InstanceSpec("ring-bi-4", "OAB", root=1))
    names = {"node_names": [*"dcba"]}
    run = changed(
        made("schedules", row, Contestant(("colouring",), "auto", None, 20)),
        lambda result, record: record["instance"]["network"].update(names),
    )
    path = fill(tmp_path / "s.sqlite", Suite("mine", "", (row,)), [run])
    reading = read_store(path, None, load_registry())
    assert reading.runs.held.tolist() == [True]
    found = reading.features(row)
    assert (found["root"], found["receivers"]) == (1, "0,2-3")


def test_files_of_one_name_in_two_folders_have_facts_of_their_own(tmp_path):
    registry, rows = load_registry(), []
    for folder, links in (("one", "a b\nb c\n"), ("two", "a b\nb c\nc d\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.edgelist").write_text(links)
        rows.append(Row(InstanceSpec(str(tmp_path / folder / "net.edgelist"), "AAB")))
    kind = registry.benchmark("schedules")
    assert len({kind.digest(row, registry) for row in rows}) == 2
    assert [kind.facts(row, registry)["nodes"] for row in rows] == [3, 4]
    assert rows[0].name == rows[1].name


def test_the_instance_of_each_row_is_built_once(store, monkeypatch):
    loaded = []
    load = Instance.load

    def counted(path):
        loaded.append(path)
        return load(path)

    monkeypatch.setattr(Instance, "load", counted)
    reading = read_store(store, None, load_registry())
    assert reading.features(reading.rows[0])["nodes"] == 6
    assert len(loaded) == len(reading.rows) == 1


@pytest.mark.long
def test_stored_runs_of_renamed_engines_count_under_the_present_name(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text('[[rows]]\ntopology = "net.json"\nsteps = 2')
    cchybrid.instance("mesh-2x3", "AAS").save(tmp_path / "net.json")
    suite, registry = read_suite(str(tmp_path / "mine.toml")), load_registry()
    path = tmp_path / "s.sqlite"
    fill(path, suite, [run_of(suite, "mesh-2x3", "covering")])
    for column in ("contestant", "result"):
        execute(path, f"UPDATE runs SET {column} = replace({column}, 'covering', 'liquid')")
    (run,) = read_store(path, None, registry).runs.itertuples()
    assert {run.contestant, run.engine, run.contributions[-1].author} == {"covering"}
    assert capsys.readouterr().err == "cchybrid: engine liquid is now covering\n"
    present = [Contestant(("covering",), "auto", None, 20)]
    with Store(path, write=True) as opened:
        known = digests(suite, registry)
        assert run_suite(
            suite, tasks_of(suite, present, [0]), known, opened, local(1), print, registry
        )
        (kept,) = opened.runs()
    assert kept.contestant.engines == ("liquid",)


def test_only_engines_of_a_run_are_called_by_their_present_names(tmp_path):
    """An engine of a plugin that is installed later was once called as a bound provider is now."""
    row = Row(InstanceSpec("ring-bi-4", "AAS"))
    run = made("schedules", row, Contestant(("colouring",), "auto", None, 20))
    suite, provider = Suite("mine", "", (row,)), run.result["bound_by"]
    authors = {entry["author"] for entry in run.result["contributions"]}
    path = fill(tmp_path / "s.sqlite", suite, [run])
    later = EngineInfo("mine", "nowhere:Mine", "-", former_names=(*authors, provider))
    registry = replace(load_registry(), engines={"mine": later})
    (found,) = read_store(path, None, registry).runs.itertuples()
    assert (found.engine, found.bound_by) == ("mine", provider)
    assert {entry.author for entry in found.contributions} == authors - {"colouring"} | {"mine"}


@pytest.mark.slow
def test_a_run_under_two_names_of_its_engine_counts_once(tmp_path, capsys):
    row = Row(InstanceSpec("ring-bi-4", "AAS"))
    run = made("schedules", row, Contestant(("covering",), time_limit=None, evaluations=20))
    failed = replace(run, failure="exit 1", result={}, record=None)
    suite, registry = Suite("mine", "", (row,)), load_registry()
    former = stored_under(run, replace(run.contestant, engines=("liquid",)))
    old = fill(tmp_path / "old.sqlite", suite, (former, failed))
    new = fill(tmp_path / "new.sqlite", suite, (run,))
    for path in (old, new):
        (kept,) = read_store(path, None, registry).runs.itertuples()
        assert (kept.contestant, kept.failure) == ("covering", "")
    with Store(new, write=True) as opened:
        merged = merge([old], opened, registry)
    assert (merged.added, merged.known, merged.refused) == (0, 2, [])
    capsys.readouterr()


def test_a_row_that_is_run_meanwhile_is_left_to_the_next_report(store, monkeypatch):
    monkeypatch.setattr(Store, "run_counts", lambda self: {})
    assert len(read_store(store, None, load_registry()).runs) == 0
    monkeypatch.undo()
    assert len(read_store(store, None, load_registry()).runs) == 2


def test_rows_that_cannot_be_looked_up_do_not_count(store):
    (store.parent / "net.json").unlink()
    reading = read_store(store, None, load_registry())
    (standing,) = standings(reading).itertuples()
    assert not reading.runs.held.any()
    assert (standing.steps, standing.lower_bound, standing.verdict) == (NA, NA, "no result")
    assert "net.json" in reading.checked.unchecked["net.json"]


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (STEPS.replace("NEW", '"abc"'), "the store is damaged"),
        (STEPS.replace("NEW", "99999999999"), "the store is damaged"),
        ("UPDATE suites SET content = '[]'", "the store is damaged"),
        ("DROP TABLE runs", "the store is damaged"),
        ("UPDATE suites SET content = '{}'", "no plugin registers the kind of the suite mine"),
    ],
)
def test_a_damaged_store_is_one_line(store, damage, line):
    execute(store, damage)
    with pytest.raises(InputError, match=line):
        read_store(store, None, load_registry())


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE runs SET contestant = replace(contestant, '\"options\":{}', '\"options\":5')",
        "UPDATE runs SET contestant = replace(contestant, '[\"umda\"]', '[1,2]')",
        'UPDATE runs SET contestant = replace(contestant, \'"threads":1\', \'"threads":"x"\')',
        "UPDATE runs SET contestant = '5'",
        "UPDATE runs SET contestant = contestant || ' '",
        "UPDATE runs SET result = '[' || result",
        "UPDATE runs SET schedule = 'text'",
        "UPDATE runs SET seed = 'abc'",
        "UPDATE runs SET seed = 1.5",
        "UPDATE runs SET failure = x'ff00'",
        "UPDATE runs SET result = CAST(x'ff' AS TEXT)",
        f"UPDATE runs SET result = '{'[' * 100_000}'",
    ],
)
def test_a_damaged_run_is_left_out_and_named(store, damage):
    execute(store, f"{damage} WHERE contestant LIKE '%umda%'")
    reading = read_store(store, None, load_registry())
    assert not reading.runs.held.any()
    (line,) = reading.checked.excluded
    assert line.startswith("net.json [")
    assert ": is damaged: " in line
