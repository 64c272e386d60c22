"""Refutation: a proof that the propositional formula for one step less has no solution.

The proof is text in the LRAT format (Cruz-Filipe and others, CADE 2017), restricted to reverse
unit propagation: every clause that it adds comes with the numbers of the clauses that, one after
the other, become unit once the clause is denied, and of one that becomes empty in the end.
"""

from __future__ import annotations

import base64
import lzma
from collections.abc import Iterator, Mapping
from typing import Any

from cchybrid.checker.clauses import MOST_LITERALS, Clause, Formula
from cchybrid.checker.instance import EvidenceError, Network, TooLargeError

MOST_STEPS = 10_000
"""Evidence for more steps is refused."""
MOST_BYTES = 1 << 30
"""Of the unpacked proof."""
MOST_LINE = 1 << 22
"""Of one line of it."""
_CHUNK = 1 << 20


def refutation_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return how many steps are needed because the proof refutes one step less.

    ``steps`` is what is to be proven; ``order``, if given, lists messages that need a step each,
    by which interchangeable steps are named; ``proof`` is the LRAT text, compressed (xz, base64).
    """
    steps, order = evidence.get("steps"), evidence.get("order", [])
    if type(steps) is not int or not 1 < steps <= MOST_STEPS:
        raise EvidenceError("the number of steps is missing")
    if not isinstance(order, list):
        raise EvidenceError("the order of the steps is no list of messages")
    formula = Formula(network, steps - 1, order)
    check_lrat(formula.clauses, _lines(evidence.get("proof")))
    return steps


def check_lrat(clauses: list[Clause], lines: Iterator[str]) -> None:
    """Raise ``EvidenceError`` unless the lines derive the empty clause from these clauses."""
    known = dict(enumerate(clauses, 1))
    newest = len(clauses)
    room = MOST_LITERALS
    for line in lines:
        words = line.split()
        if not words:
            continue
        try:
            if words[1:2] == ["d"]:
                for word in words[2:-1]:
                    room += len(known.pop(int(word))) + 1
                continue
            numbers = [int(word) for word in words]
            end = numbers.index(0)
            name, clause, hints = numbers[0], numbers[1:end], numbers[end + 1 : -1]
            if numbers[-1] != 0 or end == len(numbers) - 1 or name <= newest:
                raise EvidenceError("a line of the proof has the wrong form")
            _check_clause(known, clause, hints)
        except (ValueError, KeyError):
            raise EvidenceError("a line of the proof names what is not there") from None
        if not clause:
            return
        known[name] = clause
        newest = name
        room -= len(clause) + 1
        if room < 0:
            raise TooLargeError("a proof that keeps more clauses than fit into memory")
    raise EvidenceError("the proof does not end in a contradiction")


def _check_clause(known: Mapping[int, Clause], clause: Clause, hints: list[int]) -> None:
    """Check that denying the clause leads to a contradiction through the clauses of the hints."""
    false = set(clause)
    for hint in hints:
        left = {literal for literal in known[hint] if literal not in false}
        if not left:
            return
        if len(left) > 1:
            break
        false.add(-left.pop())
    raise EvidenceError("a clause of the proof does not follow")


def _lines(proof: Any) -> Iterator[str]:
    """Unpack the proof piece by piece: what comes from a file may unpack to anything."""
    if not isinstance(proof, str):
        raise EvidenceError("the proof is missing")
    try:
        packed = base64.b64decode(proof, validate=True)
        unpacker = lzma.LZMADecompressor(memlimit=1 << 28)
        unpacked, rest, data = 0, "", packed
        while not unpacker.eof:
            piece = unpacker.decompress(data, _CHUNK)
            data = b""
            unpacked += len(piece)
            if unpacked > MOST_BYTES or (not piece and unpacker.needs_input):
                raise EvidenceError("the proof is cut short, or too long")
            *lines, rest = (rest + piece.decode("ascii")).split("\n")
            if len(rest) > MOST_LINE:
                raise EvidenceError("a line of the proof has the wrong form")
            yield from lines
        yield rest
    except (ValueError, lzma.LZMAError):
        raise EvidenceError("the proof cannot be unpacked") from None
