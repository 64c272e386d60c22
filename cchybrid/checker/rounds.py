"""``cchybrid-certificate/2``: rounds per chunk that every schedule of a number of steps needs.

Messages are cut into C equal chunks, and a step of r rounds carries r times what channels and ports
carry in one round. The claim of a certificate is about the instance without chunks and rounds: for
no number of chunks does a schedule of at most ``steps`` steps need fewer rounds than
``rounds_per_chunk`` times the number of chunks. Three kinds of evidence:

- ``rows``: rows of the time-expanded relaxation (``checker.relaxation``) for one chunk of every
  message. Averaged over the chunks, a schedule satisfies them, where a step of r rounds carries r/C
  times its capacity. Multiplied and added up, the rows leave: the weighted sum of the rounds of the
  steps, over C, is at least a number; divided by the largest weight, that is the claim.
- ``prices``: prices per step, as in ``checker.step_prices``. Every chunk pays at least its cheapest
  route within the steps; a step of r rounds offers r times the sum of capacity times price.
- ``throughput``: evidence for rounds per chunk in any number of steps (``checker.throughput``).

All are for store-and-forward switching.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from cchybrid.checker.certificate import fingerprint
from cchybrid.checker.farkas import MAX_STEPS, MAX_TERMS, multipliers
from cchybrid.checker.instance import EvidenceError, Network, TooLargeError
from cchybrid.checker.reading import read_network
from cchybrid.checker.relaxation import Column, Relaxation
from cchybrid.checker.schedule import checked_schedule
from cchybrid.checker.step_prices import paid_for_routes, prices_and_offers
from cchybrid.checker.throughput import throughput_bound

FORMAT = "cchybrid-certificate/2"
CAPACITIES = ("channel", "inject", "accept")
"""The kinds of rows whose right side grows with the rounds of their step."""


@dataclass(frozen=True)
class RoundsVerdict:
    """The result of checking a schedule and its certificate about rounds.

    Attributes
    ----------
    steps, rounds, chunks
        The steps and the rounds of the schedule, which is valid, and the chunks of each message.
    bound
        Rounds per chunk that every schedule of at most that many steps needs.
    shortest
        Steps that every schedule needs: the largest distance of a message.
    kind
        The kind of the evidence.
    """

    steps: int
    rounds: int
    chunks: int
    bound: Fraction
    shortest: int
    kind: str

    @property
    def rounds_per_chunk(self) -> Fraction:
        """The rounds per chunk of the schedule."""
        return Fraction(self.rounds, self.chunks)

    @property
    def optimal(self) -> bool:
        """Whether no schedule of as many chunks, in at most as many steps, has fewer rounds."""
        return self.rounds == ceil(self.bound * self.chunks)


def rounds_certificate(
    instance: Mapping[str, Any],
    steps: int,
    ratio: Fraction,
    evidence: Mapping[str, Any],
    made_by: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the object that claims ``ratio`` rounds per chunk for at most ``steps`` steps."""
    whole = without_parts(instance)
    return {
        "format": FORMAT,
        "instance": {"name": whole.get("name", ""), "sha256": fingerprint(whole)},
        "claim": {"steps": steps, "rounds_per_chunk": str(ratio)},
        "evidence": dict(evidence),
        "made_by": dict(made_by),
    }


def without_parts(instance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object of an instance without its chunks and rounds."""
    collective = {k: v for k, v in instance["collective"].items() if k != "chunks"}
    model = {k: v for k, v in instance.get("model", {}).items() if k != "rounds"}
    return {
        **instance, "format": "cchybrid-instance/1", "collective": collective, "model": model
    }  # fmt: skip


def check_rounds(schedule: Any, record: Any) -> RoundsVerdict:
    """Check a schedule and its certificate about rounds, the two JSON objects alone.

    Raises
    ------
    EvidenceError
        The schedule is not valid or has more steps, or the claim is not proven.
    """
    network, steps = checked_schedule(schedule)
    whole = without_parts(schedule["instance"])
    limit, claimed = _claim(whole, record)
    if len(steps) > limit:
        raise EvidenceError(f"the schedule has {len(steps)} steps, the claim is about {limit}")
    evidence = record["evidence"]
    bound = rounds_bound(read_network(whole), limit, evidence)
    if str(bound) != claimed:
        raise EvidenceError(f"the evidence shows {bound} rounds per chunk, not {claimed[:40]!r}")
    rounds = sum(network.in_step(t, max(network.rounds)) for t in range(1, len(steps) + 1))
    if rounds < bound * network.chunks:
        raise EvidenceError("the schedule refutes the claim, so the checker has an error")
    shortest = max(
        network.hops(source)[goal] for source, goals in network.messages for goal in goals
    )
    return RoundsVerdict(len(steps), rounds, network.chunks, bound, shortest, evidence["kind"])


def rounds_bound(network: Network, steps: int, evidence: Any) -> Fraction:
    """Return the rounds per chunk that the evidence shows for at most that many steps.

    Raises
    ------
    EvidenceError
        If it shows nothing.
    """
    if not network.hop_by_hop:
        raise EvidenceError("rounds per chunk are for store-and-forward switching")
    if not isinstance(evidence, Mapping) or not 1 <= steps <= MAX_STEPS:
        raise EvidenceError("the evidence is not well-formed")
    kind = evidence.get("kind")
    if kind == "throughput" and set(evidence) == {"kind", "evidence"}:
        return throughput_bound(network, evidence["evidence"])
    if kind == "rows" and set(evidence) == {"kind", "rows"}:
        needed, weights = _by_rows(network, steps, evidence["rows"])
    elif kind == "prices" and set(evidence) <= {"kind", "channels", "inject", "accept"}:
        prices, weights = prices_and_offers(network, evidence, steps)
        needed = paid_for_routes(network, prices)
    else:
        raise EvidenceError("the evidence is not well-formed")
    if needed <= 0 or not any(weights):
        raise EvidenceError("the evidence shows no number of rounds")
    return Fraction(needed, max(weights))


def _by_rows(network: Network, steps: int, kinds: Any) -> tuple[int, list[int]]:
    """Return what the rounds of the steps, each times its weight, add up to at least."""
    relaxation = Relaxation(network, steps)
    needed, weights, total, terms_read = 0, [0] * steps, dict[Column, int](), 0
    for key, times in multipliers(kinds):
        terms, side = relaxation.row(key)
        terms_read += len(terms)
        if terms_read > MAX_TERMS:
            raise TooLargeError("rows with more terms than fit into memory")
        if key[0] in CAPACITIES:
            weights[key[-1] - 1] -= times * side
        else:
            needed += times * side
        for column, coefficient in terms.items():
            total[column] = total.get(column, 0) + times * coefficient
    reached = sum(
        relaxation.max_value(column) * weight for column, weight in total.items() if weight > 0
    )
    return needed - reached, weights


def _claim(instance: Mapping[str, Any], record: Any) -> tuple[int, str]:
    """Read the certificate up to its evidence; return its steps and its rounds per chunk."""
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        raise EvidenceError(f"this is no {FORMAT}")
    if set(record) - {"made_by"} != {"format", "instance", "claim", "evidence"}:
        raise EvidenceError("the certificate has other parts than it should")
    named, claim = record["instance"], record["claim"]
    if not isinstance(named, Mapping) or named.get("sha256") != fingerprint(instance):
        raise EvidenceError("the certificate is about another instance")
    if not isinstance(claim, Mapping) or set(claim) != {"steps", "rounds_per_chunk"}:
        raise EvidenceError("the claim is not well-formed")
    steps, ratio = claim["steps"], claim["rounds_per_chunk"]
    if type(steps) is not int or not 0 <= steps <= MAX_STEPS or not isinstance(ratio, str):
        raise EvidenceError("the claim is not well-formed")
    return steps, ratio
