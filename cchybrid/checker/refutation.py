"""Refutation: a proof that the propositional formula for one step less is unsatisfiable.

The proof is text in the LRAT format, restricted to reverse unit propagation: every clause that it
adds comes with the numbers of the clauses that become unit, one after the other, once the clause is
negated, and of the one that becomes empty in the end.

References
----------
L. Cruz-Filipe, M. Heule, W. Hunt, M. Kaufmann, P. Schneider-Kamp, "Efficient certified RAT
verification", CADE 2017, doi:10.1007/978-3-319-63046-5_14.
"""

import base64
import io
import lzma
from collections.abc import Iterator, Mapping
from typing import Any

from cchybrid.checker.clauses import MAX_LITERALS, Clause, Formula
from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.reading import list_of, only

MAX_STEPS = 10_000
"""Evidence for more steps is refused."""
MAX_PROOF_BYTES = 1 << 28
"""Size of the unpacked proof; larger ones are refused to limit the memory."""
MAX_LINE_CHARACTERS = 1 << 22
"""Length of one line of it."""


def refutation_steps(network: Network, evidence: Mapping[str, Any]) -> int:
    """Return the number of steps needed, since the proof refutes one step less.

    ``steps`` is the number to be proven; ``order``, if given, lists messages that need a step each
    and are fixed to the first steps, which breaks symmetry; ``proof`` is the LRAT text, compressed
    (xz, base64).
    """
    only(evidence, "kind", "steps", "order", "proof")
    steps, order = evidence.get("steps"), evidence.get("order", [])
    if type(steps) is not int or not 1 < steps <= MAX_STEPS:
        raise EvidenceError("the number of steps is missing")
    formula = Formula(network, steps - 1, list_of(order))
    check_lrat(formula.clauses, proof_lines(evidence.get("proof")))
    return steps


def check_lrat(clauses: list[Clause], lines: Iterator[str]) -> None:
    """Raise ``EvidenceError`` unless the lines derive the empty clause from these clauses."""
    known = dict(enumerate(clauses, 1))
    newest = len(clauses)
    literals_left = MAX_LITERALS
    for line in lines:
        words = line.split()
        if not words:
            continue
        try:
            if words[1:2] == ["d"]:
                for word in words[2:-1]:
                    literals_left += len(known.pop(int(word))) + 1
                continue
            numbers = [int(word) for word in words]
            end = numbers.index(0)
            name, clause, hints = numbers[0], numbers[1:end], numbers[end + 1 : -1]
            if numbers[-1] != 0 or end == len(numbers) - 1 or name <= newest:
                raise EvidenceError("a line of the proof has the wrong form")
            _check_clause(known, clause, hints)
        except (ValueError, KeyError):
            raise EvidenceError("a line of the proof names a clause that does not exist") from None
        if not clause:
            return
        known[name] = clause
        newest = name
        literals_left -= len(clause) + 1
        if literals_left < 0:
            raise TooLargeError("a proof that keeps more clauses than fit into memory")
    raise EvidenceError("the proof does not end in a contradiction")


def _check_clause(known: Mapping[int, Clause], clause: Clause, hints: list[int]) -> None:
    """Check that negating the clause leads to a contradiction by unit propagation of the hints."""
    false = set(clause)
    for hint in hints:
        left = {literal for literal in known[hint] if literal not in false}
        if not left:
            return
        if len(left) > 1:
            break
        false.add(-left.pop())
    raise EvidenceError("a clause of the proof does not follow")


def proof_lines(proof: Any) -> Iterator[str]:
    """Yield the lines of the proof."""
    if not isinstance(proof, str):
        raise EvidenceError("the proof is missing")
    try:
        unpacker = lzma.LZMADecompressor(memlimit=1 << 28)
        text = unpacker.decompress(base64.b64decode(proof, validate=True), MAX_PROOF_BYTES)
        if not unpacker.eof:
            raise EvidenceError("the proof is cut short, or too long")
        lines = io.TextIOWrapper(io.BytesIO(text), "ascii")
        while line := lines.readline(MAX_LINE_CHARACTERS):
            if len(line) == MAX_LINE_CHARACTERS:
                raise EvidenceError("a line of the proof has the wrong form")
            yield line.removesuffix("\n")
    except (ValueError, lzma.LZMAError):
        raise EvidenceError("the proof cannot be unpacked") from None
