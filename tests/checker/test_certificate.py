"""Certificates by hand: scopes, hashes, claims at their limits, and the sentences of verdicts."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import Any

import pytest

from cchybrid.checker import certificate
from cchybrid.checker.certificate import (
    RoundsVerdict,
    Verdict,
    check,
    fingerprint,
    own_scope,
    prove,
    without_parts,
)
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.prices import MAX_STEPS

PLAIN = {
    "format": "cchybrid-instance/1",
    "network": {"nodes": 2, "channels": [[0, 1]]},
    "collective": {"kind": "deliver", "messages": [{"source": 0, "destinations": [1]}]},
}
PRICE = {"kind": "linear", "steps": 1, "channels": [[0, 1, 1]]}
SCHEDULE = {
    "format": "cchybrid-schedule/1",
    "instance": PLAIN,
    "steps": [[{"message": 0, "path": [0, 1]}]],
}


def signed(form: str = "1", evidence: Any = PRICE, **claim: Any) -> dict[str, Any]:
    """Return a certificate of the one message over the one channel."""
    about = PLAIN if form == "1" else without_parts(PLAIN)
    return {
        "format": f"cchybrid-certificate/{form}",
        "instance": {"sha256": fingerprint(about)},
        "claim": claim,
        "evidence": evidence,
    }


@pytest.mark.parametrize(
    ("model", "scope"),
    [
        ({}, "minimal routing"),
        ({"switching": "wormhole", "routing": "minimal"}, "minimal routing"),
        ({"routing": 0}, "minimal routing"),
        ({"routing": 2}, "at most 2 extra hops"),
        ({"routing": "any"}, "any routing"),
        ({"routing": {"next": [[0, 1], [0, 1]]}}, "routing table"),
        ({"switching": "store-and-forward"}, "any routing"),
        ({"switching": "store-and-forward", "routing": 1}, "any routing"),
    ],
)
def test_the_scope_of_an_instance(model: Any, scope: str) -> None:
    assert own_scope({**PLAIN, "model": model}) == scope
    if not model:
        assert own_scope(PLAIN) == scope


def test_the_hash_is_that_of_the_content() -> None:
    text = (
        '{"collective":{"kind":"deliver","messages":[{"destinations":[1],"source":0}]},'
        '"format":"cchybrid-instance/1","network":{"channels":[[0,1]],"nodes":2}}'
    )
    expected = hashlib.sha256(text.encode()).hexdigest()
    assert fingerprint(PLAIN) == expected
    labels = {"name": "x", "positions": [], "node_names": [], "switches": []}
    named = {
        **PLAIN, "name": "x",
        "network": {**PLAIN["network"], **labels}, "collective": {**PLAIN["collective"], **labels},
    }  # fmt: skip
    assert fingerprint(named) == expected
    assert fingerprint({**PLAIN, "model": {}}) != expected


def test_an_instance_without_its_chunks_and_rounds() -> None:
    parts = {
        **PLAIN, "format": "cchybrid-instance/2",
        "collective": {**PLAIN["collective"], "chunks": 3},
        "model": {"routing": 1, "rounds": [2]},
    }  # fmt: skip
    assert without_parts(parts) == {**PLAIN, "model": {"routing": 1}}
    assert without_parts(PLAIN) == {**PLAIN, "model": {}}


def test_a_claim_about_steps() -> None:
    for scope in ("minimal routing", "any routing"):
        record = signed(steps=1, scope=scope)
        found = check(SCHEDULE, record)
        assert found == Verdict(1, 1, scope, "linear")
        assert check(SCHEDULE, {**record, "made_by": "someone"}) == found


HOPS = {
    **PLAIN,
    "format": "cchybrid-instance/2",
    "collective": {**PLAIN["collective"], "chunks": 3},
    "model": {"switching": "store-and-forward", "rounds": [1, 2]},
}
CHUNKS = {
    "format": "cchybrid-schedule/2",
    "instance": HOPS,
    "steps": [[{"message": 0, "path": [0, 1]}], [{"message": m, "path": [0, 1]} for m in (1, 2)]],
}


@pytest.mark.parametrize("steps", [2, 3])
def test_a_claim_about_rounds(steps: int) -> None:
    record = {
        **signed("2", {"kind": "linear", "channels": [[0, 1, 1]]}),
        "instance": {"sha256": fingerprint(without_parts(HOPS))},
        "claim": {"steps": steps, "rounds_per_chunk": "1"},
    }
    assert check(CHUNKS, record) == RoundsVerdict(2, 3, 3, Fraction(1), "linear")
    record["claim"] = {"steps": 1, "rounds_per_chunk": "1"}
    with pytest.raises(EvidenceError, match="the schedule has 2 steps, the claim is about 1"):
        check(CHUNKS, record)


@pytest.mark.parametrize("steps", [0, MAX_STEPS])
def test_claims_at_their_limits_are_compared(steps: int) -> None:
    with pytest.raises(EvidenceError, match=f"shows 1 steps, the claim says {steps}$"):
        check(SCHEDULE, signed(steps=steps, scope="any routing"))


@pytest.mark.parametrize(
    "claim",
    [
        None, [], {}, {"steps": 1}, {"scope": "any routing"},
        {"steps": -1, "scope": "any routing"}, {"steps": MAX_STEPS + 1, "scope": "any routing"},
        {"steps": True, "scope": "any routing"}, {"steps": 1, "scope": None},
        {"steps": "1", "scope": "any routing"}, {"steps": 1.0, "scope": "any routing"},
        {"steps": 1, "scope": "any routing", "paths": [[0, 1]]},
        {"steps": 1, "scope": "any routing", "rounds_per_chunk": "1"},
        {"steps": 1, "rounds_per_chunk": "1"},
    ],
)  # fmt: skip
def test_other_claims_are_refused(claim: Any) -> None:
    with pytest.raises(EvidenceError, match=r"^the claim is not well-formed: steps and scope"):
        check(SCHEDULE, {**signed(), "claim": claim})


@pytest.mark.parametrize(
    "record",
    [None, [], "text", {}, *({"format": f"cchybrid-certificate/{form}"} for form in ("3", "1 "))],
)
def test_what_is_no_certificate_is_refused(record: Any) -> None:
    with pytest.raises(EvidenceError, match="this is no cchybrid-certificate/1 or"):
        check(SCHEDULE, record)


HASH = fingerprint(PLAIN)


@pytest.mark.parametrize(
    "named",
    [None, "hash", [], {}, {"sha256": None}, {"sha256": [HASH]}, {"sha256": HASH.upper()},
     {"sha256": "0" * 64}],
)  # fmt: skip
def test_a_certificate_without_the_hash_is_refused(named: Any) -> None:
    with pytest.raises(EvidenceError, match="about another instance"):
        check(SCHEDULE, {**signed(steps=1, scope="any routing"), "instance": named})


@pytest.mark.parametrize("part", ["instance", "claim", "evidence", "more"])
def test_a_certificate_has_four_parts(part: str) -> None:
    record = signed(steps=1, scope="any routing")
    if part in record:
        del record[part]
    else:
        record[part] = 1
    with pytest.raises(EvidenceError, match="other parts"):
        check(SCHEDULE, record)


def test_a_bound_above_the_schedule_is_an_error_of_the_checker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(certificate, "prove", lambda *_: 2)
    monkeypatch.setattr(certificate, "linear_rounds", lambda *_: Fraction(3, 2))
    named = {"sha256": fingerprint(without_parts(HOPS))}
    for schedule, record in (
        (SCHEDULE, signed(steps=2, scope="any routing")),
        (SCHEDULE, signed("2", steps=1, rounds_per_chunk="3/2")),
        # Three chunks in three rounds: fewer than 3/2 for each of them.
        (CHUNKS, {**signed("2", steps=2, rounds_per_chunk="3/2"), "instance": named}),
    ):
        with pytest.raises(EvidenceError, match="the schedule refutes the claim"):
            check(schedule, record)


def test_any_routing_is_wider_than_the_rule_of_the_instance() -> None:
    """Over the direct channels alone, the second message waits; there is a detour for it."""
    arcs = [[0, 1], [0, 2], [2, 1]]
    message = {"source": 0, "destinations": [1]}
    instance = {
        **PLAIN, "network": {"nodes": 3, "channels": arcs},
        "collective": {"kind": "deliver", "messages": [message] * 2},
    }  # fmt: skip
    evidence = {"kind": "linear", "steps": 2, "channels": [[0, 1, 1]]}
    assert prove(instance, evidence, "minimal routing") == 2
    with pytest.raises(EvidenceError):
        prove(instance, evidence, "any routing")
    for scope in ("at most 1 extra hops", "Any routing", "any\u00a0routing", "these paths", ""):
        with pytest.raises(EvidenceError, match="is not that of the instance; make it anew"):
            prove(instance, evidence, scope)


@pytest.mark.parametrize(
    ("verdict", "optimal", "sentence"),
    [
        (Verdict(3, 3, "any routing", "linear"), True,
         "3 steps, optimal: no schedule (any routing) has fewer than 3 (linear)"),
        (Verdict(3, 2, "minimal routing", "part"), False,
         "3 steps, valid: no schedule (minimal routing) has fewer than 2 (part)"),
        (RoundsVerdict(None, 3, 2, Fraction(3, 2), "linear"), True,
         "3/2 rounds per chunk, optimal (linear)"),
        (RoundsVerdict(None, 3, 2, Fraction(5, 4), "linear"), False,
         "3/2 rounds per chunk, at least 5/4 are needed (linear)"),
        (RoundsVerdict(4, 3, 2, Fraction(5, 4), "linear"), True,
         "2 chunks, 4 steps, 3 rounds, optimal: no schedule of as many steps has fewer than "
         "5/4 rounds per chunk (linear)"),
        (RoundsVerdict(4, 4, 2, Fraction(5, 4), "linear"), False,
         "2 chunks, 4 steps, 4 rounds, valid: no schedule of as many steps has fewer than "
         "5/4 rounds per chunk (linear)"),
    ],
)  # fmt: skip
def test_verdicts(verdict: Any, optimal: bool, sentence: str) -> None:
    assert (verdict.optimal, verdict.sentence) == (optimal, sentence)
