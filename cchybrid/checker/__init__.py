"""The independent checker of lower bounds: standard library and exact arithmetic only.

This package is the trusted base of every ``certified`` verdict. It reads the instance from its
JSON object and shares no code with the packages that find schedules and bounds.
"""

from collections.abc import Mapping
from typing import Any

from cchybrid.checker.certificate import RoundsVerdict, Verdict, check, fingerprint
from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.kinds import KINDS, part_of, shown_steps
from cchybrid.checker.reach import check_unreachable

__all__ = [
    "KINDS", "EvidenceError", "Network", "RoundsVerdict", "Verdict", "check", "fingerprint",
    "proven_steps", "proves_infeasible",
]  # fmt: skip


def proven_steps(instance: Mapping[str, Any], evidence: Mapping[str, Any]) -> int:
    """Return the number of steps that the evidence proves no schedule can beat.

    Parameters
    ----------
    instance
        A well-formed ``cchybrid-instance/1`` object.
    evidence
        An object with a ``kind`` out of ``KINDS`` and what that kind needs.

    Raises
    ------
    EvidenceError
        If the evidence proves nothing.
    """
    return shown_steps(Network(instance), evidence)


def proves_infeasible(instance: Mapping[str, Any], evidence: Mapping[str, Any]) -> None:
    """Raise ``EvidenceError`` unless the evidence shows that the instance has no schedule."""
    network = Network(instance)
    if isinstance(evidence, Mapping) and evidence.get("kind") == "part":
        network, evidence = part_of(network, evidence)
    if not isinstance(evidence, Mapping) or evidence.get("kind") != "unreachable":
        raise EvidenceError("only unreachable destinations make an instance infeasible")
    check_unreachable(network, evidence)
