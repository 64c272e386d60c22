"""The store: what was put in comes out, verified; what does not hold is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from cchybrid_plugins.bench.contestant import Contestant, contestants, with_budget
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.schedule_checks import stored_schedule
from cchybrid_plugins.bench.store import Run, Store
from cchybrid_plugins.bench.suite import Suite, read_suite

from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.host.test_strategy_plugins import PLUGIN
from tests.plugins.bench.local_runs import COLOURING, fill, made

ROWS = tuple(Row(InstanceSpec("ring-bi-4", name)) for name in ("OAB", "AAS"))
SUITE = Suite("two", "two rows", ROWS)


@pytest.fixture(scope="module")
def finished() -> Run:
    return made("schedules", ROWS[1], COLOURING)


def test_what_goes_in_comes_out(tmp_path, finished):
    failed = Run(ROWS[0].name, COLOURING, 0, "exit -9", {})
    path = fill(tmp_path / "s.sqlite", SUITE, [finished, failed])
    with Store(path) as store:
        assert store.suites() == ["two"]
        assert store.suite("two").rows == ROWS
        one, other = store.runs()
        assert (one, other, one.contestant) == (finished, failed, COLOURING)
        assert len(stored_schedule(one).steps) == one.result["steps"] == 2
        assert stored_schedule(other) is None
    assert not path.with_name("s.sqlite-wal").exists()


@pytest.mark.parametrize("write", [False, True])
def test_what_a_killed_run_had_half_written_is_undone(tmp_path, finished, write):
    path, copy = fill(tmp_path / "s.sqlite", SUITE, [finished]), tmp_path / "copy.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA cache_size=1")
        database.execute("BEGIN")
        for number in range(500):
            database.execute("INSERT INTO meta VALUES (?, ?)", (f"k{number}", "x" * 500))
        for end in ("", "-journal"):  # as a kill leaves them
            shutil.copy(f"{path}{end}", f"{copy}{end}")
    with Store(copy, write=write) as store:
        assert [run.key for run in store.runs()] == [finished.key]


def test_a_row_may_stand_in_several_suites_and_keeps_its_runs(tmp_path, finished):
    path = fill(tmp_path / "s.sqlite", SUITE, [finished])
    fill(path, Suite("one", "", ROWS[1:]), [])
    fill(path, Suite("two", "", ROWS[::-1]), [])
    with Store(path) as store:
        assert store.suite("two").rows == ROWS[::-1]
        assert len(list(store.runs())) == 1


OLD_ROWS = {
    "schedules": '{"question": {"topology": "ring-bi-6", "collective": "AAS", "fail_links": [],'
    ' "fail_nodes": []}, "published": {"steps": 4, "lower_bound": 3, "place": "", "source": "x",'
    ' "note": "a|b", "comparable": true, "goal": null, "rates": {}}}',
    "designs": '{"design": {"name": "ring", "nodes": 16, "degree": 2, "weights": [["latency", 1.0],'
    ' ["bisection", 1.0]], "layout": "", "max_wire": null, "network": "ring-bi-16", "designers":'
    ' ["annealing"], "collective": "", "published": {"latency": "4.00", "bisection": "3"},'
    ' "source": "table A", "note": "hm"}}',
    "throughputs": '{"throughput": {"topology": "ring-bi-4", "collective": "AAB",'
    ' "rounds_per_chunk": "3/2", "source": "a paper", "note": ""}}',
}


@pytest.mark.parametrize("kind", OLD_ROWS)
def test_rows_of_0_9_0_are_read_and_written_as_they_were(tmp_path, kind):
    if kind not in load_registry().benchmarks:
        pytest.skip("no plugin has this kind")
    Store(tmp_path / "s.sqlite", write=True).close()
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as database, database:
        row = load_registry().benchmark(kind).from_json(json.loads(OLD_ROWS[kind]))
        database.execute("INSERT INTO suites VALUES ('old', 0, ?, ?)", (row.name, OLD_ROWS[kind]))
    with Store(tmp_path / "s.sqlite") as store:
        suite = store.suite("old")
    assert suite.kind == kind
    assert [json.dumps(row.to_json()) for row in suite.rows] == [OLD_ROWS[kind]]


def test_a_row_under_another_name_is_refused(tmp_path):
    with Store(tmp_path / "s.sqlite", write=True) as store:
        store.put_suite(read_suite("smoke"))
        store._database.execute("UPDATE suites SET row = 'another' WHERE position = 0")
        with pytest.raises(ValueError, match="a row of the suite smoke is stored under another"):
            store.suite("smoke")


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path, write=True):
        with pytest.raises(InputError, match="another benchmark is writing"):
            Store(path, write=True)
        Store(path).close()  # reading is free
    Store(path, write=True).close()


@pytest.mark.parametrize(
    ("name", "write", "message"),
    [
        ("none.sqlite", False, "there is no such store"), ("text", False, "text"),
        ("text", True, "text"), ("no folder/s.sqlite", True, "cannot be used"),
        ("n" * 5000, False, "there is no such store"),
    ],
)  # fmt: skip
def test_files_that_are_no_stores(tmp_path, name, write, message):
    (tmp_path / "text").write_text("no database at all, but long enough to look at" * 40)
    with pytest.raises(InputError, match=message):
        Store(tmp_path / name, write=write)


def test_a_damaged_store_that_its_errors_quote(tmp_path):
    """SQLite's message then has a byte that is no UTF-8."""
    path = tmp_path / "s.sqlite"
    Store(path, write=True).close()
    content = path.read_bytes()
    assert b"CREATE TABLE runs" in content
    path.write_bytes(content.replace(b"CREATE TABLE runs", b"CREATE \xfeABLE runs"))
    for write in (False, True):
        with pytest.raises(InputError, match="cannot be used"):
            Store(path, write=write)


@pytest.mark.parametrize(
    "script",
    ["PRAGMA journal_mode=WAL; CREATE TABLE meta (other)", "PRAGMA user_version=7",
     "CREATE TABLE t (x); INSERT INTO t VALUES (1)"],
)  # fmt: skip
@pytest.mark.parametrize("write", [False, True])
def test_a_foreign_database_is_not_touched(tmp_path, script, write):
    path = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script)
    before = path.read_bytes()
    with pytest.raises(InputError, match="no store of cchybrid"):
        Store(path, write=write)
    assert path.read_bytes() == before


def test_a_foreign_database_with_a_log_of_its_own_is_not_touched(tmp_path):
    path = tmp_path / "foreign.sqlite"
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    ends = "foreign.sqlite", "foreign.sqlite-wal"
    files = [(tmp_path / name).read_bytes() for name in ends]
    left = [tmp_path / f"left-{name}" for name in ends]
    for path, content in zip(left, files, strict=True):  # as a killed owner leaves them
        path.write_bytes(content)
    database.close()
    with pytest.raises(InputError, match="no store of cchybrid"):
        Store(left[0], write=True)
    assert [path.read_bytes() for path in left] == files


def test_a_copy_of_the_one_file_holds_what_was_finished(tmp_path, finished):
    with Store(tmp_path / "s.sqlite", write=True) as store:
        store.put_suite(SUITE)
        store.put(finished)
        shutil.copy(tmp_path / "s.sqlite", tmp_path / "copy.sqlite")
    with Store(tmp_path / "copy.sqlite") as store:
        assert [run.key for run in store.runs()] == [finished.key]


def test_one_contestant_is_one_whatever_its_spelling(tmp_path, finished):
    """Suites wrote 3 seconds where the command wrote 3.0; nothing counts twice."""
    engines = finished.contestant.engines or ("umda",)
    limited = replace(finished, contestant=Contestant(engines, time_limit=3.0))
    path, refused = tmp_path / "s.sqlite", []
    with Store(path, write=True) as store:
        store.put_suite(SUITE)
        store.put(limited)
        whole = limited.contestant.key.replace("3.0", "3")
        one, two = (json.dumps(list, separators=(",", ":")) for list in (engines, 2 * engines))
        doubled = limited.contestant.key.replace(one, two)
        for key in (whole, doubled):
            store._database.execute(
                "INSERT INTO runs SELECT row, ?, seed, failure, result, schedule FROM runs LIMIT 1",
                (key,),
            )
        assert len([*store.runs(refused.append)]) == 1
    assert [line.rpartition(": ")[2] for line in refused] == [
        "its engines are not in order, or one is named twice",
        "its contestant is that of another run, and would count twice",
    ]


def test_contestants_without_some_engines():
    registry = load_registry()
    key = (
        '{"engines":null,"evaluations":null,"options":{},"strategy":"auto","threads":1,'
        '"time_limit":60.0}'
    )
    assert Contestant.from_key(key) == Contestant(first_schedule=True)
    found = contestants(registry, [], [], {}, ["TABU", "tabu + milp", "tabu"])
    assert [one.name for one in found] == ["auto without tabu", "auto without covering+tabu"]
    assert [Contestant.from_key(one.key) for one in found] == found
    assert (
        {"cpsat", "lns"} < {*Contestant().team(registry)} - {"tabu"} == {*found[0].team(registry)}
    )
    assert found[0].to_solve()["without"] == ("tabu",)
    assert Contestant(strategy="race", without=("tabu",)).name == "race without tabu"
    for other in (replace(found[1], without=("tabu", "lns")), Contestant(("lns",), without=("a",))):
        with pytest.raises(ValueError, match=r"not in order|is no contestant"):
            Contestant.from_key(other.key)
    for arguments, complaint in (
        ((["tabu"], [], {}, ["lns"]), "--without: given beside --engine; leave one of them out"),
        (([], [], {}, ["nope"]), "without: no engine is called nope"),
        (([], [], {}, [""]), "without: no engine is called ;"),
        (([], [], {}, ["umda"]), "without: umda does not take part anyway"),
        (([], [], {}, ["+".join(Contestant().team(registry))]), "without: no engine is left"),
        (([], [], {"tabu": {"patience": "1"}}, ["tabu"]), "engine tabu does not take part"),
    ):
        with pytest.raises(InputError, match=complaint):
            contestants(registry, *arguments)


def test_contestants():
    registry = load_registry()
    found = contestants(
        registry, ["umda", "CPSAT+umda", "umda"], ["race", "auto"], {"umda": {"population": "8"}},
        time_limit=2.0, evaluations=None, threads=1,
    )  # fmt: skip
    assert [one.name for one in found] == ["umda (race)", "umda", "cpsat+umda (race)", "cpsat+umda"]
    assert [Contestant.from_key(one.key) for one in found] == found
    assert found[0].budget == "2 s, 1 thread"
    assert [one.name for one in contestants(registry, [], [], {})] == ["auto"]
    with pytest.raises(InputError, match="no strategy is called fast"):
        contestants(registry, [], ["fast"], {})
    with pytest.raises(InputError, match="nope"):
        contestants(registry, ["nope"], [], {})
    with pytest.raises(InputError, match="--option: strategy relay does not take part"):
        contestants(registry, [], ["race"], {"relay": {"slice_seconds": "5"}})
    with pytest.raises(InputError, match="--option: engine umda does not take part"):
        contestants(registry, ["cpsat"], [], {"umda": {"population": "8"}})


def test_a_strategy_with_a_capital_in_its_name_has_options_in_any_case(tmp_path, monkeypatch):
    (tmp_path / "planned.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "tests.faulty_engines,planned")
    found = load_registry()
    named = contestants(found, [], ["patient"], {"patient": {"patience": "1"}}, time_limit=1.0)
    other = Contestant(strategy="PATIENT", options={"PATIENT": {"patience": "1"}}, time_limit=1.0)
    assert with_budget(found, [other], time_limit=1.0) == named
    assert named[0].options == {"Patient": {"patience": "1"}}
