"""Nothing tampered with is accepted, unless it proves the same claim about the same instance."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cchybrid.checker import EvidenceError, Network, check, refutation
from cchybrid.checker.clauses import Formula
from cchybrid.library.schemas import schema
from cchybrid.model import Schedule
from cchybrid.proof.refutation import refute
from cchybrid.referee.verify import verify_schedule
from tests.checker.certified import CASES, certified, scheduled
from tests.checker.mutants import mutants

NAMES = [f"{case.kind} {case.topology}" for case in CASES]


@pytest.fixture(autouse=True)
def _no_formula_twice(monkeypatch):
    """Most mutants ask for a formula that another one had; all that it depends on is the key."""
    known = {}

    def formula(network, steps, order):
        key = repr((vars(network), steps, order))
        if key not in known:
            known[key] = Formula(network, steps, order)
        return known[key]

    monkeypatch.setattr(refutation, "Formula", formula)


def explained(schedule: Any, certificate: Any, original: Any) -> bool:
    """Return whether an accepted mutant is itself a proof of something true.

    The schedule must be valid by the referee. The claim must be the original one about the same
    instance (a changed price, worth or message may prove it as well, and what is not
    evidence, such as a name, proves nothing either way), or claim it for the instance's own
    routing only. Where the instance is another one, CaDiCaL must find no shorter schedule of it.
    """
    if verify_schedule(Schedule.from_json(schedule)):
        return False
    claim, before = certificate["claim"], original["claim"]
    if Schedule.from_json(schedule).instance.digest != original["instance"]["sha256"]:
        found = refute(Network(schedule["instance"]), claim["steps"] - 1, 60.0, lambda: False)
        if found.evidence is None and claim["steps"] > 1:
            return False
    scopes = {"any routing": ("any routing", "minimal routing")}
    return (
        before["steps"] == claim["steps"] <= len(schedule["steps"])
        and claim["scope"] in scopes.get(before["scope"], (before["scope"],))
        and certificate["evidence"]["kind"] == original["evidence"]["kind"]
    )


SLOW = ("linear mi250-16", "linear torus-5x5", "refutation mesh-4x4")
"""Cases of the long run only; changed evidence of blocks is in tests/proof/test_blocks.py."""


@pytest.mark.parametrize("count", [28, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "index",
    [
        pytest.param(index, marks=[pytest.mark.long] * (name in SLOW), id=name)
        for index, name in enumerate(NAMES)
    ],
)
def test_mutants_are_refused(index, count):
    schedule, original = certified(index)
    others = [scheduled(other).to_json() for other in range(len(CASES)) if other != index]
    accepted = []
    for name, changed, certificate in mutants(schedule, original, others, count):
        try:
            check(changed, certificate)
        except EvidenceError:
            continue
        assert "raised" not in name, name
        assert (changed, certificate) == (schedule, original) or explained(
            changed, certificate, original
        ), name
        accepted.append(name)
    # Most of them are refused: a checker that accepts what it likes would be seen.
    assert len(accepted) < count / 4, Counter(accepted)


@pytest.mark.parametrize("index", range(len(CASES)), ids=NAMES)
def test_a_certificate_is_what_its_schema_says(index):
    schedule, original = certified(index)
    Draft202012Validator(schema("certificate-1")).validate(original)
    assert original["instance"]["sha256"] == Schedule.from_json(schedule).instance.digest
