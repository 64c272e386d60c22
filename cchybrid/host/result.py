"""The result of a run: the best verified schedule, the best bound and their evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cchybrid.host.run_history import Contribution
from cchybrid.host.run_result import RunResult
from cchybrid.model import Instance, LowerBound, Schedule
from cchybrid.model.shown import call_view, counted_steps
from cchybrid.model.text import printable
from cchybrid.proof.reach import Unreachable, explain

Status = Literal["optimal", "feasible", "infeasible", "unknown"]

_REASONS = {
    "linear": "all messages together pay more for channels and ports than fewer steps offer",
    "nested-sets": "few channels lead into sets of nodes, one inside the other",
    "refutation": "a propositional proof, checked step by step",
    "exchanges": "each other member must send a part, and receive the sum, at least once",
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(RunResult):
    """The result of ``solve``; further attributes as in ``RunResult``.

    Attributes
    ----------
    instance
        The instance.
    status
        ``optimal`` (verified steps = lower bound), ``feasible``, ``infeasible`` (no schedule
        exists, or none of the target's number of steps), ``unknown`` (none was found in time).
    target
        The number of steps that was searched for, or ``None``.
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
    seconds_to_best
        Seconds from the start of the run until the schedule was found.
    strategy
        The strategy. ``options`` has its values in use, too, and those of quotient searches.
    contributions
        Every better schedule and bound of the run, in order, with its author. Engines do not know
        the host's greedy schedule, so theirs may be worse.
    conflicts
        Conflicts of the best near-solution of the target's number of steps, as counted by the
        engines; 0 with a schedule; ``None`` without a target or without any report.
    evaluations
        Effort of each engine: evaluations until its end, or until its schedule left nothing to do
        (``None`` if the engine crashed).
    evaluations_to_best
        Evaluations of its engine when it offered the schedule, or ``None``.
    unfinished
        Engines that had begun a search which a limit ended, and which could have found more with
        a larger one: none if schedule or bound left nothing to do.
    """

    instance: Instance
    status: Status
    schedule: Schedule | None
    lower_bound: LowerBound
    certified: bool
    certified_bound: LowerBound
    bound_by: str
    engine: str
    seconds_to_best: float
    strategy: str
    contributions: tuple[Contribution, ...] = ()
    conflicts: int | None = None
    evaluations: Mapping[str, int | None] = field(default_factory=dict)
    evaluations_to_best: int | None = None
    unfinished: tuple[str, ...] = ()
    target: int | None = None

    @property
    def sentence(self) -> str:
        """The verdict in one line: steps, status, bound."""
        name, steps = printable(self.instance.full_name), self.steps
        how = "certified" if self.certified else "claimed"
        if self.status == "infeasible":
            lower = counted_steps(self.instance, self.lower_bound.steps)
            reason = f"no schedule has fewer than {lower}"
            if (lost := self.unreachable) is not None:
                reason = lost.words(self.instance.network)
            return f"{name}: infeasible ({how}): {reason}"
        if steps is None and not self.search_seconds:  # as by cchybrid.bound
            lower = counted_steps(self.instance, self.lower_bound.steps)
            return f"{name}: at least {lower} (no engine has searched for a schedule)"
        if steps is None:
            return f"{name}: no schedule found ({self.seconds:.1f} s)"
        if self.status == "optimal":
            return f"{name}: {counted_steps(self.instance, steps)}, optimal ({how})"
        between = f"between {self.lower_bound.steps} and {steps} is open"
        return f"{name}: {counted_steps(self.instance, steps)}; {between}"

    def details(self) -> list[str]:
        """Return the bound with its evidence, and who found the schedule."""
        lines = [] if self.unreachable is not None else [self._bound()]
        if self.schedule is not None:
            lines.append(
                f"found by {self.engine} after {self.seconds_to_best:.2f} s, verified; "
                f"{self.schedule.channel_uses} channel uses; seed {self.seed}; "
                f"{self.seconds:.2f} s in all"
            )
        return lines

    def contributed(self) -> list[str]:
        """Return a line for each engine and bound provider: the best that it added, and when.

        Results that another engine had found before are not contributions.
        """
        latest: dict[tuple[str, str], Contribution] = {}
        for entry in self.contributions:
            latest.pop((entry.author, entry.what), None)
            latest[entry.author, entry.what] = entry
        return [f"{entry.seconds:.2f} s: {entry}" for entry in latest.values()]

    def _bound(self) -> str:
        steps = counted_steps(self.instance, self.lower_bound.steps)
        if not self.certified:
            return (
                f"lower bound: {steps}, claimed by {self.bound_by}, not certified"
                f" (certified: {self.certified_bound.steps})"
            )
        evidence: Mapping[str, Any] = self.lower_bound.evidence
        if not evidence:
            return f"lower bound: {steps} (trivial)"
        part = ""
        if evidence["kind"] == "part":
            ends = ("the reduction to", "to") if "to" in evidence else ("the broadcast of", "from")
            node = self.instance.network.node_name(evidence[ends[1]])
            part, evidence = f" of {ends[0]} node {node} alone", evidence["evidence"]
        kind = str(evidence.get("kind", "trivial"))
        return f"lower bound: {steps}, certified by {kind}{part} ({_REASONS.get(kind, kind)})"

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
    def unreachable(self) -> Unreachable | None:
        """A destination that cannot be reached, if the instance is infeasible for that reason."""
        evidence = self.lower_bound.evidence
        inner = evidence["evidence"] if evidence.get("kind") == "part" else evidence
        return explain(self.instance, evidence) if inner.get("kind") == "unreachable" else None

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``cchybrid solve --json`` prints (without the schedule itself)."""
        unreachable, tick = self.unreachable, self.instance.network.tick
        return {
            "instance": self.instance.full_name,
            "steps": self.steps,
            "lower_bound": self.lower_bound.steps,
            "microseconds": None
            if self.steps is None or tick is None
            else float(self.steps * tick),
            "status": self.status,
            "target": self.target,
            "certified": self.certified,
            "certified_bound": self.certified_bound.steps,
            "evidence": self.lower_bound.evidence.get("kind"),
            "unreachable": None if unreachable is None else unreachable.to_json(),
            "bound_by": self.bound_by,
            "engine": self.engine,
            "seconds_to_best": round(self.seconds_to_best, 3),
            "channel_uses": None if self.schedule is None else self.schedule.channel_uses,
            "strategy": self.strategy,
            "contributions": [entry.to_json() for entry in self.contributions],
            "conflicts": self.conflicts,
            "evaluations": dict(self.evaluations),
            "evaluations_to_best": self.evaluations_to_best,
            "unfinished": list(self.unfinished),
            **super().to_json(),
        }
