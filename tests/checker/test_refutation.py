"""LRAT proofs line by line, and their unpacking piece by piece."""

from __future__ import annotations

import base64
import lzma
from collections.abc import Callable
from typing import Any

import pytest

from cchybrid.checker import refutation
from cchybrid.checker.clauses import Formula
from cchybrid.checker.instance import EvidenceError, TooLargeError
from cchybrid.checker.refutation import check_lrat, proof_lines, refutation_steps
from tests.checker.by_hand import network

XOR = [[1, 2], [-1, -2], [1, -2], [-1, 2]]
PROOF = ["5 1 0 1 3 0", "6 0 5 2 4 0"]


def packed(text: str | bytes, pack: Callable[[bytes], bytes] = lzma.compress) -> str:
    return base64.b64encode(pack(text.encode() if isinstance(text, str) else text)).decode()


def refused(message: str) -> Any:
    return pytest.raises(EvidenceError, match=f"^{message}$")


def check(*lines: str, clauses: list[list[int]] | None = None) -> None:
    check_lrat([list(clause) for clause in clauses or XOR], iter(lines))


def test_a_proof() -> None:
    check(*PROOF)
    check("", PROOF[0], "", "  ", PROOF[1])
    # What follows the empty clause is not read.
    check(*PROOF, "rubbish")
    # Numbers may have gaps, and clauses that are not needed may be deleted.
    check("9 1 0 1 3 0", "9 d 1 3 0", "12 0 9 2 4 0")
    # The last hint may be the clause that becomes empty although more could follow.
    check(PROOF[0], "6 0 5 2 4 1 0")


def test_the_empty_clause_must_come() -> None:
    for lines in ([], [PROOF[0]], [PROOF[0], "6 d 1 0"]):
        with refused("the proof does not end in a contradiction"):
            check(*lines)


@pytest.mark.parametrize(
    "line",
    [
        "5 1 0 1 3",  # no 0 at the end
        "5 1 3 0",  # one 0 only
        "5 0",
        "4 1 0 1 3 0",  # not larger than the newest number
        "0 1 0 1 3 0",
        "-5 1 0 1 3 0",
    ],
)
def test_lines_of_the_wrong_form(line: str) -> None:
    with refused("a line of the proof has the wrong form"):
        check(line, PROOF[1])


@pytest.mark.parametrize(
    "line", ["5 1 1 3", "x 1 0 1 3 0", "5 1 0 1 x 0", "5 1 0 1 7 0", "5 d 7 0", "5 d x 0", "1"]
)
def test_lines_that_name_what_does_not_exist(line: str) -> None:
    with refused("a line of the proof names a clause that does not exist"):
        check(line, PROOF[1])


def test_numbers_only_grow() -> None:
    for second in ("7 0 7 2 4 0", "6 0 7 2 4 0"):
        with refused("a line of the proof has the wrong form"):
            check("7 1 0 1 3 0", second)
    check("7 1 0 1 3 0", "8 0 7 2 4 0")


def test_deleted_clauses_are_gone() -> None:
    # A clause is deleted once.
    for lines in (["4 d 1 1 0"], *([f"4 d {each} 0", *PROOF] for each in ("1", "1 3", "3"))):
        with refused("a line of the proof names a clause that does not exist"):
            check(*lines)


@pytest.mark.parametrize(
    "line",
    [
        "5 1 0 0",  # no hint
        "5 1 0 1 0",  # no contradiction
        "5 1 0 2 0",  # two literals are left, or true
        "5 0 1 2 0",  # a clause with two open literals is not unit
        "5 0 0",
        "5 -1 0 1 3 0",
        "5 2 0 1 3 0",
        "5 1 0 2 1 3 0",  # a hint that is satisfied by the negated clause
    ],
)
def test_clauses_that_do_not_follow(line: str) -> None:
    with refused("a clause of the proof does not follow"):
        check(line, "6 0 5 2 4 0")


def test_literals_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each clause counts its literals and one more; what is deleted no longer counts."""
    monkeypatch.setattr(refutation, "MAX_LITERALS", 4)
    clauses = [[1], [-1, 2], [-2]]
    two = ["4 2 0 1 2 0", "5 2 0 1 2 0"]
    check(*two, "6 0 4 3 0", clauses=clauses)
    with pytest.raises(TooLargeError, match=r"^a proof that keeps more clauses than fit into mem"):
        check(*two, "6 2 0 1 2 0", "7 0 4 3 0", clauses=clauses)
    check(*two, "5 d 4 0", "6 2 0 1 2 0", "7 0 5 3 0", clauses=clauses)
    # Deleting clauses of the formula makes room, too: 2 literals and 1.
    check(*two, "5 d 2 0", "6 2 0 4 0", "7 0 4 3 0", clauses=clauses)
    with pytest.raises(TooLargeError):
        check(*two, "5 d 3 0", "6 2 0 4 0", "7 2 0 4 0", clauses=clauses)
    # Two are deleted, and two more fit, but not three.
    again = ["5 d 4 5 0", "6 2 0 1 2 0", "7 2 0 1 2 0"]
    check(*two, *again, "8 0 6 3 0", clauses=clauses)
    with pytest.raises(TooLargeError):
        check(*two, *again, "8 2 0 1 2 0", clauses=clauses)
    # What was left before counts as well.
    monkeypatch.setattr(refutation, "MAX_LITERALS", 8)
    three = [f"{name} 2 0 1 2 0" for name in (6, 7, 8)]
    check(*two, "5 d 4 0", *three, "9 0 6 3 0", clauses=clauses)


def test_unpacking() -> None:
    for text, lines in (
        ("", []), ("one", ["one"]), ("one\n", ["one"]), ("one\ntwo", ["one", "two"]),
        ("a\n\nb", ["a", "", "b"]),
    ):  # fmt: skip
        assert list(proof_lines(packed(text))) == lines


def test_unpacking_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    text = packed("12345678\n" * 4)
    for name, size, message in (
        ("MAX_PROOF_BYTES", 36, "the proof is cut short, or too long"),
        ("MAX_LINE_CHARACTERS", 10, "a line of the proof has the wrong form"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(refutation, name, size)
            assert len(list(proof_lines(text))) == 4
            patch.setattr(refutation, name, size - 1)
            with refused(message):
                list(proof_lines(text))


def test_what_cannot_be_unpacked() -> None:
    whole = packed("one\ntwo\n" * 100)
    strange = base64.b64encode(b"\xfd7zXZ\x00" + b"x" * 40).decode(), packed(b"\xff"), packed("é")
    for message, proofs in (
        ("is missing", (None, 7, b"", ["x"])),
        ("cannot be unpacked", ("!", "é", whole + "*", whole[:3], packed("x", bytes), *strange)),
        ("is cut short, or too long", ("", whole[: len(whole) // 8 * 4])),
    ):
        for proof in proofs:
            with refused(f"the proof {message}"):
                list(proof_lines(proof))


def test_a_dictionary_may_not_fill_the_memory() -> None:
    def pack(size: int) -> str:
        plain = lzma.compress(b"one", format=lzma.FORMAT_ALONE)
        return packed(plain[:1] + size.to_bytes(4, "little") + plain[5:], bytes)

    assert list(proof_lines(pack(1 << 27))) == ["one"]
    with refused("the proof cannot be unpacked"):
        list(proof_lines(pack(1 << 28)))


def test_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    given = network([[0, 1], [1, 2]], (0, [2]), (0, [1]))
    # Both are received in step 1, and the channel 0->1 carries one of them.
    formula = Formula(given, 1)
    clauses, counted = formula.clauses, formula.number["count", "channel", 0, 1, 1, 0, 0]
    used = [index for index, clause in enumerate(clauses, 1) if len(clause) == 1]
    used += [index for index, clause in enumerate(clauses, 1) if {counted, -counted} & {*clause}]
    hints = " ".join(map(str, used))
    proof = packed(f"{len(clauses) + 1} 0 {hints} 0")
    evidence = {"steps": 2, "proof": proof}
    assert refutation_steps(given, evidence) == 2
    assert refutation_steps(given, {**evidence, "order": []}) == 2
    # With an order, its clauses come after the others.
    ordered = packed(f"{len(clauses) + 2} 0 {hints} 0")
    assert refutation_steps(given, {"steps": 2, "proof": ordered, "order": [0]}) == 2
    for order in (None, 7, "0", (0,), {}):
        with refused("a list is missing"):
            refutation_steps(given, {**evidence, "order": order})
    for steps in (None, 0, 1, -1, 2.0, True, "2", 10_001):
        with refused("the number of steps is missing"):
            refutation_steps(given, {**evidence, "steps": steps})
    # One step more is possible.
    with pytest.raises(EvidenceError):
        refutation_steps(given, {**evidence, "steps": 3})
    with refused("the proof is missing"):
        refutation_steps(given, {"steps": 2})
    monkeypatch.setattr(refutation, "MAX_STEPS", 2)
    assert refutation_steps(given, evidence) == 2
    with refused("the number of steps is missing"):
        refutation_steps(given, {**evidence, "steps": 3})
