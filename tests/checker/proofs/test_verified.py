"""The program extracted from the proofs accepts what is proved, and nothing that is tampered with.

It is built once, which takes a minute or two, so these are long tests.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections import Counter

import pytest

from cchybrid.checker import check
from cchybrid.cli.app import run
from tests.checker.certified import CASES, certified
from tests.checker.mutants import with_change
from tests.checker.proofs.built import FAILS, HOLDS, UNCOVERED, UNREADABLE
from tests.checker.proofs.compare import archive, compare, mixed

pytestmark = pytest.mark.long
NOT_COVERED = ("refutation", "mi250-16", "mesh-2x3")
"""Kinds of evidence, and networks of the cases whose evidence has blocks, or a routing table."""


@pytest.fixture(scope="module")
def entries():
    """Small entries of the archive, of all kinds that are covered."""
    small = (pair[1:] for pair in archive() if len(json.dumps(pair[1:])) < 40_000)
    return [pair for pair in itertools.islice(small, 0, None, 9) if "times" not in str(pair[0])]


@pytest.mark.parametrize("index", range(len(CASES)))
def test_the_two_checkers_come_to_the_same_sentence(index, program):
    schedule, certificate = certified(index)
    status, sentence = program.answer(schedule, certificate)
    if {CASES[index].kind, CASES[index].topology} & {*NOT_COVERED}:
        assert (status, sentence[:22]) == (UNCOVERED, "not proved by machine:")
    else:
        assert (status, sentence) == (HOLDS, check(schedule, certificate).sentence)


def test_entries_of_the_archive_hold_and_tampered_ones_do_not(entries, program):
    rng = random.Random(1)
    for schedule, certificate in entries:
        assert program.answer(schedule, certificate)[0] == HOLDS
        for part in ("claim", "steps"):
            raised = copy.deepcopy(certificate)
            raised["claim"]["steps"] += 1
            if part == "steps" and "steps" in raised["evidence"]:
                raised["evidence"]["steps"] += 1
            if len(schedule["steps"]) == certificate["claim"]["steps"]:
                assert program.answer(schedule, raised)[0] == FAILS
        fewer = copy.deepcopy(schedule)
        del rng.choice([step for step in fewer["steps"] if step])[0]
        assert program.answer(fewer, certificate)[0] == FAILS
        moved = with_change(rng, copy.deepcopy(schedule), "steps")
        assert moved == schedule or program.answer(moved, certificate)[0] == FAILS


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ('"nodes": 8', '"nodes": 8.0', FAILS),
        ('"nodes": 8', '"nodes": true', FAILS),
        ('"nodes": 8', '"nodes": 08', FAILS),
        ('"nodes": 8', f'"nodes": {10**40 + 1}', FAILS),
        ('"nodes": 8', '"nodes": 8, "depth": 1', FAILS),
        ('"nodes": 8', '"nodes": 8, "nodes": 8', UNREADABLE),
        ('"nodes": 8', '"nodes": 8, "n\\u006fdes": 8', UNREADABLE),
        ('"nodes": 8', '"nodes": NaN', UNREADABLE),
        ('"nodes": 8', '"nodes": 8,', UNREADABLE),
        ("[0, 1]", "[0, 1, 0]", FAILS),
        ("[0, 1]", "[0, 0]", FAILS),
        ("[0, 1]", "[0, 8]", FAILS),
        ("[0, 1]", "[0, 1], [0, 1]", FAILS),
        ("[0, 1]", "[0, -1]", FAILS),
        ('"claim": {', '"claim": {"kind": 1, ', FAILS),
        ("certificate/1", "certificate/2", UNCOVERED),
        ("certificate/1", "certificate/3", FAILS),
        ('"kind": "deliver"', '"kind": "scan"', FAILS),
        ("any routing", "at most 1 extra hops", FAILS),
    ],
)
def test_the_form_of_the_files_is_read_strictly(old, new, status, program):
    text = json.dumps([*certified(8)])
    assert program.answer_line(text)[0] == HOLDS
    assert old in text
    found = program.answer_line(text.replace(old, new, 1))
    assert found[0] == status, found


def test_the_command_says_that_both_have_checked(program, tmp_path, capsys):
    for name, record in zip("sc", certified(8), strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    words = ["check", str(tmp_path / "s.json"), str(tmp_path / "c.json"), "--verified"]
    assert run(words) == 0
    assert "also checked by the program extracted from the Coq proof" in capsys.readouterr().out


def test_the_two_checkers_agree_on_mutants(program):
    """Only the extracted program accepts some: it proves a little more (see the page on it)."""
    counts = Counter()
    wrong = list(compare(itertools.islice(mixed(0), 1000), counts))
    assert [each for each in wrong if each["how"] != "only the program accepts"] == []
    assert sum(number for (_, how), number in counts.items() if how == "both accept") > 100
