"""Certificates as a pseudo-Boolean formula with a proof that it is contradictory."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.model.errors import InputError
from cchybrid.proof.farkas import refuting_rows
from cchybrid.proof.search import MAX_TERMS

from .claim import Claim, read_claim, write_lines
from .derivations import derive_linear, derive_rows
from .pseudo_boolean import PathFormula
from .veripb import CuttingPlanes, NotDerivedError

FORMULA, PROOF = "formula.opb", "proof.pbp"
"""The names of the files."""


def write_opb(
    instance: Mapping[str, Any], certificate: Mapping[str, Any], folder: Path, seconds: float
) -> list[Path]:
    """Write the pseudo-Boolean formula of a certificate's claim, and a proof for VeriPB.

    Evidence of other kinds, and of prices that change from step to step, is replaced by multiplied
    rows of the relaxation, if there are any for the same number of steps; not of a part of sums.

    Parameters
    ----------
    instance, certificate
        As JSON objects; the checker has accepted the certificate.
    seconds
        Time limit for the search for these multipliers.

    Returns
    -------
    list of Path
        The formula and the proof.

    Raises
    ------
    InputError
        There are no cutting planes for the evidence, the formula is too large, or a file cannot be
        written; or there is nothing to refute.
    """
    claim = read_claim(instance, certificate)
    try:
        formula = PathFormula(claim)
        proof = _derived(formula, claim, instance, seconds)
    except EvidenceError as error:
        raise InputError(f"the pseudo-Boolean formula: {error}", hint="use --dimacs") from None
    paths = [folder / FORMULA, folder / PROOF]
    write_lines(formula.lines(), paths[0])
    write_lines(proof.lines(), paths[1])
    return paths


def _derived(
    formula: PathFormula, claim: Claim, instance: Mapping[str, Any], seconds: float
) -> CuttingPlanes:
    if claim.kind == "linear":
        with contextlib.suppress(NotDerivedError):
            proof = CuttingPlanes(formula)
            derive_linear(proof, claim.evidence)
            return proof
    found = None
    if not Network(instance).members:  # those rows are of the whole instance, not of a part of it
        found = refuting_rows(instance, claim.steps, MAX_TERMS, seconds)
    if found is None:
        raise InputError(
            f"there are no cutting planes for {claim.kind} evidence of {claim.steps + 1} steps",
            hint="use --dimacs",
        )
    proof = CuttingPlanes(formula)
    derive_rows(proof, *found)
    return proof
