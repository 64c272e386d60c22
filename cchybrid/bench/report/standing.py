"""What stands per row: the best schedule and bound of all runs, against what was published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from cchybrid.bench.contestant import labels
from cchybrid.bench.report.reading import Outcome, Reading
from cchybrid.bench.row import Row
from cchybrid.host.run_history import Contribution

STUDY = "conflict study"
VERDICTS = ("better", "equal", "worse", "new", "not comparable", STUDY, "no result")


@dataclass(frozen=True)
class Standing:
    """What stands in one row.

    Attributes
    ----------
    row, outcomes
        The row, and what its runs amount to.
    steps
        The fewest steps of a verified schedule.
    lower_bound
        The best certified bound of any run: bounds are of the instance, whoever found them.
    claimed
        A better bound that an engine claims without checkable evidence.
    infeasible
        ``certified`` or ``claimed`` if there is no schedule, else "".
    best
        The label of the contestant that was best: fewest steps, then least time.
    engine
        Who found its schedule.
    seconds_to_best, seconds
        Means over the seeds with which it reached those steps.
    course
        Who found what in its first run to have them; without a schedule, in the run with the
        best bound. Empty where the store does not tell.
    """

    row: Row
    outcomes: tuple[Outcome, ...]
    steps: int | None = None
    lower_bound: int | None = None
    claimed: int | None = None
    infeasible: str = ""
    best: str = ""
    engine: str = ""
    seconds_to_best: float | None = None
    seconds: float | None = None
    course: tuple[Contribution, ...] = ()

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.row.name

    @property
    def collective(self) -> str:
        """The collective in capitals; ``(file)`` where an instance file says it."""
        return (self.row.question.collective or "(file)").upper()

    @property
    def is_study(self) -> bool:
        """Whether the row is about the conflicts that are left, not about schedules."""
        return self.row.fixed_steps is not None

    @property
    def routing(self) -> str:
        """The routing; "" where it is the instance file's or has no meaning."""
        asked = self.row.question
        if asked.routing is not None:
            return str(asked.routing)
        return "" if asked.switching == "store-and-forward" or not asked.collective else "minimal"

    @property
    def counted(self) -> tuple[Outcome, ...]:
        """The outcomes that hold."""
        return tuple(outcome for outcome in self.outcomes if not outcome.failure)

    @property
    def proof(self) -> str:
        """``certified`` or ``claimed`` if nothing is left to be done, else ""."""
        if self.infeasible:
            return self.infeasible
        if self.steps is None:
            return ""
        if self.steps == self.lower_bound:
            return "certified"
        return "claimed" if self.steps == self.claimed else ""

    @property
    def state(self) -> str:
        """What became of it.

        ``optimal``, ``infeasible``, ``open``, ``nothing found``, ``failed``, ``not run`` or
        ``conflict study``.
        """
        if not self.counted:
            return "failed" if self.outcomes else "not run"
        if self.is_study:
            return STUDY
        if self.infeasible:
            return "infeasible"
        if self.steps is None:
            return "nothing found"
        return "optimal" if self.proof else "open"

    @property
    def gap(self) -> int | None:
        """Steps above the best bound, certified or claimed; ``None`` without a schedule."""
        if self.steps is None:
            return None
        return self.steps - max(self.lower_bound or 0, self.claimed or 0)

    @property
    def story(self) -> str:
        """Whose schedules led to the best one: ``classical 69, tabu on quotients 64 (how)``.

        Everyone's last, in the order of time, and how the best was found; "" if nobody tells.
        """
        latest: dict[str, Contribution] = {}
        for entry in self.course:
            if entry.what == "schedule":
                latest.pop(entry.author, None)
                latest[entry.author] = entry
        if not latest:
            return ""
        *_, best = latest.values()
        words = ", ".join(f"{entry.author} {entry.steps}" for entry in latest.values())
        return f"{words} ({best.how})" if best.how else words

    @property
    def verdict(self) -> str:
        """Our steps against the published ones: one of ``VERDICTS``."""
        published = self.row.published
        if not self.counted:
            return "no result"
        if self.is_study:
            return STUDY
        if not published.comparable:
            return "not comparable"
        if published.steps is None:
            return "new" if self.steps is not None or self.infeasible else "no result"
        if self.steps is None or self.steps > published.steps:
            return "worse"
        return "equal" if self.steps == published.steps else "better"

    @property
    def bound_verdict(self) -> str:
        """Our certified bound against theirs: ``tighter``, ``equal``, ``weaker``, ``refuted``.

        ``refuted``: our schedule has fewer steps than their bound allows. "": nothing to compare.
        """
        published = self.row.published
        if published.lower_bound is None or not published.comparable or not self.counted:
            return ""
        if self.infeasible:
            return ""
        if self.steps is not None and published.lower_bound > self.steps:
            return "refuted"
        ours = self.lower_bound or 0
        if ours == published.lower_bound:
            return "equal"
        return "tighter" if ours > published.lower_bound else "weaker"

    @property
    def published_is_impossible(self) -> bool:
        """Whether a certified bound exceeds the published steps: theirs is no such schedule."""
        published = self.row.published
        if not published.comparable or published.steps is None:
            return False
        return self.infeasible == "certified" or (self.lower_bound or 0) > published.steps

    @property
    def target(self) -> int | None:
        """The fewest steps known, ours or published, but never below the certified bound."""
        known = [] if self.steps is None else [self.steps]
        if self.row.published.comparable and self.row.published.steps is not None:
            known.append(self.row.published.steps)
        return max(min(known), self.lower_bound or 0) if known else None

    @property
    def goal(self) -> int | None:
        """The steps of a success beside published rates: theirs, else the fewest known."""
        published = self.row.published
        if published.comparable and published.goal is not None:
            return published.goal
        return self.target

    def reached(self, outcome: Outcome) -> bool:
        """Whether a run is a success: it reached the fewest steps known, or the row's bound."""
        if outcome.failure:
            return False
        if self.infeasible:
            return outcome.infeasible
        return (
            outcome.steps is not None and self.target is not None and outcome.steps <= self.target
        )


def standings(reading: Reading) -> tuple[Standing, ...]:
    """Return what stands in every row, in the suite's order."""
    names = labels(reading.contestants)
    return tuple(_stand(row, reading.outcomes[row.name], names) for row in reading.rows)


def _stand(row: Row, outcomes: tuple[Outcome, ...], names: Mapping[str, str]) -> Standing:
    counted = [outcome for outcome in outcomes if not outcome.failure]
    scheduled = [outcome for outcome in counted if outcome.steps is not None]
    certified = [
        o.lower_bound if o.certified else o.beneath
        for o in counted
        if (o.certified or o.beneath) and not o.infeasible
    ]
    bound = max(certified, default=None)
    none = [outcome for outcome in counted if outcome.infeasible]
    if not scheduled:
        word = "certified" if any(outcome.certified for outcome in none) else "claimed"
        claimed = _claimed(counted, bound, None)
        return Standing(
            row,
            outcomes,
            None,
            bound,
            claimed,
            infeasible=word if none else "",
            course=_first(counted, lambda o: -o.lower_bound).course if counted else (),
        )
    steps = min(outcome.steps for outcome in scheduled if outcome.steps is not None)
    there: dict[str, list[Outcome]] = {}
    for outcome in scheduled:
        if outcome.steps == steps:
            there.setdefault(outcome.contestant.key, []).append(outcome)
    means = {key: fmean(o.seconds_to_best for o in runs) for key, runs in there.items()}
    key = min(there, key=lambda each: (means[each], each))
    return Standing(
        row=row,
        outcomes=outcomes,
        steps=steps,
        lower_bound=bound,
        claimed=_claimed(counted, bound, steps),
        best=names[key],
        engine=_most(outcome.engine for outcome in there[key]),
        seconds_to_best=means[key],
        seconds=fmean(outcome.seconds for outcome in there[key]),
        course=_first(there[key], lambda outcome: outcome.seconds_to_best).course,
    )


def _first(outcomes: Sequence[Outcome], order: Callable[[Outcome], float]) -> Outcome:
    return min(outcomes, key=lambda o: (order(o), o.contestant.key, o.seed))


def _claimed(counted: Sequence[Outcome], bound: int | None, steps: int | None) -> int | None:
    """Return the best bound that is only claimed, if it says more and no schedule refutes it."""
    found = [
        outcome.lower_bound
        for outcome in counted
        if not outcome.certified
        and not outcome.infeasible
        and outcome.lower_bound > (bound or 0)
        and (steps is None or outcome.lower_bound <= steps)
    ]
    return max(found, default=None)


def _most(names: Iterable[str]) -> str:
    everyone = list(names)
    return min(set(everyone), key=lambda name: (-everyone.count(name), name))


def contradictions(standing: Standing, names: Mapping[str, str]) -> list[str]:
    """Return what runs say that verified schedules of other runs refute."""
    if standing.steps is None:
        return []
    found = []
    for outcome in standing.counted:
        title = outcome.title(names)
        if outcome.infeasible:
            found.append(f"{title}: says infeasible, but {standing.steps} steps suffice")
        elif outcome.lower_bound > standing.steps:
            word = "certifies" if outcome.certified else "claims"
            found.append(
                f"{title}: {outcome.bound_by} {word} at least {outcome.lower_bound} steps,"
                f" but {standing.steps} suffice"
            )
    return found
