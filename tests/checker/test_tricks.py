"""Tricks by hand: files that look right to a reader which compares or converts carelessly."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cchybrid
from cchybrid.checker import EvidenceError, check, fingerprint
from cchybrid.checker.__main__ import main
from cchybrid.checker.reading import read_json
from cchybrid.checker.throughput import check_throughput
from cchybrid.model.errors import InputError

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
Change = Callable[[Any, Any], object]


def pair(name: str) -> tuple[Any, Any]:
    """Return a schedule and its certificate."""
    schedule, certificate = json.loads((CORPUS / f"certificate-{name}.json").read_bytes())
    check(schedule, certificate)
    return schedule, certificate


def put(*path: Any) -> Change:
    """Return a change that puts the last argument at the place of the others."""
    *outer, key, value = path

    def change(schedule: Any, certificate: Any) -> None:
        place = {"schedule": schedule, "certificate": certificate}
        inner: Any = place
        for each in outer:
            inner = inner[each]
        inner[key] = value

    return change


IN_PRICES: dict[str, Change] = {
    "a price in other digits": put("certificate", "evidence", "channels", 0, 2, "\u0663"),
    "a price with an exponent": put("certificate", "evidence", "channels", 0, 2, "1e9"),
    "a price with a sign": put("certificate", "evidence", "channels", 0, 2, "+3"),
    "a price with a space": put("certificate", "evidence", "channels", 0, 2, " 3"),
    "a price with a line break": put("certificate", "evidence", "channels", 0, 2, "3\n"),
    "a price with a decimal point": put("certificate", "evidence", "channels", 0, 2, "3.0"),
    "a price that is a float": put("certificate", "evidence", "channels", 0, 2, 3.0),
    "a price that is true": put("certificate", "evidence", "channels", 0, 2, True),
    "a price divided by zero": put("certificate", "evidence", "channels", 0, 2, "1/0"),
    "prices that are a number": put("certificate", "evidence", "channels", 5),
    "prices that are an object": put("certificate", "evidence", "channels", {"0": 1}),
    "prices that are a text": put("certificate", "evidence", "channels", "010"),
    "a price that is a text": put("certificate", "evidence", "channels", 0, "012"),
    "a price below zero": put("certificate", "evidence", "channels", 0, 2, -1),
    "a node that is false": put("certificate", "evidence", "channels", 0, 0, False),
    "a node that is a float": put("certificate", "evidence", "channels", 0, 0, 0.0),
    "claimed steps that are a text": put("certificate", "claim", "steps", "4"),
    "claimed steps that are a float": put("certificate", "claim", "steps", 4.0),
    "a scope in other letters": put("certificate", "claim", "scope", "any\u00a0routing"),
    "paths of another scope": put("certificate", "claim", "paths", [[0, 1]]),
    "a hash in capitals": lambda s, c: c["instance"].update(
        sha256=c["instance"]["sha256"].upper()
    ),
    "a hash that is a list": lambda s, c: c["instance"].update(sha256=[c["instance"]["sha256"]]),
    "a format with a space": put("certificate", "format", "cchybrid-certificate/1 "),
    "another key": put("certificate", "verified", True),
    "a message that is false": put("schedule", "steps", 0, 0, "message", False),
    "a node of a path that is true": lambda s, c: s["steps"][0][0]["path"].__setitem__(0, True),
    "a path that counts from the end": lambda s, c: s["steps"][0][0].update(
        path=[v - s["instance"]["network"]["nodes"] for v in s["steps"][0][0]["path"]]
    ),
    "a message that counts from the end": put("schedule", "steps", 0, 0, "message", -1),
    "a path that is a text": put("schedule", "steps", 0, 0, "path", "01"),
    "a step that is an object": lambda s, c: s["steps"].__setitem__(
        0, dict(enumerate(s["steps"][0]))
    ),
    "nodes that are true": put("schedule", "instance", "network", "nodes", True),
    "a capacity that is true": lambda s, c: s["instance"]["network"]["channels"][0].append(True),
    "a capacity that is a float": lambda s, c: s["instance"]["network"]["channels"][0].append(2.0),
    "ports that are true": put("schedule", "instance", "model", "ports", True),
    "a routing that is false": put("schedule", "instance", "model", "routing", False),
    "an instance without messages": put("schedule", "instance", "collective", "messages", []),
    "chunks in a file without them": put("schedule", "instance", "collective", "chunks", 1),
    "a message to no node": lambda s, c: s["instance"]["collective"]["messages"].append(
        {"source": 0, "destinations": []}
    ),
    "the same channel twice": lambda s, c: s["instance"]["network"]["channels"].append(
        list(s["instance"]["network"]["channels"][0])
    ),
}  # fmt: skip


@pytest.mark.parametrize("trick", IN_PRICES)
@pytest.mark.parametrize("signed", [False, True], ids=["", "and its hash in the certificate"])
def test_tricks_in_a_schedule_or_its_certificate(trick: str, signed: bool) -> None:
    schedule, certificate = copy.deepcopy(pair("8-linear"))
    assert certificate["evidence"]["channels"][0][0] == 0  # which is equal to False
    IN_PRICES[trick](schedule, certificate)
    if signed and "sha256" in certificate["instance"] and "hash" not in trick:
        certificate["instance"]["sha256"] = fingerprint(schedule["instance"])
    with pytest.raises(EvidenceError):
        check(schedule, certificate)


def test_the_certificate_of_another_instance() -> None:
    schedule, _ = pair("8-linear")
    _, certificate = pair("14-refutation")
    other, wrong = pair("1-linear")
    check(schedule, certificate)  # of the same instance by other evidence
    with pytest.raises(EvidenceError, match="another instance"):
        check(schedule, wrong)
    wrong["instance"]["sha256"] = fingerprint(schedule["instance"])  # forged
    with pytest.raises(EvidenceError):
        check(schedule, wrong)
    certificate["instance"]["sha256"] = fingerprint(other["instance"])
    with pytest.raises(EvidenceError, match="another instance"):
        check(schedule, certificate)


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "a", "format": "cchybrid-schedule/1"}', '{"steps": NaN}', '{"a": -Infinity}',
        "[" * 100_000, '{"a":' * 100_000, "9" * 5000, "\ufeff{}",
        "", "\0", "{} {}", "'a'", '"\\ud800"x',
    ],
    ids=[
        "a key twice", "NaN", "infinity", "deep lists", "deep objects", "a long number", "a mark",
        "empty", "null", "two objects", "single quotes", "more after a text",
    ],
)  # fmt: skip
def test_texts_that_are_no_json_to_the_checker(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises((ValueError, RecursionError)):
        read_json(text)
    path = tmp_path / "a.json"
    path.write_text(text)
    assert main([str(path), str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "cannot be read" in err
    with pytest.raises(InputError):
        cchybrid.check(path, path)


def test_a_key_twice_in_a_certificate(tmp_path: Path) -> None:
    """The first value is true and the second is not; a reader may take either."""
    schedule, certificate = pair("8-linear")
    files = tmp_path / "s.json", tmp_path / "c.json"
    files[0].write_text(json.dumps(schedule))
    claimed = json.dumps(certificate["claim"])
    twice = claimed.replace('"steps": 4', '"steps": 4, "steps": 5')
    assert twice != claimed
    files[1].write_text(json.dumps(certificate).replace(claimed, twice))
    assert main([str(file) for file in files]) == 2
    with pytest.raises(InputError, match="twice"):
        cchybrid.check(*files)


def test_a_bound_of_throughput_in_other_digits() -> None:
    record = json.loads((CORPUS / "throughput-backwards.json").read_bytes())
    check_throughput(record)
    for bound in (record["bound"] + " ", "\u0661", f"{record['bound']}/1", None, 1, True):
        with pytest.raises(EvidenceError):
            check_throughput({**record, "bound": bound})


def test_a_claim_about_some_paths_only_is_refused() -> None:
    """Version 0.9 wrote such claims; they say nothing about the other paths."""
    schedule, certificate = pair("14-refutation")
    used = sorted({tuple(move["path"]) for step in schedule["steps"] for move in step})
    certificate["claim"]["scope"] = "these paths"
    with pytest.raises(EvidenceError, match=r"'these paths'.*cchybrid prove"):
        check(schedule, certificate)
    certificate["claim"]["paths"] = [list(path) for path in used]
    with pytest.raises(EvidenceError, match=r"steps and scope alone.*cchybrid prove"):
        check(schedule, certificate)
