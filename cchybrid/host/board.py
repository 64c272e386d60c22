"""The board: best verified schedule, best bounds, near-solutions, and who is not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Instance, LowerBound, Schedule, Steps
from cchybrid.referee.verify import verify


class ContractError(Exception):
    """A worker said something that is not true; it names what."""


@dataclass
class Board:
    """Everything known about one instance during one run. No processes, no clock.

    Attributes
    ----------
    schedule, found_by
        The best verified schedule and its engine.
    certified
        The best bound whose evidence was checked, and who showed it.
    claims
        Per engine the bound that rests on its word alone.
    scheduled
        Whether any valid schedule was offered, of however many steps.
    drafts
        Per number of steps the best near-solution: its number of violations and its steps.
    """

    instance: Instance
    schedule: Schedule | None = None
    found_by: str = ""
    certified: LowerBound = field(default_factory=lambda: LowerBound(1))
    certified_by: str = ""
    claims: dict[str, int] = field(default_factory=dict)
    drafts: dict[int, tuple[int, Steps]] = field(default_factory=dict)
    scheduled: bool = False

    def __post_init__(self) -> None:
        self._record = self.instance.to_json()

    @property
    def best(self) -> int | None:
        """Steps of the best schedule."""
        return None if self.schedule is None else len(self.schedule.steps)

    @property
    def lower(self) -> int:
        """The best lower bound, certified or claimed."""
        return max(self.certified.steps, max(self.claims.values(), default=1))

    @property
    def lower_by(self) -> str:
        """Who showed the best lower bound; the checked one counts first."""
        if self.lower == self.certified.steps:
            return self.certified_by
        return max(self.claims, key=self.claims.__getitem__)

    @property
    def closed(self) -> bool:
        """Whether nothing is left to find: the best schedule meets the bound."""
        return self.best is not None and self.best <= self.lower

    def offer(self, engine: str, steps: Steps, target: int | None = None) -> bool:
        """Verify an offer; return whether it is the new best and has at most ``target`` steps.

        Raises
        ------
        ContractError
            If the schedule is invalid.
        """
        violations = verify(self.instance, steps)
        if violations:
            more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
            raise ContractError(f"offered an invalid schedule: {violations[0].text}{more}")
        self.scheduled = True
        schedule = Schedule(self.instance, steps)
        if target is not None and len(steps) > target:
            return False
        if self.schedule is not None and schedule.cost >= self.schedule.cost:
            return False
        self.schedule, self.found_by = schedule, engine
        return True

    def refuted_claims(self) -> list[str]:
        """Withdraw the claims that the best schedule beats; return their engines."""
        best = self.best
        wrong = [name for name, steps in self.claims.items() if best is not None and steps > best]
        for name in wrong:
            del self.claims[name]
        return wrong

    def claim(self, engine: str, steps: int) -> bool:
        """Take a bound on an engine's word; return whether it betters the best bound.

        Raises
        ------
        ContractError
            If a verified schedule has fewer steps.
        """
        if self.best is not None and steps > self.best:
            raise ContractError(
                f"claimed a bound of {steps} steps, but a verified schedule has {self.best}"
            )
        before = self.lower
        self.claims[engine] = max(steps, self.claims.get(engine, 1))
        return self.lower > before

    def prove(self, author: str, steps: int, evidence: Mapping[str, Any]) -> bool:
        """Check a bound's evidence; return whether it betters the best checked bound.

        Raises
        ------
        ContractError
            If the evidence proves less than was said.
        """
        try:
            proven = proven_steps(self._record, evidence)
        except EvidenceError as error:
            raise ContractError(f"gave evidence that proves nothing: {error}") from None
        if proven < steps:
            raise ContractError(f"gave evidence for {proven} steps, not for {steps}")
        if proven <= self.certified.steps and self.certified_by:
            return False
        self.certified, self.certified_by = LowerBound(proven, dict(evidence)), author
        return True

    def suggest(self, count: int, steps: Steps) -> bool:
        """Take a near-solution; return whether it is the best of its number of steps."""
        wrong = len(verify(self.instance, steps))
        if count in self.drafts and wrong >= self.drafts[count][0]:
            return False
        self.drafts[count] = wrong, steps
        return True
