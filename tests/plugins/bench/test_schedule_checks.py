"""Runs of schedules: what does not hold is no result, whatever the store says."""

import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.row import Row
from cchybrid_plugins.bench.schedule_checks import checked_columns, stored_schedule
from cchybrid_plugins.bench.store import Run

import cchybrid
from cchybrid.checker import EvidenceError
from cchybrid.library.instance_spec import InstanceSpec
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import made

ROW = Row(InstanceSpec("ring-bi-4", "AAS"))
BUDGET = Contestant(("colouring",), "auto", None, 500)


@pytest.fixture(scope="module")
def finished() -> Run:
    return made("schedules", ROW, BUDGET)


def corrupt(run: Run, change) -> Run:
    record = json.loads(zlib.decompress(run.record))
    change(record)
    return replace(run, record=zlib.compress(json.dumps(record).encode()))


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
    assert stored_schedule(finished) is not None
    with pytest.raises((CchybridError, EvidenceError, LookupError)):
        stored_schedule(corrupt(finished, change))


def test_bytes_that_are_no_schedule(finished):
    for blob in (b"", b"rubbish", zlib.compress(b"[]"), finished.record[:-9]):
        with pytest.raises((CchybridError, ValueError, zlib.error)):
            stored_schedule(replace(finished, record=blob))


def test_a_bound_without_a_schedule_is_checked_too():
    instance = cchybrid.instance("ring-bi-4", "AAS")
    record = instance.to_json()
    evidence = {"kind": "linear", "steps": 2, "channels": [[1, 0, 1], [3, 0, 1]]}
    result = {
        "status": "unknown", "lower_bound": 2, "certified": True,
        "evidence_without_schedule": evidence, "instance_record": record,
        "digest": instance.digest, "seconds": 1.0, "seconds_to_best": 0.0, "engine": "",
        "bound_by": "cut", "versions": {}, "troubles": [],
    }  # fmt: skip
    run = Run("ring-bi-4 AAS", BUDGET, 0, "", result)
    assert checked_columns(run)["certified"]
    lower = replace(run, result={
        **result, "lower_bound": 9, "certified": False, "certified_bound": 2,
        "evidence_without_schedule": None, "certified_evidence": evidence,
    })  # fmt: skip
    assert checked_columns(lower)["certified_bound"] == 2
    for wrong in ({"certified_bound": 3}, {"certified_evidence": None}):
        with pytest.raises(InputError, match="bound"):
            checked_columns(replace(lower, result={**lower.result, **wrong}))
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
            checked_columns(replace(run, result={**result, **change}))


def test_a_certified_bound_below_a_claimed_one_is_checked(finished):
    """An engine's word for 2 steps, and evidence for as many, or for more than it proves."""
    record = json.loads(zlib.decompress(finished.record))
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
        record=zlib.compress(json.dumps(record).encode()),
    )
    found = checked_columns(claimed)
    assert (found["lower_bound"], found["certified"], found["certified_bound"]) == (2, False, 2)
    for wrong in ({"certified_bound": 3}, {"certified_evidence": {"kind": "linear", "steps": 1}}):
        with pytest.raises(InputError, match="does not prove the bound"):
            checked_columns(replace(claimed, result={**claimed.result, **wrong}))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (
            {"status": "feasible", "steps": 5, "lower_bound": 4},
            "5 steps, at least 4 (claimed), 1.0 s",
        ),
        (
            {"status": "feasible", "steps": 5, "lower_bound": 4, "certified": True},
            "5 steps, at least 4, 1.0 s",
        ),
        ({"status": "optimal", "steps": 4, "lower_bound": 4}, "4 steps, optimal (claimed), 1.0 s"),
        ({"status": "unknown", "lower_bound": 4}, "nothing found; at least 4 steps (claimed)"),
        ({"status": "unknown", "lower_bound": 1}, "nothing found; at least 1 step"),
    ],
)
def test_a_bound_without_evidence_is_called_claimed(result: dict[str, Any], words: str) -> None:
    kind = load_registry().benchmark("schedules")
    assert kind.words({"seconds": 1.0, **result}) == words
