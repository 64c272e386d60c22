"""Certificates: a claim about an instance, and the evidence for it.

A certificate belongs to a schedule file and names its instance by a hash. There are two claims.

- ``cchybrid-certificate/1``: no schedule within the scope has fewer than ``steps`` steps. The scope
  is any routing, or the instance's own routing rule.
- ``cchybrid-certificate/2``, about the instance without chunks and rounds: for no number of chunks
  does a schedule of at most ``steps`` steps need fewer rounds than ``rounds_per_chunk`` times the
  number of chunks.
"""

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

from cchybrid.checker.instance import LABELS, MAKE_ANEW, EvidenceError, Network
from cchybrid.checker.kinds import kind_of, shown_steps
from cchybrid.checker.linear import linear_rounds
from cchybrid.checker.prices import MAX_STEPS
from cchybrid.checker.schedule import checked_schedule

FORMAT, ROUNDS_FORMAT = "cchybrid-certificate/1", "cchybrid-certificate/2"
ANY_ROUTING = "any routing"


class Verdict(NamedTuple):
    """The result of checking a schedule and its certificate.

    Attributes
    ----------
    steps
        The number of steps of the schedule, which is valid.
    bound
        Steps that every schedule within the scope needs.
    scope
        ``any routing``, or the instance's own routing rule (``minimal routing``, ``at most 2 extra
        hops``, ``routing table``).
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
        return self.steps == self.bound

    @property
    def sentence(self) -> str:
        """The result in words."""
        return (
            f"{self.steps} steps, {'optimal' if self.optimal else 'valid'}: no schedule "
            f"({self.scope}) has fewer than {self.bound} ({self.kind})"
        )


class RoundsVerdict(NamedTuple):
    """The result of checking a schedule, or trees, and the evidence about rounds per chunk.

    Attributes
    ----------
    steps
        The steps of the schedule, which is valid; ``None`` for trees used again and again.
    rounds, chunks
        The rounds in all, and the chunks of each message.
    bound
        Rounds per chunk that every schedule of at most that many steps needs.
    kind
        The kind of the evidence.
    """

    steps: int | None
    rounds: int
    chunks: int
    bound: Fraction
    kind: str

    @property
    def rounds_per_chunk(self) -> Fraction:
        """The rounds per chunk of the schedule."""
        return Fraction(self.rounds, self.chunks)

    @property
    def optimal(self) -> bool:
        """Whether no schedule of as many chunks, in at most as many steps, has fewer rounds.

        Of trees, whether no schedule of any number of chunks has fewer rounds per chunk.
        """
        needed = self.bound * self.chunks
        return self.rounds == (needed if self.steps is None else ceil(needed))

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.steps is None:
            word = "optimal" if self.optimal else f"at least {self.bound} are needed"
            return f"{self.rounds_per_chunk} rounds per chunk, {word} ({self.kind})"
        word = "optimal" if self.optimal else "valid"
        return (
            f"{self.chunks} chunks, {self.steps} steps, {self.rounds} rounds, {word}: no schedule "
            f"of as many steps has fewer than {self.bound} rounds per chunk ({self.kind})"
        )


def own_scope(instance: Mapping[str, Any]) -> str:
    """Return the scope that is the instance's own routing rule."""
    model = instance.get("model", {})
    routing = model.get("routing", "minimal")
    if isinstance(routing, dict):
        return "routing table"
    if routing == "any" or model.get("switching") == "store-and-forward":
        return ANY_ROUTING
    return "minimal routing" if routing in ("minimal", 0) else f"at most {routing} extra hops"


def fingerprint(instance: Mapping[str, Any]) -> str:
    """Return the hash by which a certificate names an instance.

    SHA-256 of its JSON with sorted keys, without white space, names, positions and switches.
    """
    parts = _without(instance, "name")
    for part in ("network", "collective"):
        parts[part] = _without(parts[part], *LABELS)
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def without_parts(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object of an instance without its chunks and rounds."""
    newer = {"times", "groups"}.intersection(instance["network"])
    return {
        **instance,
        "format": instance["format"] if newer else "cchybrid-instance/1",
        "collective": _without(instance["collective"], "chunks"),
        "model": _without(instance.get("model", {}), "rounds"),
    }


def check(schedule: Any, record: Any) -> Verdict | RoundsVerdict:
    """Check a schedule and its certificate, the two JSON objects alone.

    Raises
    ------
    EvidenceError
        The schedule is not valid, or the claim is not proven; the error says why.
    """
    network, moves = checked_schedule(schedule)
    instance, steps = schedule["instance"], len(moves)
    claim = _read_claim(instance, record)
    limit, evidence = claim["steps"], record["evidence"]
    kind = kind_of(evidence)
    if record["format"] == FORMAT:
        proven = prove(instance, evidence, claim["scope"])
        if proven != limit:
            raise EvidenceError(f"the evidence shows {proven} steps, the claim says {limit}")
        if proven > steps:
            raise EvidenceError("the schedule refutes the claim, so the checker has an error")
        return Verdict(steps, proven, claim["scope"], kind)
    if steps > limit:
        raise EvidenceError(f"the schedule has {steps} steps, the claim is about {limit}")
    claimed = claim["rounds_per_chunk"]
    bound = linear_rounds(Network(without_parts(instance)), evidence, limit)
    if str(bound) != claimed:
        raise EvidenceError(f"the evidence shows {bound} rounds per chunk, not {claimed[:40]!r}")
    rounds = sum(network.in_step(t, max(network.rounds)) for t in range(1, steps + 1))
    if rounds < bound * network.chunks:
        raise EvidenceError("the schedule refutes the claim, so the checker has an error")
    return RoundsVerdict(steps, rounds, network.chunks, bound, kind)


def prove(instance: Mapping[str, Any], evidence: Any, scope: str) -> int:
    """Return the steps that the evidence proves within the scope.

    Raises
    ------
    EvidenceError
        If it proves nothing there.
    """
    if scope not in (ANY_ROUTING, own_scope(instance)):
        raise EvidenceError(f"the scope {scope[:40]!r} is not that of the instance; {MAKE_ANEW}")
    own = Network(instance)
    return shown_steps(own.with_any_routing() if scope == ANY_ROUTING else own, evidence)


def _read_claim(instance: Mapping[str, Any], record: Any) -> Mapping[str, Any]:
    """Return the claim of a certificate about the instance."""
    form = record.get("format") if isinstance(record, Mapping) else None
    if form not in (FORMAT, ROUNDS_FORMAT):
        raise EvidenceError(f"this is no {FORMAT} or {ROUNDS_FORMAT}")
    if set(record) - {"made_by"} != {"format", "instance", "claim", "evidence"}:
        raise EvidenceError("the certificate has other parts than it should")
    named, claim = record["instance"], record["claim"]
    about = instance if form == FORMAT else without_parts(instance)
    if not isinstance(named, Mapping) or named.get("sha256") != fingerprint(about):
        raise EvidenceError("the certificate is about another instance, or another spelling of it")
    types = {"steps": int, "scope" if form == FORMAT else "rounds_per_chunk": str}
    if (
        not isinstance(claim, dict)
        or {key: type(value) for key, value in claim.items()} != types
        or not 0 <= claim["steps"] <= MAX_STEPS
    ):
        parts = " and ".join(types)
        raise EvidenceError(f"the claim is not well-formed: {parts} alone; {MAKE_ANEW}")
    return claim


def _without(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}
