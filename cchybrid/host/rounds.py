"""The fewest rounds of schedules of a given number of steps, with proofs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any

from cchybrid.host import certificates
from cchybrid.host.instances import instance as named_instance
from cchybrid.host.run_result import RunResult
from cchybrid.host.versions import versions
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Problem, build_problem
from cchybrid.proof.round_bounds import RoundsBound, round_bound
from cchybrid.referee.verify import refuse_invalid
from cchybrid.system.processes import processor_count

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
        The instance with its chunks, in store-and-forward switching.
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
        found, name = self.schedule, self.instance.name
        if found is None:
            return f"{name}: no schedule of {self.steps} steps was found"
        each = "+".join(map(str, found.rounds))
        word = "optimal (certified)" if self.certified else f"at least {self.rounds_needed}"
        return f"{name}: {self.rounds} rounds in {len(found.steps)} steps ({each}), {word}"

    def details(self) -> list[str]:
        """Return the bound, if there is one."""
        if self.bound is None:
            return []
        return [
            f"bound: at most {self.steps} steps need {self.bound.ratio} rounds per chunk or "
            f"more, whatever the number of chunks ({self.chunks} here)"
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object, fractions as text."""
        found = self.schedule
        return {
            "instance": self.instance.name,
            "chunks": self.chunks,
            "steps": self.steps if found is None else len(found.steps),
            "rounds": self.rounds,
            "rounds_per_step": None if found is None else list(found.rounds),
            "ratio": None if self.ratio is None else str(self.ratio),
            "bound": None if self.bound is None else str(self.bound.ratio),
            "certified": self.certified,
            **super().to_json(),
        }


def read_instance(instance: Any, collective: Any = None) -> Instance:
    """Return an instance, or that of a network and a collective."""
    if isinstance(instance, Instance):
        if collective is None:
            return instance
        raise InputError("the instance has one already", where="collective", hint="leave it out")
    return named_instance(instance, collective)


def hop_by_hop(instance: Instance) -> Instance:
    """Return the instance in store-and-forward switching, without rounds; rounds need it."""
    return instance.with_model(switching="store-and-forward", routing="minimal", rounds=())


def fewest_rounds(
    instance: Instance,
    steps: int,
    *,
    bound: RoundsBound | None = None,
    rounds: int | None = None,
    time_limit: float = DEFAULT_SECONDS,
    seed: int = 0,
    threads: int | None = None,
    stop: Callable[[], object] | None = None,
) -> RoundsResult:
    """Find a schedule of at most ``steps`` steps with the fewest rounds, and prove it.

    Parameters
    ----------
    instance
        The instance, with its chunks; taken in store-and-forward switching.
    steps
        The largest number of steps.
    bound
        The bound for this number of steps, if it is known; otherwise it is computed.
    rounds
        The only number of rounds to try; by default from the bound upwards.
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
        A message has farther to go than there are steps.

    Examples
    --------
    >>> import cchybrid
    >>> instance = cchybrid.instance("dgx-1", "allgather", chunks=2)
    >>> found = cchybrid.fewest_rounds(instance, 2)
    >>> found.rounds, found.schedule.rounds, found.certified
    (3, (1, 2), True)
    """
    began = time.monotonic()
    instance = read_instance(instance)
    chunked = hop_by_hop(instance)
    needed = farthest(chunked)
    if steps < needed:
        raise InputError(
            f"a message has {needed} hops to go, more than {steps} steps",
            where="steps",
            hint=f"use at least {needed}",
        )
    if bound is None:
        bound = round_bound(chunked.in_chunks(1), steps)
    lowest = 1 if bound is None else ceil(bound.ratio * chunked.collective.chunks)
    deadline = began + time_limit
    ended = False

    def is_over() -> bool:
        nonlocal ended
        ended = ended or (stop is not None and bool(stop()))
        return ended or time.monotonic() > deadline

    schedule = None
    count = processor_count() if threads is None else threads
    budget = Budget(time_limit, None, count, None)
    first = max(lowest, needed)
    totals = range(first, first + MAX_TRIALS) if rounds is None else [rounds]
    try:
        problem = build_problem(chunked)
        for total in totals:
            if is_over():
                break
            left = deadline - time.monotonic()
            share = left if rounds is not None else left / 2
            schedule = _search(problem, min(steps, total), total, budget, seed, share, is_over)
            if schedule is not None:
                break
    except KeyboardInterrupt:
        ended = True
    return RoundsResult(
        instance=chunked,
        steps=steps,
        schedule=schedule,
        bound=bound,
        certificate=(
            None if bound is None else certificate(schedule or Schedule(chunked, ()), bound)
        ),
        seconds=time.monotonic() - began,
        seed=seed,
        budget=budget.to_json(),
        versions=versions(),
        interrupted=ended,
    )


def farthest(instance: Instance) -> int:
    """Return the largest distance between a source and a destination, in hops.

    Raises
    ------
    InputError
        A destination cannot be reached.
    """
    from cchybrid.checker import Network

    network = Network(instance.to_json())
    distances = []
    for source in {source for source, _ in network.messages}:
        hops = network.hops(source)
        for sender, goals in network.messages:
            if sender == source:
                for goal in goals:
                    if goal not in hops:
                        raise InputError(
                            f"node {goal} cannot be reached from node {source}",
                            where=instance.name,
                            hint="use a connected network",
                        )
                    distances.append(hops[goal])
    return max(distances)


def _search(
    problem: Problem,
    steps: int,
    total: int,
    budget: Budget,
    seed: int,
    seconds: float,
    is_over: Callable[[], bool],
) -> Schedule | None:
    """Return a verified schedule of these numbers of steps and rounds, or ``None``."""
    from cchybrid.toolkit.cpsat.fewest_rounds import decide_rounds
    from cchybrid.toolkit.solver import StoppedError

    try:
        answer = decide_rounds(problem, steps, total, budget, seed, seconds, is_over)
    except StoppedError:
        return None
    if answer.assignment is None:
        return None
    lifted = problem.lift(answer.assignment, steps)
    model = replace(lifted.instance.model, rounds=answer.rounds)
    found = Schedule(lifted.instance.with_model_of(model), lifted.steps)
    refuse_invalid(found)
    return found


def certificate(schedule: Schedule, bound: RoundsBound) -> dict[str, Any]:
    """Return the certificate of a bound; with a schedule, the checker has accepted the two."""
    record = schedule.instance.to_json()
    claim = {"steps": bound.steps, "rounds_per_chunk": str(bound.ratio)}
    found = certificates.certificate(record, claim, bound.evidence, versions())
    if schedule.steps:
        certificates.check_rounds(schedule.to_json(), found)
    return found
