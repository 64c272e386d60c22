"""The blackboard of a run: the best verified schedule, the best bounds, near-solutions.

A schedule or a proof of a worker is written only after the referee or the checker has verified it.

References
----------
L. D. Erman, F. Hayes-Roth, V. R. Lesser and D. R. Reddy, The Hearsay-II speech-understanding
system, ACM Computing Surveys 12 (1980) 213-253, https://doi.org/10.1145/356810.356816.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.kinds import shown_steps
from cchybrid.model import Instance, LowerBound, Schedule, Steps
from cchybrid.referee.verify import Violation, verify


class ContractError(Exception):
    """A report of a worker is false; the text says what."""


class Draft(NamedTuple):
    """A near-solution, its author, and the number of rules that it violates."""

    author: str
    violations: int
    steps: Steps


@dataclass
class Blackboard:
    """Schedules, bounds and near-solutions of one instance.

    Attributes
    ----------
    schedule, found_by
        The best verified schedule, and the name of its author.
    certified, certified_by
        The best bound whose evidence was checked, and the name of its author; 1 without evidence
        at first.
    claims
        The best bound without evidence, per seat.
    drafts
        The best near-solution per number of steps.
    """

    instance: Instance
    schedule: Schedule | None = None
    found_by: str = ""
    certified: LowerBound = field(default_factory=lambda: LowerBound(1))
    certified_by: str = ""
    claims: dict[int, int] = field(default_factory=dict)
    drafts: dict[int, Draft] = field(default_factory=dict)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The instance as JSON."""
        return self.instance.to_json()

    @cached_property
    def _network(self) -> Network:
        """The checker's own reading of the instance, once for all evidence."""
        return Network(self.record)

    @property
    def best(self) -> int | None:
        """Steps of the best schedule."""
        return None if self.schedule is None else len(self.schedule.steps)

    @property
    def lower(self) -> int:
        """The best lower bound, certified or claimed."""
        return max(self.certified.steps, max(self.claims.values(), default=1))

    @property
    def best_claim(self) -> int | None:
        """The seat whose claim is above the best checked bound, or ``None``."""
        if self.lower == self.certified.steps:
            return None
        return max(self.claims, key=self.claims.__getitem__)

    def offer(self, author: str, steps: Steps, target: int | None = None) -> bool:
        """Verify a schedule and keep it if it is the new best; return whether it was kept.

        A schedule of more than ``target`` steps is not kept.

        Raises
        ------
        ContractError
            If the schedule is invalid.
        """
        violations = self._verify(steps)
        if violations:
            more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
            raise ContractError(f"offered an invalid schedule: {violations[0].text[:300]}{more}")
        schedule = Schedule(self.instance, steps)
        if target is not None and len(steps) > target:
            return False
        if self.schedule is not None and schedule.cost >= self.schedule.cost:
            return False
        self.schedule, self.found_by = schedule, author
        return True

    def refuted_claims(self, best: int) -> list[int]:
        """Withdraw the claims above the steps of a verified schedule; return their seats."""
        wrong = [seat for seat, steps in self.claims.items() if steps > best]
        for seat in wrong:
            del self.claims[seat]
        return wrong

    def claim(self, seat: int, steps: int) -> bool:
        """Keep a bound without evidence; return whether it improves the best bound."""
        before = self.lower
        self.claims[seat] = max(steps, self.claims.get(seat, 1))
        return self.lower > before

    def prove(self, author: str, steps: int, evidence: Mapping[str, Any]) -> bool:
        """Check a bound's evidence; return whether it improves the best checked bound.

        Raises
        ------
        ContractError
            If the evidence proves less than the bound.
        """
        try:
            proven = shown_steps(self._network, evidence)
        except EvidenceError as error:
            raise ContractError(f"gave evidence that proves nothing: {str(error)[:300]}") from None
        if proven < steps:
            raise ContractError(f"gave evidence for {proven} steps, not for {steps}")
        if proven <= self.certified.steps and self.certified_by:
            return False
        self.certified, self.certified_by = LowerBound(proven, dict(evidence)), author
        return True

    def suggest(self, author: str, count: int, steps: Steps) -> bool:
        """Keep a near-solution if it is the best of its number of steps; return whether it is."""
        wrong = len(self._verify(steps))
        if count in self.drafts and wrong >= self.drafts[count].violations:
            return False
        self.drafts[count] = Draft(author, wrong, steps)
        return True

    def _verify(self, steps: Steps) -> tuple[Violation, ...]:
        try:
            return verify(self.instance, steps)
        except (OverflowError, ValueError, TypeError) as error:
            raise ContractError(f"sent steps that the referee cannot read: {error}") from None
