"""Every reader answers to mutants of its files with a value that is right, or one clear line."""

from __future__ import annotations

import pytest

from tests.fuzz.readers import READERS
from tests.fuzz.run import Outcome, run

NAMES = [each.name for each in READERS]
FEW, MANY = 10, 1000
"""Mutants of each reader."""


def test_every_reader_answers_cleanly() -> None:
    """One process for all readers, since starting it takes longer than the mutants do."""
    found = run((name, 0, FEW) for name in NAMES)
    _check(found, FEW, NAMES)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_mutants_of_a_reader(name: str) -> None:
    found = run([(name, 0, MANY)])
    _check(found, MANY, [name])
    assert found.answers[name]["accepted"] >= MANY // 100, (
        "mutants that are all refused test little"
    )
    assert found.answers[name]["refused"] >= MANY // 20


def _check(found: Outcome, count: int, names: list[str]) -> None:
    assert not found.findings, "\n".join(map(str, found.findings))
    assert list(found.answers) == names
    assert all(sum(answers.values()) == count for answers in found.answers.values())


class TestTheHarness:
    """Faults of a reader are seen."""

    def test_a_hang_a_crash_and_a_traceback_are_findings(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tests.fuzz.run.SECONDS", 1.0)  # two mutants loop for so long
        found = run(
            [(f"test: {name}", 0, 2) for name in ("loops", "dies", "fails", "fills", "lies")]
        )
        seen = {(each.reader, each.outcome) for each in found.findings if each.number >= 0}
        assert seen == {
            ("test: loops", "time limit"), ("test: dies", "ended the process"),
            ("test: fails", "traceback"), ("test: fills", "memory limit"),
            ("test: lies", "wrongly accepted"),
        }  # fmt: skip
        assert all(sum(answers.values()) == 2 for answers in found.answers.values())
