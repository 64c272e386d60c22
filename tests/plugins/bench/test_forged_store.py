"""A store with runs that no engine made: no forged run counts."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.report.reading import read_store
from cchybrid_plugins.bench.schedule_checks import stored_schedule
from cchybrid_plugins.bench.store import Store

from cchybrid.plugin.registry import load_registry
from tests.fuzz.readers import store_files

Change = Callable[[dict[str, Any], dict[str, Any]], object]


def changed(tmp_path: Path, change: Change) -> Path:
    """Return the store with the result and the schedule of its first run changed."""
    path = tmp_path / "s.sqlite"
    path.write_bytes(store_files()[0])
    with closing(sqlite3.connect(path)) as database, database:
        key = "row LIKE '%OAB%' AND seed = 0"
        ((result, packed),) = database.execute(f"SELECT result, schedule FROM runs WHERE {key}")
        result, record = json.loads(result), json.loads(zlib.decompress(packed))
        change(result, record)
        packed = zlib.compress(json.dumps(record).encode())
        database.execute(
            f"UPDATE runs SET result = ?, schedule = ? WHERE {key}", (json.dumps(result), packed)
        )
    return path


def first_run(path: Path) -> Any:
    runs = read_store(path, None, load_registry()).runs
    (run,) = runs[runs["row"].str.contains("OAB") & (runs.seed == 0)].itertuples()
    return run


def test_the_store_as_it_was_written_counts(tmp_path: Path) -> None:
    run = first_run(changed(tmp_path, lambda result, record: None))
    assert run.held
    assert run.certified
    assert run.steps == run.lower_bound == 2


FORGED: dict[str, Change] = {
    "a higher bound, as certified": lambda result, record: (
        result.update(lower_bound=3), record["lower_bound"].update(steps=3)
    ),
    "a higher bound in the result only": lambda result, record: result.update(lower_bound=3),
    "a certified bound without evidence": lambda result, record: (
        record["lower_bound"].pop("evidence")
    ),
    "a certified bound without a bound": lambda result, record: record.pop("lower_bound"),
    "evidence of another kind": lambda result, record: (
        record["lower_bound"].update(
            evidence={"kind": "unreachable", "message": 0, "destination": 1}
        )
    ),
    "a lesser bound beside a claim": lambda result, record: (
        result.update(certified=False, certified_bound=3)
    ),
    "a lesser bound with false evidence": lambda result, record: (
        result.update(certified=False, certified_bound=3,
                      certified_evidence={"kind": "linear", "steps": 2})
    ),
    "certified by a text": lambda result, record: (
        result.update(certified="yes", lower_bound=3), record["lower_bound"].update(steps=3)
    ),
    "fewer steps": lambda result, record: result.update(steps=1),
    "a step dropped": lambda result, record: (record["steps"].pop(), result.update(steps=1)),
    "both steps in one": lambda result, record: (
        record.update(steps=[[move for step in record["steps"] for move in step]]),
        result.update(steps=1, lower_bound=1), record["lower_bound"].update(steps=1),
    ),
    "the digest of another instance": lambda result, record: result.update(digest="0" * 64),
    "a digest in capitals": lambda result, record: result.update(digest=result["digest"].upper()),
    "an easier instance in the schedule": lambda result, record: (
        record["instance"]["network"]["channels"].append([0, 7])
    ),
    "an easier instance under another name": lambda result, record: (
        record["instance"]["network"].update(channels=[
            [a, b] for a in range(8) for b in range(8) if a != b
        ])
    ),
    "steps in other digits": lambda result, record: result.update(steps="\u0662"),
    "no schedule": lambda result, record: (record.clear(), result.update(steps=None)),
    "an infeasible instance": lambda result, record: (
        record.clear(), result.update(steps=None, status="infeasible")
    ),
    "seconds that are no number": lambda result, record: result.update(seconds="soon"),
    "a bound of a thousand digits": lambda result, record: (
        result.update(lower_bound=10**1000), record["lower_bound"].update(steps=10**1000)
    ),
}  # fmt: skip


@pytest.mark.parametrize("trick", FORGED)
def test_forged_runs_do_not_count(tmp_path: Path, trick: str) -> None:
    run = first_run(changed(tmp_path, FORGED[trick]))
    assert not run.held
    assert run.failure.startswith("does not hold: ")
    assert run.failure.isprintable()


def test_a_claim_is_no_certificate(tmp_path: Path) -> None:
    """A bound without evidence may stand in a store, as a claim."""
    path = changed(tmp_path, lambda result, record: result.update(certified=False))
    run = first_run(path)
    assert run.held
    assert not run.certified
    assert run.certified_bound == 0


def test_a_packed_record_must_not_grow_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = changed(tmp_path, lambda result, record: record.update(made_by={"a": " " * 100_000}))
    assert first_run(path).held
    monkeypatch.setattr("cchybrid_plugins.bench.store.MAX_FILE_CHARACTERS", 50_000)
    assert "too large" in first_run(path).failure
    with Store(path) as store, pytest.raises(ValueError, match="too large"):
        stored_schedule(next(run for run in store.runs() if run.record is not None))


@pytest.mark.parametrize(("column", "value"), [("seed", 0.5), ("row", b"a"), ("failure", 0)])
def test_values_of_wrong_types_are_damage(tmp_path: Path, column: str, value: object) -> None:
    path = changed(tmp_path, lambda result, record: None)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"UPDATE runs SET {column} = ? WHERE seed = 1", (value,))
    reading = read_store(path, None, load_registry())
    if column == "failure":  # SQLite makes a text of it
        assert reading.runs.failure.tolist().count("0") == 1
        return
    assert f"is damaged: the {column} is" in reading.checked.excluded[0]
