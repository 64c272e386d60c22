"""Every reader answers to mutants of its files with a value that is right, or one clear line."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import cchybrid
from cchybrid.model import Schedule, Transfer
from tests.fuzz import judges
from tests.fuzz.readers import ALL, READERS
from tests.fuzz.run import Outcome, Runner

NAMES = [each.name for each in READERS]
FEW, MANY = 5, 1000
"""Mutants of each reader."""
REPORTS = Path(__file__).parents[2] / "docs" / "reports"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    """One process for all readers, since starting it takes longer than the mutants do."""
    with Runner() as runner:
        yield runner


def test_every_reader_answers_cleanly(runner):
    found = runner.run((name, 0, FEW) for name in NAMES)
    _check(found, FEW, NAMES)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_mutants_of_a_reader(runner, name):
    found = runner.run([(name, 0, MANY)])
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

    @pytest.mark.fuzz  # its mutants take seconds on purpose
    def test_a_hang_a_crash_and_a_traceback_are_findings(self, monkeypatch):
        monkeypatch.setattr("tests.fuzz.run.SECONDS", 1.0)  # two mutants loop for so long
        names = ("loops", "dies", "fails", "fills", "lies")
        with Runner() as runner:  # a process with this limit of time
            found = runner.run((f"test: {name}", 0, 2) for name in names)
        seen = {(each.reader, each.outcome) for each in found.findings if each.number >= 0}
        assert seen == {
            ("test: loops", "time limit"), ("test: dies", "ended the process"),
            ("test: fails", "traceback"), ("test: fills", "memory limit"),
            ("test: lies", "wrongly accepted"),
        }  # fmt: skip
        assert all(sum(answers.values()) == 2 for answers in found.answers.values())

    def test_a_claim_that_a_shorter_schedule_refutes_is_a_finding(self, tmp_path):
        instance = cchybrid.instance("ring-bi-4", "OAB", switching="store-and-forward")
        hops = ((0, 1), (1, 2), (2, 3))  # two steps would do, the other way round, too
        schedule = Schedule(instance, tuple((Transfer(0, hop),) for hop in hops))
        claim = {"claim": {"steps": 3}, "instance": {"sha256": instance.digest}}
        verdict = SimpleNamespace(steps=3, bound=3, scope="")
        with pytest.raises(AssertionError, match="a shorter schedule exists"):
            judges.certificate(tmp_path, (verdict, (schedule.to_json(), claim)))


def test_the_report_of_mutated_files_names_every_reader():
    text = (REPORTS / "input" / "README.md").read_text()
    row = re.search(
        r"^\| \[input\]\(input/README\.md\) \| `([^`]+)` \|",
        (REPORTS / "README.md").read_text(),
        re.M,
    )
    assert f"`{row[1]}` on Python" in text
    rows = re.findall(r"^\| ([^|]+) \| ([\d,]+) \|", text, re.M)
    assert [name for name, _ in rows] == [reader.name for reader in ALL]
    assert all(int(count.replace(",", "")) >= 1000 for _, count in rows)
