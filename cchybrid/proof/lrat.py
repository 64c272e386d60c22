"""Conversion of CaDiCaL's binary LRAT proofs to trimmed text.

Lines that the contradiction does not depend on are left out. This module need not be trusted: an
error only makes the check fail.

References
----------
L. Cruz-Filipe, M. J. H. Heule, W. A. Hunt Jr., M. Kaufmann and P. Schneider-Kamp, Efficient
certified RAT verification, CADE 2017, https://doi.org/10.1007/978-3-319-63046-5_14.
"""

import base64
import lzma
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from cchybrid.system.compiled import compiled

Tokens = NDArray[np.int64]

ADD, DELETE = 97, 100
"""First byte of a binary line: the letters a and d."""


class ProofError(Exception):
    """The solver's proof cannot be read."""


def trimmed(proof: bytes, clauses: int) -> list[str]:
    """Return the lines of text that derive the empty clause, in the standard numbering.

    Parameters
    ----------
    proof
        Binary LRAT as CaDiCaL writes it through its programming interface: input clauses and
        derived clauses are numbered in the order of their creation.
    clauses
        The number of input clauses.

    Raises
    ------
    ProofError
        If the bytes are no such proof, or it does not derive the empty clause.
    """
    tokens = np.empty(len(proof) + 1, dtype=np.int64)
    place = np.empty(len(proof) // 3 + 1, dtype=np.int64)
    hint = np.empty_like(place)
    lines, size = _decode(np.frombuffer(proof, dtype=np.uint8), tokens, place, hint)
    if lines < 0:
        raise ProofError("the solver's proof is malformed")
    tokens, place, hint = tokens[:size], place[:lines], hint[:lines]
    name = tokens[place]
    empty = np.flatnonzero(hint == place + 2)
    if not len(empty):
        raise ProofError("the solver's proof ends without a contradiction")
    last = int(empty[0])
    top = max(int(name.max()), clauses + lines)
    derived = np.zeros(top + 1, dtype=np.bool_)
    derived[name] = True
    given = np.flatnonzero(~derived[1:])[:clauses] + 1
    needed_until = np.full(top + 1, -1, dtype=np.int64)
    _mark(tokens, name, hint, last, needed_until)
    kept = np.flatnonzero(needed_until[name[: last + 1]] >= 0)
    number = np.zeros(top + 1, dtype=np.int64)
    number[given] = np.arange(1, len(given) + 1)
    number[name[kept]] = clauses + 1 + np.arange(len(kept))
    dropped: dict[int, list[int]] = {}
    for clause in name[kept].tolist():
        dropped.setdefault(int(needed_until[clause]), []).append(int(number[clause]))
    return list(_texts(tokens, place, hint, kept.tolist(), number, dropped))


def packed(lines: list[str]) -> str:
    """Return the text of a proof as stored in evidence: compressed with xz, in base64."""
    text = "\n".join(lines) + "\n"
    # Preset 6 takes 19 times as long and saves a third.
    return base64.b64encode(lzma.compress(text.encode("ascii"), preset=1)).decode("ascii")


def _texts(
    tokens: Tokens,
    place: Tokens,
    hint: Tokens,
    kept: list[int],
    number: Tokens,
    dropped: dict[int, list[int]],
) -> Iterator[str]:
    for line in kept:
        name = number[tokens[place[line]]]
        end = hint[line]
        while tokens[end] != 0:
            end += 1
        literals = tokens[place[line] + 1 : hint[line] - 1].tolist()
        hints = number[tokens[hint[line] : end]].tolist()
        yield " ".join(map(str, [name, *literals, 0, *hints, 0]))
        gone = dropped.get(line)
        if gone and line != kept[-1]:
            yield f"{name} d {' '.join(map(str, gone))} 0"


@compiled
def _decode(
    proof: NDArray[np.uint8], tokens: Tokens, place: Tokens, hint: Tokens
) -> tuple[int, int]:
    """Unpack added lines to "name, literals, 0, hints, 0"; deletions are left out."""
    i, size, lines = 0, 0, 0
    while i < len(proof):
        kind = proof[i]
        i += 1
        if kind not in (ADD, DELETE):
            return -1, 0
        start, zeros = size, 0
        while zeros < (2 if kind == ADD else 1):
            value, shift = np.int64(0), 0
            while True:
                if i >= len(proof) or shift > 56:
                    return -1, 0
                byte = np.int64(proof[i])
                i += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            tokens[size] = -(value >> 1) if value & 1 else value >> 1
            size += 1
            if value == 0:
                zeros += 1
                if kind == ADD and zeros == 1:
                    hint[lines] = size
        if kind == ADD:
            place[lines] = start
            lines += 1
        else:
            size = start
    return lines, size


@compiled
def _mark(tokens: Tokens, name: Tokens, hint: Tokens, last: int, needed_until: Tokens) -> None:
    """Set, for every clause that the contradiction depends on, the last line that uses it."""
    needed_until[name[last]] = last
    for line in range(last, -1, -1):
        if needed_until[name[line]] < 0:
            continue
        i = hint[line]
        while tokens[i] != 0:
            clause = abs(tokens[i])
            if needed_until[clause] < 0:
                needed_until[clause] = line
            i += 1
