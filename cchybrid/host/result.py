"""The result of a run: the best verified schedule, the best bound and their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cchybrid.host.run_history import Contribution
from cchybrid.model import Instance, LowerBound, Schedule
from cchybrid.model.shown import call_view
from cchybrid.proof.reach import Unreachable, explain

Status = Literal["optimal", "feasible", "infeasible", "unknown"]

MIN_OVERRUN_SECONDS, MIN_OVERRUN_SHARE = 1.0, 0.05
"""Seconds, and share of the time limit, up to which a run that took longer is not remarked on."""


@dataclass(frozen=True, repr=False)
class Result:
    """The result of ``solve``.

    Attributes
    ----------
    instance
        The instance.
    status
        ``optimal`` (verified steps = lower bound), ``feasible``, ``infeasible`` (no schedule
        exists, or none of the target's number of steps), ``unknown`` (none was found in time).
    schedule
        The best schedule, verified, or ``None``.
    lower_bound
        The best lower bound; its evidence is empty if an engine only claims it.
    certified
        Whether the evidence of that bound was checked independently.
    certified_bound
        The best bound with checked evidence; it is lower than ``lower_bound`` if that is claimed.
    bound_by, engine
        Names of the finder of the bound and of the schedule ("" for none).
    seconds
        Wall-clock seconds of the whole run.
    seconds_to_best
        Seconds from the start of the run until the schedule was found.
    seed, strategy, budget, versions, options
        Settings of the run. ``options`` has the values in use, defaults included, of the strategy,
        of quotient searches, and of every engine that started.
    troubles
        One line for each engine or plugin that failed, with its name, and for a log that could
        not be written.
    remarks
        One line for each engine that could not work on the instance, with the reason.
    interrupted
        Whether the user interrupted the run, or ended it by ``stop``.
    contributions
        Every better schedule and bound of the run, in order, with its author.
    conflicts
        Conflicts of the best near-solution of the target's number of steps, as counted by the
        engines; 0 with a schedule; ``None`` without a target or without any report.
    evaluations, search_seconds
        Effort of each engine: evaluations until its end, or until its schedule left nothing to do
        (``None`` if the engine crashed), and seconds from the start of its search to its end.
    evaluations_to_best
        Evaluations of its engine when it offered the schedule, or ``None``.
    times
        Wall-clock seconds of the parts of the run, the longest first.
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
    times: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Result of {call_view('summary', 'headline', self)}>"

    def __str__(self) -> str:
        return str(call_view("summary", "verdict_text", self))

    def _repr_html_(self) -> str:
        return str(call_view("notebook", "result_html", self))

    def summary(self) -> str:
        """Return a text for people: verdict, instance, contributions, and a small schedule.

        Nodes are shown by their names.

        Examples
        --------
        >>> import cchybrid
        >>> result = cchybrid.solve("mesh-3x3", "allgather", time_limit=20)
        >>> print(result.summary().splitlines()[0])
        mesh-3x3 AAB: 4 steps, optimal (certified)
        """
        return str(call_view("summary", "summary", self))

    def plot(self) -> Any:
        """Draw the best schedule, its steps beside each other; without one, the network.

        Returns
        -------
        matplotlib.figure.Figure
            Jupyter shows it; ``savefig`` writes it to a file.

        Raises
        ------
        InputError
            The network is too large, or matplotlib is not installed.

        Examples
        --------
        >>> import cchybrid
        >>> figure = cchybrid.solve("mesh-3x3", "broadcast", time_limit=20).plot()
        """
        return self.instance.network.plot() if self.schedule is None else self.schedule.plot()

    @property
    def steps(self) -> int | None:
        """The number of steps of the best schedule, or ``None``."""
        return None if self.schedule is None else len(self.schedule.steps)

    @property
    def overrun(self) -> float:
        """The seconds beyond the time limit; 0 up to a second, or 5 % of a longer limit."""
        limit = self.budget.get("seconds")
        if limit is None:
            return 0.0
        late = self.seconds - float(limit)
        return late if late > max(MIN_OVERRUN_SECONDS, MIN_OVERRUN_SHARE * limit) else 0.0

    @property
    def unreachable(self) -> Unreachable | None:
        """A destination that cannot be reached, if the instance is infeasible for that reason."""
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
            "overrun": round(self.overrun, 3),
            "times": dict(self.times),
        }
