"""The blackboard of a run: the best verified schedule, the best bounds, near-solutions.

A schedule or a proof of a worker is written only after the referee or the checker has verified it.

References
----------
L. D. Erman, F. Hayes-Roth, V. R. Lesser and D. R. Reddy, The Hearsay-II speech-understanding
system, ACM Computing Surveys 12 (1980) 213-253, https://doi.org/10.1145/356810.356816.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.kinds import shown_steps
from cchybrid.host.incumbent import Incumbent, is_better
from cchybrid.host.task import ContractError
from cchybrid.host.wire import Line, encode_steps
from cchybrid.model import Instance, LowerBound, Schedule, Steps
from cchybrid.model.steps import count_transfers
from cchybrid.referee.verify import Violation, verify_schedule


def steps_of(schedule: Schedule) -> int:
    """Return the number of steps of a schedule."""
    return len(schedule.steps)


MAX_DRAFTS = 4
"""Near-solutions of each author that are kept per number of steps: of three engines a dozen."""

MIN_DISTANCE = 0.5
"""Share of the transfers of a near-solution that another one lacks, or makes in other steps, from
which on both are kept. Near-solutions of one population are closer. Chosen by hand."""

MAX_COMPARED = 50_000
"""Transfers of near-solutions that are compared; a hundredth of a second per 10,000. Of larger ones
each author's best is kept."""


class Draft(NamedTuple):
    """A near-solution, and the number of rules that it violates."""

    violations: int
    steps: Steps

    def resembles(self, other: "Draft") -> bool:
        """Return whether two near-solutions of as many steps are too close to keep both."""
        mine, others = count_transfers(self.steps), count_transfers(other.steps)
        if mine + others > MAX_COMPARED:
            return True
        same = sum(
            len(set(step).intersection(their))
            for step, their in zip(self.steps, other.steps, strict=False)
        )
        return same >= (1.0 - MIN_DISTANCE) * max(mine, others)


@dataclass
class Blackboard:
    """Schedules, bounds and near-solutions of one instance.

    Parameters
    ----------
    measure
        Returns what is to be least of a schedule, and what bounds are about: its steps.

    Attributes
    ----------
    incumbent
        The best verified schedule, and its author.
    certified, certified_by
        The best bound whose evidence was checked, and the name of its author; 1 without evidence
        at first.
    claims
        The best bound without evidence, per seat.
    drafts
        A few near-solutions of each author per number of steps, far from each other. A better one
        of another author replaces none: different searches leave different near-solutions, and each
        engine starts from those of the others.
    """

    instance: Instance
    measure: Callable[[Schedule], int] = steps_of
    incumbent: Incumbent[Schedule] | None = None
    certified: LowerBound = field(default_factory=lambda: LowerBound(1))
    certified_by: str = ""
    claims: dict[int, int] = field(default_factory=dict)
    drafts: dict[int, dict[str, list[Draft]]] = field(default_factory=dict)

    @property
    def record(self) -> dict[str, Any]:
        """The instance as JSON, made anew: a million messages take 280 MB."""
        return self.instance.to_json()

    @cached_property
    def _network(self) -> Network:
        """The checker's own reading of the instance, once for all evidence."""
        return Network(self.record)

    @property
    def schedule(self) -> Schedule | None:
        """The best schedule."""
        return None if self.incumbent is None else self.incumbent.value

    @property
    def best(self) -> int | None:
        """Steps of the best schedule."""
        return None if self.schedule is None else self.measure(self.schedule)

    def empty(self) -> "Blackboard":
        """Return an empty blackboard of the same instance."""
        return Blackboard(self.instance, self.measure)

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

    def offer(
        self, author: str, schedule: Schedule, target: int | None = None, seconds: float = 0.0
    ) -> bool:
        """Verify a schedule and keep it if it is the new best; return whether it was kept.

        A schedule of more than ``target`` steps is not kept.

        Raises
        ------
        ContractError
            If the schedule is invalid.
        """
        violations = self._verify(schedule)
        if violations:
            more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
            raise ContractError(f"offered an invalid schedule: {violations[0].text[:300]}{more}")
        size = self.measure(schedule)
        cost = size, *schedule.cost
        if (target is not None and size > target) or not is_better(cost, self.incumbent):
            return False
        self.incumbent = Incumbent(schedule, cost, author, seconds)
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

    def suggest(self, author: str, count: int, steps: Steps) -> int | None:
        """Keep a near-solution if it is good, and better than those of its author that resemble it.

        Returns
        -------
        int | None
            Its number among those of its author and of as many steps; ``None`` if it is not kept.
        """
        draft = Draft(len(self._verify(Schedule(self.instance, steps))), steps)
        known = self.drafts.setdefault(count, {}).setdefault(author, [])
        alike = [number for number, other in enumerate(known) if draft.resembles(other)]
        if not alike and len(known) < MAX_DRAFTS:
            known.append(draft)
            return len(known) - 1
        if any(known[number].violations <= draft.violations for number in alike):
            return None
        worst = max(alike or range(len(known)), key=lambda number: known[number].violations)
        if known[worst].violations <= draft.violations:
            return None
        known[worst] = draft
        return worst

    def fewest_violations(self, count: int, author: str | None = None) -> float:
        """Return those of the best near-solution of this number of steps, infinite without one.

        ``author``: of one engine; by default of all.
        """
        known = self.drafts.get(count, {})
        drafts = chain(*known.values()) if author is None else known.get(author, [])
        return min((draft.violations for draft in drafts), default=inf)

    def news(self) -> list[Line]:
        """Return the best schedule and the near-solutions as news for a new worker."""
        found = [
            self.draft_news(count, author, number)
            for count, authors in sorted(self.drafts.items())
            for author, known in authors.items()
            for number in range(len(known))
        ]
        return found if self.schedule is None else [*found, self.best_news()]

    def best_news(self) -> Line:
        """Return the best schedule as news."""
        best = self.incumbent
        assert best is not None
        return {"best": self.best, "steps": encode_steps(best.value.steps), "by": best.author}

    def draft_news(self, count: int, author: str, number: int) -> Line:
        """Return a near-solution of this number of steps and author as news."""
        wrong, steps = self.drafts[count][author][number]
        of = {"draft": count, "by": author, "number": number}
        return {**of, "violations": wrong, "steps": encode_steps(steps)}

    def _verify(self, schedule: Schedule) -> tuple[Violation, ...]:
        try:
            return verify_schedule(schedule)
        except (OverflowError, ValueError, TypeError) as error:
            raise ContractError(f"sent steps that the referee cannot read: {error}") from None
