"""``cchybrid-certificate/1``: a claim about an instance, and the evidence for it.

A certificate belongs to a schedule file: it names its instance by a hash, and claims that no
schedule has fewer steps. The scope of the claim is part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cchybrid.checker.instance import EvidenceError, Network
from cchybrid.checker.kinds import kind_of, shown_steps
from cchybrid.checker.reading import read_network
from cchybrid.checker.routes import is_allowed
from cchybrid.checker.schedule import checked_schedule

FORMAT = "cchybrid-certificate/1"
ANY_ROUTING = "any routing"
THESE_PATHS = "these paths"
_MAX_STEPS = 1 << 40


@dataclass(frozen=True)
class Verdict:
    """The result of checking a schedule and its certificate.

    Attributes
    ----------
    steps
        The number of steps of the schedule, which is valid.
    bound
        Steps that every schedule within the scope needs.
    scope
        ``any routing``, the instance's own routing rule (``minimal routing``, ``at most 2 extra
        hops``), or ``these paths``.
    kind
        The kind of the evidence.
    """

    steps: int
    bound: int
    scope: str
    kind: str

    @property
    def optimal(self) -> bool:
        """Whether no schedule of the instance has fewer steps."""
        return self.steps == self.bound and self.scope != THESE_PATHS


def own_scope(instance: Mapping[str, Any]) -> str:
    """Return the scope that is the instance's own routing rule."""
    model = instance.get("model", {})
    routing = model.get("routing", "minimal")
    if routing == "any" or model.get("switching") == "store-and-forward":
        return ANY_ROUTING
    return "minimal routing" if routing in ("minimal", 0) else f"at most {routing} extra hops"


def fingerprint(instance: Mapping[str, Any]) -> str:
    """Return the hash by which a certificate names an instance.

    SHA-256 of its JSON with sorted keys, without white space, names, positions and switches.
    """
    parts = {key: value for key, value in instance.items() if key != "name"}
    ignored = ("name", "positions", "node_names", "switches")
    for part in ("network", "collective"):
        parts[part] = {key: value for key, value in parts[part].items() if key not in ignored}
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def certificate(
    instance: Mapping[str, Any],
    steps: int,
    scope: str,
    evidence: Mapping[str, Any],
    made_by: Mapping[str, Any],
    paths: list[list[int]] | None = None,
) -> dict[str, Any]:
    """Return the object that claims ``steps`` for an instance."""
    claim: dict[str, Any] = {"steps": steps, "scope": scope}
    if paths is not None:
        claim["paths"] = paths
    return {
        "format": FORMAT,
        "instance": {"name": instance.get("name", ""), "sha256": fingerprint(instance)},
        "claim": claim,
        "evidence": dict(evidence),
        "made_by": dict(made_by),
    }


def check(schedule: Any, record: Any) -> Verdict:
    """Check a schedule and its certificate, the two JSON objects alone.

    Raises
    ------
    EvidenceError
        The schedule is not valid, or the claim is not proven; the error says why.
    """
    _, steps = checked_schedule(schedule)
    instance = schedule["instance"]
    bound, scope = _claim(instance, record)
    evidence = record["evidence"]
    proven = prove(instance, evidence, scope, record["claim"].get("paths"))
    if proven != bound:
        raise EvidenceError(f"the evidence shows {proven} steps, the claim says {bound}")
    if bound > len(steps) and scope != THESE_PATHS:
        raise EvidenceError("the schedule refutes the claim, so the checker has an error")
    return Verdict(len(steps), bound, scope, kind_of(evidence))


def prove(
    instance: Mapping[str, Any], evidence: Mapping[str, Any], scope: str, paths: Any = None
) -> int:
    """Return the steps that the evidence proves within the scope.

    Raises
    ------
    EvidenceError
        If it proves nothing there.
    """
    network = read_network(instance, "any" if scope == ANY_ROUTING else None)
    if scope == THESE_PATHS:
        network.listed = listed_paths(network, paths)
    elif scope not in (ANY_ROUTING, own_scope(instance)):
        raise EvidenceError("the claim is not about the instance's own routing")
    elif paths is not None:
        raise EvidenceError("a list of paths in a claim about all of them")
    return shown_steps(network, evidence)


def _claim(instance: Mapping[str, Any], record: Any) -> tuple[int, str]:
    """Read the certificate up to its evidence; return the claimed steps and the scope."""
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise EvidenceError(f"this is no {FORMAT}")
    if set(record) - {"made_by"} != {"format", "instance", "claim", "evidence"}:
        raise EvidenceError("the certificate has other parts than it should")
    named, claim = record["instance"], record["claim"]
    if not isinstance(named, Mapping) or named.get("sha256") != fingerprint(instance):
        raise EvidenceError("the certificate is about another instance")
    if not isinstance(claim, Mapping) or not {"steps", "scope"} <= set(claim) <= {
        "steps",
        "scope",
        "paths",
    }:
        raise EvidenceError("the claim is not well-formed")
    steps, scope = claim["steps"], claim["scope"]
    if type(steps) is not int or not 0 <= steps < _MAX_STEPS or not isinstance(scope, str):
        raise EvidenceError("the claim is not well-formed")
    return steps, scope


def listed_paths(network: Network, paths: Any) -> list[tuple[int, ...]]:
    """Read the paths of a claim; those of a ``combine`` collective are reversed."""
    if not isinstance(paths, list) or not paths:
        raise EvidenceError("the paths that the claim is about are missing")
    found: dict[tuple[int, ...], None] = {}
    for path in paths:
        if not isinstance(path, list) or not all(
            type(node) is int and 0 <= node < network.nodes for node in path
        ):
            raise EvidenceError("a path of the claim is not well-formed")
        turned = tuple(reversed(path) if network.backwards else path)
        if not is_allowed(network, turned):
            raise EvidenceError("a path of the claim is not allowed")
        found[turned] = None
    return list(found)
