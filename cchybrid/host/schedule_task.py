"""The task of a run on one instance: the shortest schedule, and its proof."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from cchybrid.checker import proves_infeasible
from cchybrid.host import events as ev
from cchybrid.host.blackboard import Blackboard
from cchybrid.host.effort_counter import EffortCounter, unfinished
from cchybrid.host.first_bounds import first_bounds
from cchybrid.host.first_schedule import first_schedule
from cchybrid.host.incumbent import Incumbent
from cchybrid.host.result import Result, Status
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_history import PROOF_ARM, Contribution, HistoryView, RunHistory
from cchybrid.host.strategies import one_by_one
from cchybrid.host.task import ContractError, Host, Task, WorkerState
from cchybrid.host.wire import Line
from cchybrid.model import Instance, LowerBound, Schedule, Steps
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.plugin.strategy import Arm, Phase, planned
from cchybrid.problem import count_deliveries, is_ordered, too_large
from cchybrid.proof.parts import infeasibility

HOST_GREEDY = "host greedy"
"""Name under which the host's own schedule is reported."""
INITIAL = "initial schedule"
"""Name under which the schedule is reported from which the caller lets a run start."""
BOUNDS = "bound providers"
"""Name of the worker of the bound providers without one of their own."""


class ScheduleTask(Task):
    """The state of a run on one instance.

    Parameters
    ----------
    target
        The user's number of steps, or ``None`` for the fewest.
    provable
        Whether the prover may take part.
    strategy
        The name of the strategy.
    initial
        A verified schedule to start from. Its bound counts if its evidence holds.

    Attributes
    ----------
    fallback
        The host's own schedule. It is not shared with engines, so that their search does not
        depend on it.
    """

    own_events = (ev.Offer, ev.Suggest, ev.Bound, ev.Progress)
    run_class = "cchybrid.host.engine_worker:WorkerRun"

    def __init__(
        self,
        instance: Instance,
        target: int | None = None,
        provable: bool = True,
        strategy: str = "auto",
        initial: Schedule | None = None,
    ) -> None:
        super().__init__(self._history_of(instance, provable), strategy, HOST_GREEDY)
        self.instance, self.name = instance, instance.name
        self.target, self.provable = target, provable
        self.fallback: Incumbent[Schedule] | None = None
        self.blackboard = Blackboard(instance)
        self.effort = EffortCounter(target)
        self._initial = initial
        self._refused_providers: set[str] = set()

    @classmethod
    def of(
        cls, instance: Instance, config: RunConfig, initial: Schedule | None = None
    ) -> "ScheduleTask":
        """Return the task of a run with this configuration."""
        provable = config.certify and not config.blind and instance.horizon == "steps"
        return cls(instance, config.target, provable, config.strategy, initial)

    def _history_of(self, instance: Instance, provable: bool) -> RunHistory:
        hop_by_hop = instance.model.hop_by_hop
        return RunHistory(is_ordered(instance), count_deliveries(instance), provable, hop_by_hop)

    @property
    def shared(self) -> Instance | None:  # type: ignore[override]
        """The instance."""
        return self.instance

    # What is known

    @property
    def record(self) -> dict[str, Any]:  # type: ignore[override]
        """The instance as JSON."""
        return self.blackboard.record

    @property
    def incumbent(self) -> Incumbent[Schedule] | None:
        """The best schedule of an engine or of the host; of equally good ones the earlier one."""
        found = [one for one in (self.blackboard.incumbent, self.fallback) if one is not None]
        return min(found, key=lambda one: (one.cost, one.seconds), default=None)

    @property
    def schedule(self) -> Schedule | None:
        """The best schedule."""
        return None if self.incumbent is None else self.incumbent.value

    @property
    def found_by(self) -> str:
        """The name of the engine or host that found the best schedule, or ""."""
        return "" if self.incumbent is None else self.incumbent.author

    @property
    def found_at(self) -> float:
        """Seconds at which the best schedule was found."""
        return 0.0 if self.incumbent is None else self.incumbent.seconds

    @property
    def best(self) -> int | None:
        """The steps of the best schedule."""
        return None if self.schedule is None else self.blackboard.measure(self.schedule)

    @property
    def lower_by(self) -> str:
        """The name of the worker or provider of the best bound, a checked one in case of a tie."""
        claim = self.blackboard.best_claim
        return self.blackboard.certified_by if claim is None else self.seats[claim].title

    @property
    def is_optimal(self) -> bool:
        """Whether the best schedule meets the best bound, certified or claimed."""
        return self.best is not None and self.best <= self.blackboard.lower

    @property
    def is_settled(self) -> bool:
        """Whether engines have nothing left to do."""
        if self.is_optimal:
            return True
        if self.target is None:
            return False
        return self.blackboard.lower > self.target or (
            self.best is not None and self.best <= self.target
        )

    @property
    def is_certified(self) -> bool:
        """Whether the best schedule meets a bound whose evidence was checked."""
        return self.best is not None and self.best <= self.blackboard.certified.steps

    @property
    def claimed(self) -> int | None:
        """The best bound, if only an engine claims it and the prover may take part."""
        lower = self.blackboard.lower
        return lower if self.provable and lower > self.blackboard.certified.steps else None

    @property
    def proof_goal(self) -> int:
        """The steps of the best schedule, or the best bound."""
        return self.best or self.blackboard.lower

    # Before any worker

    def start(self, config: RunConfig, host: Host) -> Iterator[tuple[ev.Opened | None, ev.Event]]:
        """Yield evidence that there is no schedule, or first schedules and bounds.

        Without any, the run ends. The cheapest bounds are computed unless the user names the
        engines; where the greedy schedule meets them, the run ends without any process.
        """
        evidence = infeasibility(self.instance)
        if evidence is None:
            yield from self._first_events(config, host)
        else:
            proves_infeasible(self.record, evidence)
            yield None, ev.Infeasible(evidence)

    def _first_events(
        self, config: RunConfig, host: Host
    ) -> Iterator[tuple[ev.Opened | None, ev.Event]]:
        yield from self._initial_events(config)
        if config.engines and (reason := too_large(self.instance.forward)):
            yield None, ev.Remarked(f"no engine takes part: a Problem too large to build: {reason}")
        if config.first_schedule:
            with host.part("first schedule"):
                yield None, self._greedy(host)
        if config.first_bounds and self.best is not None:
            yield from first_bounds(self.instance, config.bounds, host, lambda: self.is_optimal)

    def _initial_events(self, config: RunConfig) -> Iterator[tuple[ev.Opened | None, ev.Event]]:
        """Yield the caller's schedule and its bound; engines get them as news."""
        if self._initial is None:
            return
        bound = None if config.blind else self._initial.lower_bound
        offer = ev.Offer(self._initial.steps, 0, "", sums=self._initial.sums)
        yield ev.Opened(INITIAL, "host"), offer
        if bound is not None and bound.evidence:
            yield ev.Opened(INITIAL, "bounds"), ev.Bound(bound.steps, bound.evidence)

    def _greedy(self, host: Host) -> ev.Event:
        """Return the host's own greedy schedule, or a remark."""
        steps = first_schedule(self.instance, host.should_stop)
        if steps is not None:
            return ev.Offer(steps, 0, "")
        size = f"{self.history.deliveries:,} deliveries"
        return ev.Remarked(f"too large for a greedy schedule in the time limit: {size}")

    # Workers

    def news(self) -> list[Line]:
        """Return the best schedule and the near-solutions as news for a new worker."""
        return self.blackboard.news()

    def job(self, config: RunConfig, arm: Arm | None = None) -> Line:
        """Return the target and the best bound, and what an arm works on."""
        found: Line = {"target": self.target, "blind": config.blind, "lower": self.blackboard.lower}
        if arm is not None:
            found["view"] = arm.view
            found |= {"several_rounds": arm.engine.rounds != "one", "horizons": arm.engine.horizons}
            found["quotients"] = asdict(config.quotient_options)
        return found

    def bound_jobs(self, config: RunConfig) -> dict[str, Line]:
        """Return the jobs of the bound providers: those without a worker of their own share one."""
        jobs: dict[str, Line] = {}
        for info in config.bounds:
            name = f"bound provider {info.name}" if info.own_worker else BOUNDS
            jobs.setdefault(name, {"providers": []})["providers"].append(asdict(info))
        return jobs

    def phases(self, config: RunConfig) -> Iterator[Phase]:
        """Return the phases of the strategy; with an evaluation budget, one engine after another.

        So a run with an evaluation budget is repeatable.
        """
        threads = config.budget.threads
        if not config.engines or too_large(self.instance.forward):
            return iter(())
        if config.budget.evaluations is not None:
            return one_by_one(config.engines, threads)
        options = config.strategy_options
        seen: Any = HistoryView(self.history)
        return planned(config.strategy_target, config.engines, threads, seen, options)

    # Events

    def opened(self, worker: WorkerState) -> None:
        """See ``Task.opened``."""
        if worker.opened.role == "engine":
            self.effort.start(worker.title)

    def ended(self, worker: WorkerState, event: ev.End) -> None:
        """See ``Task.ended``."""
        self.effort.end(worker.title, event)

    def applied(self) -> None:
        """See ``Task.applied``: a withdrawn claim decreases the bound."""
        self.history.lower = self.blackboard.lower

    def withdraw(self, seat: int) -> None:
        """See ``Task.withdraw``."""
        if self.blackboard.claims.pop(seat, None) is not None:
            self._share({"lower": self.blackboard.lower}, seat)

    def take(self, seat: int, worker: WorkerState, event: ev.Event) -> None:
        """See ``Task.take``."""
        name = worker.title
        match event:
            case ev.Offer() if worker is self.seats[0]:
                self._take_fallback(worker, event)
            case ev.Offer():
                self._take_offer(seat, worker, event)
            case ev.Suggest(draft, steps):
                self._take_draft(seat, name, draft, steps)
            case ev.Bound():
                self._take_bound(seat, worker, event)
            case ev.Progress(steps, conflicts):
                self.effort.progress(steps, conflicts)
                self._announce("progress", engine=name, steps=steps, conflicts=conflicts)

    def schedule_of(self, event: ev.Offer) -> Schedule:
        """Return the schedule that an event offers."""
        return Schedule(self.instance, event.steps, sums=event.sums)

    def _take_fallback(self, worker: WorkerState, event: ev.Offer) -> None:
        """Verify the host's schedule on a separate blackboard, and keep it."""
        blackboard = self.blackboard.empty()
        if blackboard.offer(worker.title, self.schedule_of(event), self.target, self.now):
            self.fallback = blackboard.incumbent
            # No gain of an arm: those of engines, which do not know it, are among themselves.
            self.history.contributions.append(self._entry(worker.title, "", blackboard.best))
            self._announce_schedule(worker.title, blackboard.best, "")
            self._refute_claims()

    def _announce_schedule(self, name: str, steps: int | None, how: str) -> None:
        lower = self.blackboard.lower
        self._announce("schedule", engine=name, steps=steps, lower=lower, how=how)

    def _take_offer(self, seat: int, worker: WorkerState, event: ev.Offer) -> None:
        blackboard, name = self.blackboard, worker.title
        better = blackboard.offer(name, self.schedule_of(event), self.target, self.now)
        self.offered = True
        if not better:
            return
        self.effort.best(name, event.spent, self.done)
        self.improved_at = self.now
        if self.incumbent is blackboard.incumbent:
            self._announce_schedule(name, blackboard.best, event.how)
        known = {other.title for other in self.seats.values()}
        seeded_by = event.seeded_by if event.seeded_by in known else ""
        self._contributed(worker, name, "schedule", event.how, seeded_by=seeded_by)
        # Optimality of a better schedule is a new goal for the prover.
        self.history.finished.discard(PROOF_ARM)
        self._share(self.blackboard.best_news(), seat)
        self._refute_claims()

    def _refute_claims(self) -> None:
        """End the workers that claim more steps than the best schedule has."""
        best = self.best
        for claimant in [] if best is None else self.blackboard.refuted_claims(best):
            self._distrust(claimant, f"claimed a bound that a schedule of {best} steps beats")

    def _take_bound(self, seat: int, worker: WorkerState, event: ev.Bound) -> None:
        blackboard, steps, evidence = self.blackboard, event.steps, event.evidence
        author = event.provider or worker.title
        if author in self._refused_providers:
            return
        if evidence is not None:
            try:
                better = blackboard.prove(author, steps, evidence)
            except ContractError as error:
                if worker.opened.role not in ("bounds", "proof", "host"):
                    raise
                # Providers share a worker or the host, which the others still need.
                self._refused_providers.add(author)
                self._trouble(f"bound {author}: {error}")
                return
        elif not worker.opened.proves:
            raise ContractError("claimed a bound although it is not registered as exact")
        elif event.complete:
            if self.best is not None and steps > self.best:
                raise ContractError(
                    f"claimed a bound of {steps} steps, but a verified schedule has {self.best}"
                )
            better = blackboard.claim(seat, steps)
        else:
            return  # holds for the sampled paths only
        if better:
            checked = evidence is not None
            # A proof below the best claim is one of what it proves.
            shown = blackboard.certified.steps if checked else blackboard.lower
            self._announce("bound", engine=author, steps=shown, certified=checked)
            self._contributed(worker, author, "bound", checked=checked)
            self._share({"lower": blackboard.lower}, seat)

    def _take_draft(self, seat: int, name: str, count: int, steps: Steps) -> None:
        """Share a near-solution that is kept, and record the best of its author."""
        own = self.blackboard.fewest_violations(count, name)
        fewest = self.blackboard.fewest_violations(count)
        number = self.blackboard.suggest(name, count, steps)
        if number is None:
            return
        self._share(self.blackboard.draft_news(count, name, number), seat)
        violations = self.blackboard.drafts[count][name][number].violations
        if violations < own:
            self._announce("draft", engine=name, steps=count, violations=violations)
            how = f"{count} steps, {counted(violations, 'violated rule')}"
            draft = self._entry(name, how, self.blackboard.best, "draft")
            self.history.drafted(draft, is_gain=violations < fewest)

    def _entry(self, by: str, how: str, steps: int | None, what: str = "schedule") -> Contribution:
        lower, certified = self.blackboard.lower, self.blackboard.best_claim is None
        return Contribution(round(self.now, 3), by, how, what, steps, lower, certified)

    def _contributed(
        self,
        worker: WorkerState,
        author: str,
        what: str,
        how: str = "",
        *,
        checked: bool = False,
        seeded_by: str = "",
    ) -> None:
        blackboard = self.blackboard
        # A proof below the best claim counts with the value that it proves.
        lower = blackboard.certified.steps if checked else blackboard.lower
        certified = blackboard.certified.steps >= lower
        seconds, best = round(self.now, 3), blackboard.best
        entry = Contribution(seconds, author, how, what, best, lower, certified, seeded_by)
        self.history.contributed(worker.arm, entry)

    def result(self, config: RunConfig, observer_troubles: Sequence[str] = ()) -> Any:
        """Return the result of the run."""
        infeasible, certified = self.infeasible, self.blackboard.certified
        if self.best is not None and max(1, self.best) < certified.steps:
            raise InputError(
                f"a verified schedule of {self.best} steps, a certified bound of {certified.steps}",
                where=self.instance.name,
                hint="one of them is wrong; report this defect",
            )
        bound = certified
        if self.blackboard.lower > bound.steps:
            bound = LowerBound(self.blackboard.lower)
        options = {
            config.strategy: asdict(config.strategy_options),
            "quotients": asdict(config.quotient_options),
            **self.options,
        }
        common, schedule = self.common(config, observer_troubles, options), self.schedule
        if schedule is not None:
            made_by = {
                "version": common["versions"]["cchybrid"],
                "engine": self.found_by,
                "seed": config.seed,
                "seconds": round(self.found_at, 3),
                "strategy": config.strategy,
                "budget": common["budget"],
            }
            schedule = replace(schedule, lower_bound=bound, made_by=made_by)
        if infeasible is not None:
            bound = certified = LowerBound(1, dict(infeasible))
        return Result(
            instance=self.instance,
            status=self._status(),
            schedule=schedule,
            lower_bound=bound,
            certified=bound.steps == certified.steps,
            certified_bound=certified,
            bound_by="reach" if infeasible is not None else self.lower_by,
            engine=self.found_by,
            seconds_to_best=self.found_at,
            strategy=config.strategy,
            target=self.target,
            contributions=tuple(self.history.contributions),
            unfinished=() if self.done else unfinished(self.seats.values()),
            **self.effort.facts(schedule is not None, self.incumbent is self.blackboard.incumbent),
            **common,
        )

    def _status(self) -> Status:
        too_few = self.target is not None and self.blackboard.lower > self.target
        if self.infeasible is not None or too_few:
            return "infeasible"
        if self.is_optimal:
            return "optimal"
        return "unknown" if self.schedule is None else "feasible"
