"""The fewest rounds of schedules of a given number of steps, with proofs."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from cchybrid.host import certificates
from cchybrid.host import events as ev
from cchybrid.host.arguments import read_budget, read_seed
from cchybrid.host.blackboard import Blackboard
from cchybrid.host.callbacks import Callbacks
from cchybrid.host.instances import given_instance
from cchybrid.host.run_config import RunConfig
from cchybrid.host.run_result import RunResult
from cchybrid.host.schedule_task import ScheduleTask
from cchybrid.host.session import Session
from cchybrid.host.task import Host
from cchybrid.host.versions import versions
from cchybrid.host.wire import Line
from cchybrid.library.graphs import EXACT
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.model.text import printable
from cchybrid.model.whole_numbers import whole
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.expressed import refuse_slots_ticks_groups
from cchybrid.plugin.records import EngineInfo
from cchybrid.plugin.strategy import Arm, Phase
from cchybrid.proof.reach import explain, farthest, unreachable

from .proof.round_bounds import RoundsBound, round_bound

DEFAULT_SECONDS = 60.0
MAX_TRIALS = 8
"""Numbers of rounds that are tried one after another, from the bound upwards."""


@dataclass(frozen=True, kw_only=True, repr=False)
class RoundsResult(RunResult):
    """A schedule of few rounds, verified by the referee, and the bound on rounds per chunk.

    Further attributes are those of ``RunResult``.

    Attributes
    ----------
    instance
        The instance with its chunks, in the switching that is used.
    steps
        The largest number of steps.
    schedule
        The schedule, whose instance names the rounds of every step; ``None`` if none was found.
    bound
        Rounds per chunk that every schedule of at most that many steps needs, with evidence, or
        ``None``.
    certificate
        The ``cchybrid-certificate/2`` object of the bound, or ``None``.
    """

    instance: Instance
    steps: int
    schedule: Schedule | None
    bound: RoundsBound | None
    certificate: dict[str, Any] | None

    @property
    def chunks(self) -> int:
        """The number of chunks of every message."""
        return self.instance.collective.chunks

    @property
    def rounds(self) -> int | None:
        """The rounds of all steps of the schedule together."""
        return None if self.schedule is None else sum(self.schedule.rounds)

    @property
    def ratio(self) -> Fraction | None:
        """The rounds per chunk of the schedule."""
        return None if self.rounds is None else Fraction(self.rounds, self.chunks)

    @property
    def rounds_needed(self) -> int:
        """Rounds that the bound proves every schedule of as many chunks and steps to need."""
        return 1 if self.bound is None else ceil(self.bound.ratio * self.chunks)

    @property
    def certified(self) -> bool:
        """Whether no schedule of as many chunks, in at most as many steps, has fewer rounds."""
        return self.bound is not None and self.rounds == self.rounds_needed

    @property
    def sentence(self) -> str:
        """The verdict in one line: rounds, steps, and whether fewer are impossible."""
        found, name = self.schedule, printable(self.instance.full_name)
        if found is None:
            return f"{name}: no schedule of {counted(self.steps, 'step')} was found"
        each = "+".join(map(str, found.rounds))
        word = "optimal (certified)" if self.certified else f"at least {self.rounds_needed}"
        steps, rounds = counted(len(found.steps), "step"), counted(self.rounds or 0, "round")
        return f"{name}: {rounds} in {steps} ({each}), {word}"

    def details(self) -> list[str]:
        """Return what switches do, and the bound, if there are any."""
        lines = switches_line(self.instance)
        if self.bound is None:
            return lines
        return [
            *lines,
            f"bound: at most {self.steps} steps need {self.bound.ratio} rounds per chunk or "
            f"more, whatever the number of chunks ({self.chunks} here)",
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object, fractions as text."""
        found = self.schedule
        return {
            "instance": self.instance.full_name,
            "chunks": self.chunks,
            "steps": self.steps if found is None else len(found.steps),
            "rounds": self.rounds,
            "rounds_per_step": None if found is None else list(found.rounds),
            "ratio": None if self.ratio is None else str(self.ratio),
            "bound": None if self.bound is None else str(self.bound.ratio),
            "certified": self.certified,
            **super().to_json(),
        }


def in_switching(instance: Instance, switching: str | None = None) -> Instance:
    """Return the instance without rounds, in the switching in which chunks move.

    In wormhole switching, terminals beside switches are endpoints: a transfer crosses switches,
    which copy nothing, and is stored by the next terminal. By default it is used where there are
    switches, and all destinations can be reached so; elsewhere, store-and-forward switching.

    Raises
    ------
    InputError
        For time slots, a routing table, or a destination that is not reached through switches.
    """
    refuse_slots_ticks_groups(instance, "rounds")
    network, model = instance.network, instance.model
    switched = network.has_switches
    direct = instance.with_model(rounds=())
    if switched:
        direct = replace(direct, network=replace(network, endpoints=network.terminals))
    if switching is None and switched and not model.hop_by_hop and model.table is None:
        switching = None if unreachable(direct.forward) else "wormhole"
    if switching != "wormhole":
        # A table is kept, to be refused in this switching.
        routing = model.table or "minimal"
        switching = switching or "store-and-forward"
        stored = instance.with_model(switching=switching, routing=routing, rounds=())
        refuse_slots_ticks_groups(stored, "rounds")
        return stored
    if model.table is not None:
        raise InputError(
            "no bound on rounds is proved for a routing table",
            where=instance.name,
            hint="use another routing",
        )
    if switched and (lost := unreachable(direct.forward)):
        where, name = explain(direct, lost), network.node_name
        raise InputError(
            f"no path over switches alone leads from node {name(where.source)} to node "
            f"{name(where.destination)}",
            where=instance.name,
            hint="let nodes store chunks: --switching store-and-forward",
        )
    return direct.with_model(switching=switching)


def fewest_rounds(
    instance: Instance,
    steps: int,
    *,
    switching: str | None = None,
    time_limit: float = DEFAULT_SECONDS,
    seed: int = 0,
    threads: int | None = None,
    stop: Callable[[], object] | None = None,
) -> RoundsResult:
    """Find a schedule of at most ``steps`` steps with the fewest rounds, and prove it.

    Parameters
    ----------
    instance
        The instance, with its chunks; without rounds.
    steps
        The largest number of steps.
    switching
        ``wormhole`` (a transfer crosses switches within its step) or ``store-and-forward``; by
        default the first one where switches alone lead to all destinations.
    time_limit
        Wall-clock seconds.
    seed
        Seed of all random choices.
    threads
        Threads of the solver; by default one per processor.
    stop
        Called several times a second; a true value ends the search.

    Raises
    ------
    InputError
        A message has farther to go than there are steps; or the instance has rounds; or a number
        makes no sense.

    Examples
    --------
    >>> import cchybrid
    >>> instance = cchybrid.instance("dgx-1", "allgather", chunks=2)
    >>> found = cchybrid.fewest_rounds(instance, 2)
    >>> found.rounds, found.schedule.rounds, found.certified
    (3, (1, 2), True)
    """
    began = time.monotonic()
    instance = given_instance(instance, None, unit=EXACT)
    steps, seed = whole(steps, "steps"), read_seed(seed)
    budget = read_budget(time_limit, None, threads, None, DEFAULT_SECONDS)
    if instance.model.rounds:
        raise InputError("the rounds are what is minimised", where=instance.name, hint="drop them")
    chunked = in_switching(instance, switching)
    fewest_steps(chunked, steps, "steps")
    task = RoundsTask(chunked, steps, round_bound(chunked.in_chunks(1), steps))
    return replace(search(task, budget, seed, stop), seconds=time.monotonic() - began)


def fewest_steps(instance: Instance, steps: int | None, where: str) -> int:
    """Return the fewest steps of an instance.

    Raises
    ------
    InputError
        These are fewer.
    """
    fewest = farthest(instance)
    if steps is not None and steps < fewest:
        raise InputError(
            f"a message has {fewest} {transfers(instance)} to go, above {counted(steps, 'step')}",
            where=where,
            hint=f"name {fewest} or more, as fewer are impossible",
        )
    return fewest


def transfers(instance: Instance) -> str:
    """Return the word for what a message takes one of in a step."""
    return "hops" if instance.model.hop_by_hop else "transfers"


def switches_line(instance: Instance) -> list[str]:
    """Return the line that says what switches do, if there are any."""
    if not instance.network.has_switches:
        return []
    if instance.model.hop_by_hop:
        return [
            "switches store and copy here: a hop to a switch and one from it take a step each; "
            "with --switching wormhole they cut through, where they alone lead to all destinations"
        ]
    return [
        "switches cut through and copy nothing: a transfer crosses them within its step, other "
        "nodes store it; with --switching store-and-forward a step is a hop"
    ]


def search(
    task: "RoundsTask", budget: Budget, seed: int, stop: Callable[[], object] | None
) -> RoundsResult:
    """Return the result of a search."""
    config = RunConfig(engines=[ENGINE], bounds=(), budget=budget, seed=seed)
    result: RoundsResult = Session(task, config, callbacks=Callbacks(stop)).run()
    return result


ENGINE = EngineInfo(
    "fewest-rounds", "cchybrid_plugins.pipelining.fewest_rounds:FewestRounds", "", rounds="any"
)


class RoundsTask(ScheduleTask):
    """The state of a search for the fewest rounds.

    Parameters
    ----------
    instance
        The instance with its chunks, as ``in_switching`` returns it.
    steps
        The largest number of steps.
    bound
        A bound on the rounds per chunk for this number of steps.
    totals
        The numbers of rounds to try, in order; by default from the bound upwards.
    """

    def __init__(
        self, instance: Instance, steps: int, bound: RoundsBound | None, totals: Sequence[int] = ()
    ) -> None:
        super().__init__(instance, provable=False)
        self.blackboard = Blackboard(instance, lambda schedule: sum(schedule.rounds))
        self.steps, self.bound = steps, bound
        lowest = 1 if bound is None else ceil(bound.ratio * instance.collective.chunks)
        first = max(lowest, farthest(instance))
        self.totals = [*totals] or [*range(first, first + MAX_TRIALS)]

    @property
    def is_settled(self) -> bool:
        """Whether there is a schedule of the fewest rounds that are tried."""
        return self.best is not None and self.best <= self.totals[0]

    def start(self, config: RunConfig, host: Host) -> Iterator[tuple[ev.Opened | None, ev.Event]]:
        """Yield nothing: the bound is known, and the farthest destination can be reached."""
        yield from ()

    def phases(self, config: RunConfig) -> Iterator[Phase]:
        """Yield one phase."""
        yield Phase((Arm(ENGINE, config.budget.threads),))

    def job(self, config: RunConfig, arm: Arm | None = None) -> Line:
        """Return the job of ``ScheduleTask``, and the numbers to try."""
        settings = {"steps": self.steps, "totals": self.totals}
        return {**super().job(config, arm), "seed": config.seed, "settings": settings}

    def schedule_of(self, event: ev.Offer) -> Schedule:
        """Return the schedule whose instance has the rounds of the event."""
        model = replace(self.instance.model, rounds=event.rounds)
        return Schedule(self.instance.with_model_of(model), event.steps)

    def result(self, config: RunConfig, observer_troubles: Sequence[str] = ()) -> RoundsResult:
        """Return the result of the run, with the certificate of the bound."""
        found = self.schedule
        proof = None
        if self.bound is not None:
            proof = certificate(found or Schedule(self.instance, ()), self.bound)
        return RoundsResult(
            instance=self.instance,
            steps=self.steps,
            schedule=found,
            bound=self.bound,
            certificate=proof,
            **self.common(config, observer_troubles, self.options),
        )


def certificate(schedule: Schedule, bound: RoundsBound) -> dict[str, Any]:
    """Return the certificate of a bound; with a schedule, the checker has accepted the two."""
    record = schedule.instance.to_json()
    claim = {"steps": bound.steps, "rounds_per_chunk": str(bound.ratio)}
    found = certificates.certificate(record, claim, bound.evidence, versions())
    if schedule.steps:
        certificates.check_rounds(schedule.to_json(), found)
    return found
