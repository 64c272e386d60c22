"""Certificates about rounds: what holds, what is refused, two hundred mutants of each kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from cchybrid.checker import EvidenceError, fingerprint
from cchybrid.checker.certificate import RoundsVerdict
from cchybrid.host.certificates import check_rounds
from cchybrid.model import Schedule
from cchybrid.referee.verify import verify_schedule
from tests.checker.certified import certified
from tests.checker.mutants import mutants
from tests.fuzz.reader import read_corpus

CASES = {"worth": (2, 2), "routes": (2, 2), "backwards": (2, 2), "throughput": (1, 2)}
"""Files of the corpus: chunks and steps."""


def pair(name: str) -> tuple[Any, Any]:
    """Return a schedule and its certificate."""
    schedule, certificate = read_corpus(f"rounds-{name}")
    return schedule, certificate


@pytest.mark.parametrize("name", CASES)
def test_what_holds(name: str) -> None:
    schedule, certificate = pair(name)
    verdict = check_rounds(schedule, certificate)
    assert verdict.kind == certificate["evidence"]["kind"]
    assert verdict.optimal
    assert str(verdict.bound) == certificate["claim"]["rounds_per_chunk"]
    assert (verdict.chunks, verdict.steps) == CASES[name]
    assert verdict.rounds_per_chunk == Fraction(verdict.rounds, verdict.chunks)


CHANGES: dict[str, Callable[[Any, Any], object]] = {
    "about another": lambda s, c: c.update(format="cchybrid-certificate/1"),
    "^the claim is not well-formed: steps and scope": lambda s, c: c.update(
        format="cchybrid-certificate/1", instance={"sha256": fingerprint(s["instance"])}
    ),
    "the claim is not well-formed: steps and rounds": lambda s, c: c["claim"].pop("steps"),
    "the claim is not well-formed": lambda s, c: c["claim"].update(steps=-(10**4000)),
    "rounds per chunk, not '9'": lambda s, c: c["claim"].update(rounds_per_chunk="9"),
    r"rounds per chunk, not '\\ud800\\n'": lambda s, c: c["claim"].update(
        rounds_per_chunk="\ud800\n"
    ),
    "more than the capacity": lambda s, c: s["instance"]["model"].update(rounds=[1, 1]),
    "is of the kind linear": lambda s, c: c["evidence"].update(kind="nested-sets"),
    "called 'rows'; make it anew: cchybrid prove": lambda s, c: c["evidence"].update(kind="rows"),
    "no object of kind, channels": lambda s, c: c["evidence"].update(steps=3),
    "shows no number of rounds": lambda s, c: c["evidence"].update(channels=[]),
}


@pytest.mark.parametrize("reason", CHANGES)
def test_what_is_refused(reason: str) -> None:
    schedule, certificate = pair("worth")
    CHANGES[reason](schedule, certificate)
    with pytest.raises(EvidenceError, match=reason):
        check_rounds(schedule, certificate)


def test_a_certificate_about_steps_is_refused() -> None:
    schedule, certificate = certified(8)
    with pytest.raises(EvidenceError, match="the certificate is not about rounds"):
        check_rounds(schedule, certificate)


def accepted(name: str) -> Iterator[tuple[str, RoundsVerdict, Schedule]]:
    """Yield those of two hundred mutants that are accepted: the change, the verdict, what it is of.

    The schedule is valid; whether the bound is true, no search says here
    (``tests/plugins/pipelining/test_round_mutants.py``).
    """
    schedule, certificate = pair(name)
    others = [pair(other)[0] for other in CASES if other != name]
    for change, changed, claimed in mutants(schedule, certificate, others, 200):
        try:
            verdict = check_rounds(changed, claimed)
        except EvidenceError:
            continue
        read = Schedule.from_json({**changed, "made_by": {}, "lower_bound": {"steps": 0}})
        assert not verify_schedule(read), change
        yield change, verdict, read


@pytest.mark.parametrize("name", CASES)
def test_mutants_are_refused_or_of_a_valid_schedule_that_does_not_beat_them(name: str) -> None:
    found = list(accepted(name))
    assert len(found) < 100
    for change, verdict, read in found:
        ratio = Fraction(sum(read.rounds), read.instance.collective.chunks)
        assert verdict.bound <= ratio == verdict.rounds_per_chunk, change
