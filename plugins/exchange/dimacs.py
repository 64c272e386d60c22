"""Propositional formulas and their refutations for other checkers: DIMACS, LRAT and DRAT.

References
----------
Y. K. Tan, M. J. H. Heule and M. O. Myreen, "Verified propagation redundancy and compositional UNSAT
checking in CakeML", STTT 25 (2023), doi:10.1007/s10009-022-00690-y: the checker ``cake_lpr``.
N. Wetzler, M. J. H. Heule and W. A. Hunt Jr., "DRAT-trim", SAT 2014,
doi:10.1007/978-3-319-09284-3_31: the format DRAT.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cchybrid.checker.clauses import Clause, Formula, Name
from cchybrid.checker.instance import EvidenceError
from cchybrid.checker.refutation import proof_lines
from cchybrid.model.errors import InputError
from cchybrid.proof import cadical
from cchybrid.proof.lrat import ProofError
from cchybrid.proof.refutation import refute

from .claim import Claim, read_claim, write_lines

FORMULA, LRAT, DRAT = "formula.cnf", "proof.lrat", "proof.drat"
"""The names of the files."""


def write_dimacs(
    instance: Mapping[str, Any], certificate: Mapping[str, Any], folder: Path, seconds: float
) -> list[Path]:
    """Write the formula of a certificate's claim, and its refutation with and without hints.

    If the evidence is of another kind, CaDiCaL refutes the formula now.

    Parameters
    ----------
    instance, certificate
        As JSON objects; the checker has accepted the certificate.
    seconds
        Time limit for CaDiCaL.

    Returns
    -------
    list of Path
        The formula, the proof in LRAT, and the same proof in DRAT.

    Raises
    ------
    InputError
        CaDiCaL is not installed, or not done in time; or a file cannot be written; or there is
        nothing to refute.
    """
    claim = read_claim(instance, certificate)
    network, evidence = claim.scope_network, claim.evidence
    if claim.kind != "refutation":
        network, evidence = claim.network, _refuted(claim, seconds)
    try:
        formula = Formula(network, claim.steps, evidence.get("order", []))
        lines = list(proof_lines(evidence["proof"]))
    except EvidenceError as error:
        raise InputError(f"the propositional formula: {error}") from None
    paths = [folder / name for name in (FORMULA, LRAT, DRAT)]
    heading = claim.heading(network)
    write_lines(_dimacs(heading, formula, len(evidence.get("order", []))), paths[0])
    write_lines(filter(None, lines), paths[1])
    write_lines(without_hints(formula.clauses, lines), paths[2])
    return paths


def _refuted(claim: Claim, seconds: float) -> dict[str, object]:
    if not cadical.is_installed():
        raise InputError(
            "a propositional proof needs CaDiCaL", hint="pip install 'cchybrid[prove]'"
        )
    try:
        found = refute(claim.network, claim.steps, seconds, lambda: False)
    except (EvidenceError, ProofError) as error:
        raise InputError(f"no propositional proof: {error}") from None
    if found.evidence is None:
        reason = found.too_large or f"CaDiCaL is not done after {seconds:.0f} seconds"
        raise InputError(
            f"no propositional proof of {claim.kind} evidence: {reason}",
            hint="use --opb, or a longer --time-limit",
        )
    return found.evidence


def without_hints(clauses: Iterable[Clause], lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of an LRAT proof as DRAT: clauses instead of numbers, without hints."""
    known = {number: " ".join(map(str, clause)) for number, clause in enumerate(clauses, 1)}
    for line in lines:
        words = line.split()
        if words[1:2] == ["d"]:
            for word in words[2:-1]:
                yield f"d {known.pop(int(word))} 0"
        elif words:
            literals = words[1 : words.index("0")]
            known[int(words[0])] = " ".join(literals)
            yield " ".join([*literals, "0"])


def _dimacs(heading: Iterator[str], formula: Formula, fixed: int) -> Iterator[str]:
    for line in heading:
        yield f"c {line}"
    if fixed:
        yield f"c The last {fixed} clauses fix messages, no two of which fit into one step, to the"
        yield "c first steps: steps may be exchanged, as every message has one destination."
    for name, number in formula.number.items():
        yield f"c variable {number}: {described(name)}"
    yield f"p cnf {len(formula.number)} {len(formula.clauses)}"
    for clause in formula.clauses:
        yield " ".join(map(str, [*clause, 0]))


def described(name: Name) -> str:
    """Return the meaning of a variable of the formula in words."""
    kind, *place = name
    if kind == "count":
        limit, *where, step, first, number = place
        spot = "-".join(map(str, where))
        return (
            f"at least {number + 1} of the first {first + 1} messages "
            f"{_LIMITS[limit].format(spot)} in step {step}"
        )
    message, node, *more, step = place
    if kind == "has":
        return f"node {node} has received message {message} in step {step} or earlier"
    text = f"node {node} receives message {message} in step {step}"
    if kind == "path":
        return f"{text} over path {'-'.join(map(str, more[0]))}"
    if kind == "uses":
        resource, *where = more
        spot = "-".join(map(str, where))
        used = f"a port of node {spot}" if resource == "inject" else f"channel {spot}"
        return f"{text} over a path that uses {used}"
    assert kind == "gets", kind
    return text


_LIMITS = {"channel": "pass channel {}", "inject": "leave node {}", "accept": "end at node {}"}
