"""The JSON objects of certificates, for the independent checker."""

from collections.abc import Mapping
from typing import Any

from cchybrid.checker import EvidenceError, RoundsVerdict, check
from cchybrid.checker.certificate import FORMAT, ROUNDS_FORMAT, fingerprint, without_parts


def certificate(
    instance: Mapping[str, Any],
    claim: Mapping[str, Any],
    evidence: Mapping[str, Any],
    made_by: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the object that claims something about an instance.

    ``claim`` has ``steps`` and ``scope``, or ``steps`` and ``rounds_per_chunk``.
    """
    about_rounds = "rounds_per_chunk" in claim
    about = without_parts(instance) if about_rounds else instance
    return {
        "format": ROUNDS_FORMAT if about_rounds else FORMAT,
        "instance": {"name": about.get("name", ""), "sha256": fingerprint(about)},
        "claim": dict(claim),
        "evidence": dict(evidence),
        "made_by": dict(made_by),
    }


def check_rounds(schedule: Any, record: Any) -> RoundsVerdict:
    """Check the JSON objects of a schedule and of its certificate about rounds.

    Raises
    ------
    EvidenceError
        The check fails, or the certificate is about a number of steps.
    """
    verdict = check(schedule, record)
    if not isinstance(verdict, RoundsVerdict):
        raise EvidenceError("the certificate is not about rounds")
    return verdict
