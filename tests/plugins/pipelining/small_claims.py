"""Claims about rounds per chunk, for the tests on everything small (``tests/exhaustive``)."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from cchybrid_plugins.pipelining.proof.round_bounds import round_bound
from cchybrid_plugins.pipelining.proof.throughput import throughput_record

from cchybrid.checker import Network
from cchybrid.checker.linear import linear_rounds
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from tests.exhaustive.bounds import Claim, has_sums, or_none, whole_instance


def disagreements(record: dict[str, Any]) -> Iterator[str]:
    """Yield that an instance with features that throughput does not know is not refused."""
    network, model = record["network"], record["model"]
    parted = record["format"] != "cchybrid-instance/1"  # chunks, rounds, a table or sums
    unknown = parted or "half_duplex" in network or model["ports"] != "all"
    if has_throughput(record) == unknown:
        yield f"throughput is defined: {not unknown}, cchybrid says the opposite"


def round_claims(record: dict[str, Any], steps: int) -> Iterator[tuple[Claim, bool]]:
    """Yield the claims, and whether each is about any number of steps."""
    for claim in claims_of_steps(record, steps):
        yield claim, False
    for claim in throughput_claims(record):
        yield claim, True


def claims_of_steps(record: dict[str, Any], steps: int) -> Iterator[Claim]:
    """Yield what is claimed about the rounds per chunk of at most ``steps`` steps."""
    table = isinstance(record["model"]["routing"], dict)
    groups = "groups" in record["network"]
    if record["model"]["switching"] == "tdm" or table or groups or has_sums(record):
        return
    whole = whole_instance(record, False)
    found = round_bound(Instance.from_json(whole).forward, steps)
    if found is not None:
        network = Network(whole)
        shown = or_none(lambda evidence: linear_rounds(network, evidence, steps))
        yield Claim("rounds", found.ratio, found.evidence, shown)


def throughput_claims(record: dict[str, Any]) -> Iterator[Claim]:
    """Yield what is claimed about the rounds per chunk of the wide instance in any steps."""
    table = isinstance(record["model"]["routing"], dict)
    if has_sums(record) or table or "groups" in record["network"]:
        return
    wide = whole_instance(record, True)
    found = throughput_record(Instance.from_json(wide))
    network = Network(wide).with_any_routing()
    shown = or_none(lambda evidence: linear_rounds(network, evidence, None))
    yield Claim("throughput", Fraction(found["bound"]), found["evidence"], shown)


def has_throughput(record: dict[str, Any]) -> bool:
    """Return whether cchybrid computes rounds per chunk in any number of steps."""
    try:
        throughput_record(Instance.from_json(record))
    except InputError:
        return False
    return True
