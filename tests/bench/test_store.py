"""The store: what was put in comes out, verified; what does not hold is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace

import pytest

import cchybrid
from cchybrid.bench.contestant import Contestant, contestants
from cchybrid.bench.row import Row
from cchybrid.bench.store import Run, Store
from cchybrid.bench.suite import Suite
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry

ROWS = tuple(Row(InstanceSpec("ring-bi-4", name)) for name in ("OAB", "AAS"))
SUITE = Suite("two", "two rows", ROWS)
BUDGET = Contestant(("colouring",), "auto", None, 500)


@pytest.fixture(scope="module")
def finished() -> Run:
    instance = cchybrid.instance("ring-bi-4", "AAS")
    result = cchybrid.solve(instance, engines=["colouring"], evaluations=500)
    assert result.schedule is not None
    record = {**result.to_json(), "digest": instance.digest}
    packed = zlib.compress(json.dumps(result.schedule.to_json()).encode())
    return Run(ROWS[1].name, BUDGET, 0, "", record, packed)


def test_what_goes_in_comes_out(tmp_path, finished):
    path = tmp_path / "s.sqlite"
    failed = Run(ROWS[0].name, BUDGET, 0, "exit -9", {})
    with Store(path, write=True) as store:
        store.put_suite(SUITE)
        store.put(finished)
        store.put(failed)
        assert store.finished() == {finished.key: finished.result["digest"]}
    with Store(path) as store:
        assert store.suites() == ["two"]
        assert store.suite("two").rows == ROWS
        one, other = store.runs()
        assert (one, other) == (finished, failed)
        assert one.contestant == BUDGET
        assert len(one.schedule().steps) == one.steps == one.lower_bound == 2
        assert one.certified
        assert one.closed
        assert other.schedule() is None
    assert not path.with_name("s.sqlite-wal").exists()


@pytest.mark.parametrize("write", [False, True])
def test_what_a_killed_run_had_half_written_is_undone(tmp_path, finished, write):
    path, copy = tmp_path / "s.sqlite", tmp_path / "copy.sqlite"
    with Store(path, write=True) as store:
        store.put(finished)
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
    with Store(tmp_path / "s.sqlite", write=True) as store:
        store.put_suite(SUITE)
        store.put(finished)
        store.put_suite(Suite("one", "", ROWS[1:]))
        store.put_suite(Suite("two", "", ROWS[::-1]))
        assert store.suite("two").rows == ROWS[::-1]
        assert len(list(store.runs())) == 1


def corrupt(run: Run, change) -> Run:
    record = json.loads(zlib.decompress(run._schedule))
    change(record)
    return replace(run, _schedule=zlib.compress(json.dumps(record).encode()))


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["steps"].pop(),
        lambda record: record["steps"][0].pop(),
        lambda record: record["steps"].append(record["steps"][0]),
        lambda record: record["lower_bound"].update(steps=9),
        lambda record: record["lower_bound"].update(evidence={}),
        lambda record: record["lower_bound"].update(evidence={"kind": "linear", "steps": 1}),
        lambda record: record.pop("lower_bound"),
        lambda record: record["instance"]["network"]["channels"].pop(),
        lambda record: record.update(format="other"),
    ],
)
def test_every_schedule_is_verified_when_it_is_read(finished, change):
    with pytest.raises(InputError, match="run ring-bi-4 AAS, seed 0"):
        corrupt(finished, change).schedule()


def test_bytes_that_are_no_schedule(finished):
    for blob in (b"", b"rubbish", zlib.compress(b"[]"), finished._schedule[:-9]):
        with pytest.raises(InputError, match="run it again"):
            replace(finished, _schedule=blob).schedule()


def test_a_bound_without_a_schedule_is_checked_too():
    instance = cchybrid.instance("ring-bi-4", "AAS")
    record = instance.to_json()
    evidence = {"kind": "linear", "steps": 2, "channels": [[1, 0, 1], [3, 0, 1]]}
    result = {
        "status": "unknown", "lower_bound": 2, "certified": True,
        "evidence_without_schedule": evidence, "instance_record": record,
        "digest": instance.digest,
    }  # fmt: skip
    run = Run("ring-bi-4 AAS", BUDGET, 0, "", result)
    run.check_bound()
    lower = replace(run, result={
        **result, "lower_bound": 9, "certified": False, "certified_bound": 2,
        "evidence_without_schedule": None, "certified_evidence": evidence,
    })  # fmt: skip
    lower.check_bound()
    for wrong in ({"certified_bound": 3}, {"certified_evidence": None}):
        with pytest.raises(InputError, match="bound"):
            replace(lower, result={**lower.result, **wrong}).check_bound()
    for change in (
        {"lower_bound": 3},
        {"evidence_without_schedule": {"kind": "linear", "steps": 2, "accept": [[9, 1]]}},
        {"instance_record": cchybrid.instance("ring-bi-8", "AAS").to_json()},
        {"instance_record": {"format": "cchybrid-instance/1"}},
        {
            "status": "infeasible",
            "evidence_without_schedule": {"kind": "unreachable", "message": 0},
        },
    ):
        with pytest.raises(InputError, match="the bound does not hold"):
            replace(run, result={**result, **change}).check_bound()


def test_a_certified_bound_below_a_claimed_one_is_checked(finished):
    """An engine's word for 2 steps, and evidence for as many, or for more than it proves."""
    record = json.loads(zlib.decompress(finished._schedule))
    record["lower_bound"]["evidence"] = {}
    claimed = replace(
        finished,
        result={
            **finished.result,
            "certified": False,
            "certified_bound": 2,
            "certified_evidence": {
                "kind": "linear",
                "steps": 2,
                "channels": [[1, 0, 1], [3, 0, 1]],
            },
        },
        _schedule=zlib.compress(json.dumps(record).encode()),
    )
    assert claimed.schedule() is not None
    assert (claimed.lower_bound, claimed.certified, claimed.certified_bound) == (2, False, 2)
    for wrong in ({"certified_bound": 3}, {"certified_evidence": {"kind": "linear", "steps": 1}}):
        with pytest.raises(InputError, match="does not prove the bound"):
            replace(claimed, result={**claimed.result, **wrong}).schedule()


def test_one_writer_at_a_time(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path, write=True):
        with pytest.raises(InputError, match="another benchmark is writing"):
            Store(path, write=True)
        Store(path).close()  # reading is free
    Store(path, write=True).close()


def test_files_that_are_no_stores(tmp_path):
    with pytest.raises(InputError, match="there is no such store"):
        Store(tmp_path / "none.sqlite")
    (tmp_path / "text").write_text("no database at all, but long enough to look at" * 40)
    for write in (False, True):
        with pytest.raises(InputError, match="text"):
            Store(tmp_path / "text", write=write)
    sqlite3.connect(tmp_path / "other.db").executescript(
        "CREATE TABLE t (x); INSERT INTO t VALUES (1)"
    )
    for write in (False, True):
        with pytest.raises(InputError, match="no store of cchybrid"):
            Store(tmp_path / "other.db", write=write)
    with pytest.raises(InputError, match="cannot be used"):
        Store(tmp_path / "no folder" / "s.sqlite", write=True)
    with pytest.raises(InputError, match="there is no such store"):
        Store("n" * 5000)


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


def test_a_foreign_database_is_not_touched(tmp_path):
    path = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE meta (other)")
    before = path.read_bytes()
    with pytest.raises(InputError, match="no store of cchybrid"):
        Store(path, write=True)
    assert path.read_bytes() == before


def test_a_foreign_database_with_a_log_of_its_own_is_not_touched(tmp_path):
    path = tmp_path / "foreign.sqlite"
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    files = {
        name: (tmp_path / name).read_bytes() for name in ("foreign.sqlite", "foreign.sqlite-wal")
    }
    for name, content in files.items():  # as a killed owner leaves them
        (tmp_path / f"left-{name}").write_bytes(content)
    database.close()
    with pytest.raises(InputError, match="no store of cchybrid"):
        Store(tmp_path / "left-foreign.sqlite", write=True)
    assert (tmp_path / "left-foreign.sqlite").read_bytes() == files["foreign.sqlite"]
    assert (tmp_path / "left-foreign.sqlite-wal").read_bytes() == files["foreign.sqlite-wal"]


def test_an_empty_database_of_another_is_no_new_store(tmp_path):
    path = tmp_path / "theirs.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version=7")
    with pytest.raises(InputError, match="no store of cchybrid"):
        Store(path, write=True)


def test_a_copy_of_the_one_file_holds_what_was_finished(tmp_path, finished):
    with Store(tmp_path / "s.sqlite", write=True) as store:
        store.put_suite(SUITE)
        store.put(finished)
        shutil.copy(tmp_path / "s.sqlite", tmp_path / "copy.sqlite")
    with Store(tmp_path / "copy.sqlite") as store:
        assert [run.key for run in store.runs()] == [finished.key]


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
    with pytest.raises(InputError, match="options: umda does not take part"):
        contestants(registry, ["cpsat"], [], {"umda": {"population": "8"}})
