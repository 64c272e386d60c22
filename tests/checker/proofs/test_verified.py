"""The program extracted from the proofs accepts what is proved, and nothing that is tampered with.

It is built once, which takes a minute or two, so these are long tests.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
import re
from collections import Counter
from typing import Any

import pytest

from cchybrid.checker import check, fingerprint
from cchybrid.checker.certificate import own_scope, without_parts
from cchybrid.cli.app import run
from cchybrid.host.proving import with_text
from tests.checker.by_hand import HOPS
from tests.checker.by_hand import record as by_hand
from tests.checker.certified import CASES, certified
from tests.checker.mutants import with_change
from tests.checker.proofs.built import FAILS, HOLDS, UNCOVERED, UNREADABLE
from tests.checker.proofs.compare import archive, compare, mixed

pytestmark = pytest.mark.long
LINK = [[0, 1], [1, 0]]
PRICED: dict[str, Any] = {"kind": "linear", "steps": 2, "channels": [[0, 1, 1]]}
"""Two messages over the first channel of ``LINK`` pay 2, one step offers 1."""
TWICE = [[{"message": m, "path": [0, 1]}] for m in range(2)]
EXCHANGED = [
    [{"message": m, "path": [a, 1 - a], "sum": [a]} for a in range(2)] for m in range(2)
]  # fmt: skip
FIRST = [[transfer for transfer in step if transfer["path"] == [0, 1]] for step in EXCHANGED]
"""Two sums of two members; of a scan those to the second member alone."""
TABLE = {"next": [[0, 1], [0, 1]]}


@pytest.fixture(scope="module")
def entries():
    """Small entries of the archive, of all kinds that are covered."""
    small = (pair[1:] for pair in archive() if len(json.dumps(pair[1:])) < 40_000)
    return [pair for pair in itertools.islice(small, 0, None, 9) if "times" not in str(pair[0])]


@pytest.mark.parametrize("index", range(len(CASES)))
def test_the_two_checkers_come_to_the_same_sentence(index, program):
    schedule, certificate = certified(index)
    expected = HOLDS, check(schedule, certificate).sentence
    assert program.answer(schedule, certificate) == expected


def pair_of(instance, steps, evidence, claimed):
    """Return a schedule and a certificate; ``claimed`` are steps, or rounds per chunk as text."""
    form = "members" in instance["collective"]["messages"][0]
    schedule = {"format": f"cchybrid-schedule/{1 + form}", "instance": instance, "steps": steps}
    claim = {"steps": claimed, "scope": own_scope(instance)}
    if isinstance(claimed, str):
        claim = {"steps": len(steps), "rounds_per_chunk": claimed}
    about = without_parts(instance) if isinstance(claimed, str) else instance
    return schedule, {
        "format": f"cchybrid-certificate/{1 + isinstance(claimed, str)}",
        "instance": {"sha256": fingerprint(about)}, "claim": claim, "evidence": evidence,
    }  # fmt: skip


def in_ticks():
    """Return an instance with a channel that is used for two ticks."""
    instance = by_hand(LINK, (0, [1]), (0, [1]))
    instance["network"]["times"] = [[1, 2], [0, 1]]
    return instance


def of_sums(kind):
    """Return an instance of two sums over the link."""
    return by_hand(LINK, [0, 1], kind=kind, chunks=2, **HOPS)


def part(end, node, channel=(0, 1)):
    """Return evidence about the messages from a member, or to it, read backwards."""
    priced = {**PRICED, "channels": [[*channel, 1]]}
    return {"kind": "part", end: node, "evidence": priced}


ROUNDS = {key: value for key, value in PRICED.items() if key != "steps"}
HAND_MADE = {
    "routing table": (by_hand(LINK, (0, [1]), (0, [1]), routing=TABLE), TWICE, PRICED, 2),
    "reduction by a table": (
        by_hand(LINK, (1, [0]), (1, [0]), kind="combine", routing=TABLE), TWICE,
        {**PRICED, "channels": [[1, 0, 1]]}, 2,
    ),
    "ticks": (
        in_ticks(), [TWICE[0], [], TWICE[1], [], []],
        {"kind": "linear", "steps": 5, "channels": [[0, 1, 1, 2, 1]]}, 5,
    ),
    "exchanges": (of_sums("allreduce"), EXCHANGED, {"kind": "exchanges"}, 2),
    "part from a member": (of_sums("allreduce"), EXCHANGED, part("from", 0), 2),
    "part to a member": (of_sums("allreduce"), EXCHANGED, part("to", 0), 2),
    "scan": (of_sums("scan"), FIRST, part("from", 0), 2),
    "exscan": (of_sums("exscan"), FIRST, part("to", 1, (1, 0)), 2),
    "rounds per chunk": (
        by_hand(LINK, (0, [1]), (0, [1]), chunks=2, rounds=[2]), [
            [{"message": m, "path": [0, 1]} for m in two] for two in ([0, 1], [2, 3])
        ], ROUNDS, "2",
    ),
}  # fmt: skip
"""Instance, steps, evidence, and the claim that it proves."""


@pytest.mark.parametrize("name", HAND_MADE)
def test_hand_made_certificates_hold_and_tampered_ones_do_not(name, program):
    instance, steps, evidence, claimed = HAND_MADE[name]
    schedule, certificate = pair_of(instance, steps, evidence, claimed)
    assert program.answer(schedule, certificate) == (HOLDS, check(schedule, certificate).sentence)
    for more in (steps[:-1], [steps[0], *steps], [steps[0] * 2, *steps[1:]]):
        assert program.answer({**schedule, "steps": more}, certificate)[0] == FAILS
    text = json.dumps(evidence).replace('"steps": ', '"steps": 1')
    raised = str(int(claimed) + 1) if isinstance(claimed, str) else claimed + 1
    for other in (evidence, json.loads(text)):
        tampered = pair_of(instance, steps, other, raised)[1]
        assert program.answer(schedule, tampered)[0] == FAILS
    if evidence["kind"] != "exchanges":
        free = json.loads(re.sub(r"1\]\]", "0]]", json.dumps(evidence)))
        assert program.answer(schedule, {**certificate, "evidence": free})[0] == FAILS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" 0\n", "\n"),
        (" 0\n", " -1 0\n"),
        (" 0\n", " x 0\n"),
        (r"\A(\d+) ", "1 "),
        (r"\n[^\n]*\n?\Z", "\n"),
        (r"(?m)^\d+ 0 .*\n?", ""),
    ],
)
def test_a_proof_with_a_changed_line_is_refused(old, new, program):
    schedule, certificate = certified([case.kind for case in CASES].index("refutation"))
    plain = with_text(certificate)
    assert program.answer_line(json.dumps([schedule, plain]))[0] == HOLDS
    changed = re.sub(old, new, plain["evidence"]["proof"], count=1)
    assert changed != plain["evidence"]["proof"]
    plain["evidence"]["proof"] = changed
    assert program.answer_line(json.dumps([schedule, plain]))[0] == FAILS


@pytest.mark.parametrize(
    ("key", "rows", "status"),
    [
        ("once", [], HOLDS),
        ("once", [[15, 1, 2, 0]], HOLDS),
        ("once", [[15, 1, 3, 0]], FAILS),  # of 3 steps that are ruled out, the last has none
        ("once", [[15, 2, 1, 0]], FAILS),
        ("once", [[99, 1, 2, 0]], FAILS),
        ("blocks", [], FAILS),
        ("blocks", [[0, 1], [1, 2]], FAILS),
        ("blocks", [[]], FAILS),
        ("charges", [], FAILS),
    ],
)
def test_blocks_and_charges(key, rows, status, program):
    schedule, certificate = copy.deepcopy(certified(len(CASES) - 1))
    for group in certificate["evidence"]["groups"]:
        group[key] = rows
    assert program.answer(schedule, certificate)[0] == status


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
        ("certificate/1", "certificate/2", FAILS),
        ("certificate/1", "certificate/3", FAILS),
        ('"kind": "deliver"', '"kind": "scan"', FAILS),
        ("any routing", "at most 1 extra hops", FAILS),
        ('"kind": "linear"', '"kind": "unreachable"', UNCOVERED),
    ],
)
def test_the_form_of_the_files_is_read_strictly(old, new, status, program):
    text = json.dumps([*certified(8)])
    assert program.answer_line(text)[0] == HOLDS
    assert old in text
    found = program.answer_line(text.replace(old, new, 1))
    assert found[0] == status, found


@pytest.mark.parametrize("kind", ["linear", "refutation"])
def test_the_command_says_that_both_have_checked(kind, program, tmp_path, capsys):
    records = certified([case.kind for case in CASES].index(kind))
    for name, record in zip("sc", records, strict=True):
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
