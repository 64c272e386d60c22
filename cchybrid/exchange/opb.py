"""Certificates as a pseudo-Boolean formula with a proof that it is contradictory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cchybrid.checker.instance import EvidenceError
from cchybrid.exchange.claim import Claim, write_lines
from cchybrid.exchange.derivations import derive_cut, derive_farkas, derive_growth, derive_prices
from cchybrid.exchange.pseudo_boolean import PathFormula
from cchybrid.exchange.veripb import CuttingPlanes, NotDerivedError
from cchybrid.model.errors import InputError
from cchybrid.proof.farkas import refute
from cchybrid.proof.search import MAX_TERMS

FORMULA, PROOF = "formula.opb", "proof.pbp"
"""The names of the files."""

DERIVATIONS = {
    "growth": derive_growth,
    "cut": derive_cut,
    "prices": derive_prices,
    "farkas": derive_farkas,
}
"""The kinds of evidence that become cutting planes."""


def write_opb(
    claim: Claim, instance: Mapping[str, Any], folder: Path, seconds: float
) -> list[Path]:
    """Write the pseudo-Boolean formula of a claim, and a proof for VeriPB that refutes it.

    Evidence of other kinds, and a cut that counts senders of different strength, are replaced by
    Farkas multipliers, if there are any for the same number of steps.

    Parameters
    ----------
    instance
        The instance as a JSON object.
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
        written.
    """
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
    if claim.kind in DERIVATIONS:
        try:
            return derived(formula, claim.kind, claim.evidence)
        except NotDerivedError:
            pass
    evidence = None
    if claim.network.listed is None and not claim.network.members and claim.kind != "farkas":
        evidence = refute(instance, claim.steps, MAX_TERMS, seconds)
    if evidence is None:
        raise InputError(
            f"there are no cutting planes for {claim.kind} evidence of {claim.steps + 1} steps",
            hint="use --dimacs",
        )
    own = replace(claim, evidence=evidence, scope_network=claim.network)
    formula.claim = own
    return derived(formula, "farkas", evidence)


def derived(formula: PathFormula, kind: str, evidence: Mapping[str, Any]) -> CuttingPlanes:
    """Return the proof that evidence becomes.

    Raises
    ------
    NotDerivedError
        There is none by these rules.
    """
    proof = CuttingPlanes(formula)
    DERIVATIONS[kind](proof, evidence)
    return proof
