"""Claims of the finders about an instance, and their check by the checker.

This file and ``axioms`` are all of these tests that knows how the checker works inside.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

from cchybrid.checker import EvidenceError, Network, proves_infeasible
from cchybrid.checker.certificate import without_parts
from cchybrid.checker.clauses import Formula
from cchybrid.checker.kinds import part_of, shown_steps
from cchybrid.checker.reach import check_unreachable
from cchybrid.checker.schedule import checked_schedule
from cchybrid.model import Instance
from cchybrid.plugin.registry import load_registry
from cchybrid.proof.asking import bounds_of
from cchybrid.proof.parts import infeasibility
from cchybrid.proof.refutation import refute
from tests.present import beside_tests

Number = int | Fraction
SECONDS = 60.0


class Claim(NamedTuple):
    """A bound of a finder.

    Attributes
    ----------
    finder
        Its name.
    number
        The bound.
    evidence
        The evidence for it.
    shown
        What the checker says that evidence shows; ``None`` if it refuses it.
    """

    finder: str
    number: Number
    evidence: Any
    shown: Callable[[Any], Number | None]


_registry = cache(load_registry)


def or_none(check: Callable[[Any], Number]) -> Callable[[Any], Number | None]:
    """Return the check, which returns ``None`` where it would refuse evidence."""

    def shown(evidence: Any) -> Number | None:
        try:
            return check(evidence)
        except EvidenceError:
            return None

    return shown


def finders() -> list[str]:
    """Return the names of all registered providers of bounds on the number of steps."""
    return list(_registry().bounds)


def step_claims(record: dict[str, Any], names: list[str]) -> Iterator[Claim]:
    """Yield what these providers claim about the number of steps."""
    instance = Instance.from_json(record)
    network = Network(record)
    shown = or_none(lambda evidence: shown_steps(network, evidence))
    providers = [_registry().bounds[name] for name in names]
    for info in providers:
        for bound in bounds_of(info, instance):
            yield Claim(info.name, bound.steps, bound.evidence, shown)


@cache
def features() -> tuple[ModuleType, ...]:
    """Return what features claim: their modules ``small_claims``, beside their tests.

    Each has ``disagreements``, which yields what it says that is wrong about any instance, and
    ``round_claims``, which yields claims about rounds per chunk, and whether each is about the
    wide instance in any number of steps.
    """
    return tuple(beside_tests("small_claims"))


def has_sums(record: dict[str, Any]) -> bool:
    """Return whether transfers of an instance carry sums of the parts of members."""
    return "members" in record["collective"]["messages"][0]


def formula_size(record: dict[str, Any], steps: int) -> int:
    """Return the number of clauses of the formula that is refuted."""
    return 0 if has_sums(record) or steps < 1 else len(Formula(Network(record), steps).clauses)


def refutation_claim(record: dict[str, Any], steps: int) -> Claim | None:
    """Return the claim that more than ``steps`` steps are needed, if the formula is refuted."""
    slots = record["model"]["switching"] == "tdm"
    if has_sums(record) or slots or "groups" in record["network"]:  # no formula knows them
        return None
    network = Network(record)
    found = refute(network, steps, SECONDS, lambda: False)
    if found.evidence is None:
        return None
    shown = or_none(lambda evidence: shown_steps(network, evidence))
    return Claim("refutation", steps + 1, found.evidence, shown)


def whole_instance(record: dict[str, Any], wide: bool) -> dict[str, Any]:
    """Return the instance without chunks and rounds, whose rounds per chunk are claimed.

    With ``wide``, without half-duplex links and limited ports, too: every schedule of an instance
    is one of its wide instance.
    """
    whole = without_parts(record)
    if wide:
        network = {key: value for key, value in whole["network"].items() if key != "half_duplex"}
        whole |= {"network": network, "model": {**whole["model"], "ports": "all"}}
    return whole


def says_infeasible(record: dict[str, Any]) -> bool:
    """Return whether cchybrid says that there is no schedule; the checker must agree."""
    evidence = infeasibility(Instance.from_json(record))
    if evidence is not None:
        proves_infeasible(record, evidence)
    return evidence is not None


def accepts_unreachable(network: Network, evidence: dict[str, Any]) -> bool:
    """Return whether the checker accepts evidence that there is no schedule."""
    try:
        if evidence["kind"] == "part":
            network, evidence = part_of(network, evidence)
        check_unreachable(network, evidence)
    except EvidenceError:
        return False
    return True


def accepts_schedule(record: dict[str, Any]) -> bool:
    """Return whether the checker accepts a schedule object."""
    try:
        checked_schedule(record)
    except EvidenceError:
        return False
    return True
