"""The result of a run: the best verified schedule, the best bound, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cchybrid.host.run_history import Contribution
from cchybrid.model import Instance, LowerBound, Schedule
from cchybrid.proof.reach import Unreachable, explain

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Result:
    """What ``solve`` returns.

    Attributes
    ----------
    instance
        What was asked.
    status
        ``optimal`` (verified steps = lower bound), ``feasible``, ``infeasible`` (no schedule, or
        none in the number of steps asked for), ``unknown`` (none was found in time).
    schedule
        The best schedule, verified; ``None`` without one.
    lower_bound
        The best lower bound; its evidence is empty when it is only claimed.
    certified
        Whether the evidence of that bound was checked independently.
    certified_bound
        The best bound whose evidence was: the same one, or a lower one beside a claimed bound.
    bound_by, engine
        Who showed the bound and who found the schedule ("" for none).
    seconds
        Wall-clock time of the whole run.
    seconds_to_best
        When the schedule was found.
    seed, strategy, budget, versions, options
        What makes the run repeatable; ``options`` has those in force, defaults included, of the
        strategy, of searches on quotients, and of every engine that started.
    troubles
        One line for each engine or plugin that misbehaved, with its name.
    remarks
        One line for each engine that had nothing to do here, with the reason.
    interrupted
        Whether the user stopped the run.
    contributions
        Every better schedule and bound of the run, in their order, and what found them.
    conflicts
        Of the best near-solution for the number of steps asked for, by the engines' own count,
        0 with a schedule; ``None`` if none was asked for, or no engine said.
    evaluations, search_seconds
        What each engine spent: evaluations until its end, or until it closed the case (``None``
        if it crashed), and seconds from its start, when it was ready, to its end.
    evaluations_to_best
        What its engine had spent when it offered the schedule; ``None`` without one.
    """

    instance: Instance
    status: Status
    schedule: Schedule | None
    lower_bound: LowerBound
    certified: bool
    certified_bound: LowerBound
    bound_by: str
    engine: str
    seconds: float
    seconds_to_best: float
    seed: int
    strategy: str
    budget: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    interrupted: bool = False
    contributions: tuple[Contribution, ...] = ()
    conflicts: int | None = None
    evaluations: Mapping[str, int | None] = field(default_factory=dict)
    search_seconds: Mapping[str, float] = field(default_factory=dict)
    evaluations_to_best: int | None = None

    @property
    def steps(self) -> int | None:
        """The number of steps of the best schedule, or ``None``."""
        return None if self.schedule is None else len(self.schedule.steps)

    @property
    def unreachable(self) -> Unreachable | None:
        """The destination because of which there is no schedule at all, or ``None``."""
        evidence = self.lower_bound.evidence
        return explain(self.instance, evidence) if evidence.get("kind") == "unreachable" else None

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``cchybrid solve --json`` prints (without the schedule itself)."""
        unreachable = self.unreachable
        return {
            "instance": self.instance.name,
            "steps": self.steps,
            "lower_bound": self.lower_bound.steps,
            "status": self.status,
            "certified": self.certified,
            "certified_bound": self.certified_bound.steps,
            "evidence": self.lower_bound.evidence.get("kind"),
            "unreachable": None if unreachable is None else unreachable.to_json(),
            "bound_by": self.bound_by,
            "engine": self.engine,
            "seconds": round(self.seconds, 3),
            "seconds_to_best": round(self.seconds_to_best, 3),
            "channel_uses": None if self.schedule is None else self.schedule.channel_uses,
            "seed": self.seed,
            "strategy": self.strategy,
            "budget": self.budget,
            "versions": self.versions,
            "options": {name: dict(values) for name, values in self.options.items()},
            "troubles": list(self.troubles),
            "remarks": list(self.remarks),
            "interrupted": self.interrupted,
            "contributions": [entry.to_json() for entry in self.contributions],
            "conflicts": self.conflicts,
            "evaluations": dict(self.evaluations),
            "search_seconds": dict(self.search_seconds),
            "evaluations_to_best": self.evaluations_to_best,
        }
