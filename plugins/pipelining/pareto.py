"""The front of steps and rounds per chunk: ``pareto``, certified point by point.

With C chunks of every message, S steps and R rounds in all, a schedule takes the time
S * alpha + (R / C) * size * beta. The front has, for every number of steps that gains something,
the fewest rounds per chunk over all numbers of chunks.

1. The fewest steps are the largest distance of a message; with one chunk they give the first point.
2. For each number of steps from there on, the linear program (``proof.round_bounds``) or the
   throughput, whichever is larger, bounds the rounds per chunk for all numbers of chunks.
3. If the bound is below the last point, a schedule is sought that attains it, with the fewest
   chunks for which it is a whole number of rounds; then with multiples of them; then any better
   than the last point.
4. The front is complete when a point attains the throughput: no schedule of more steps is better.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from cchybrid.host.arguments import read_budget, read_count, read_seed
from cchybrid.host.certificates import check_rounds
from cchybrid.host.instances import given_instance
from cchybrid.host.versions import versions
from cchybrid.library.graphs import EXACT
from cchybrid.model import Channel, Instance, Schedule, Transfer
from cchybrid.model.errors import InputError
from cchybrid.model.instance import make_folder
from cchybrid.plugin.engine import Budget
from cchybrid.proof.reach import farthest
from cchybrid.referee.verify import verify_schedule

from .front_files import Stored, read_stored, save_front, write_changed
from .proof.round_bounds import RoundsBound, round_bound
from .rounds import MAX_TRIALS, RoundsTask, certificate, fewest_steps, in_switching, search
from .rounds_front import Front, FrontPoint
from .throughput import ThroughputResult, throughput_of

DEFAULT_SECONDS = 60.0
MAX_CHUNKS = 24
"""Numbers of chunks up to which schedules are sought."""
MAX_NARROWEST = 12
"""Capacity of the narrowest channel up to which schedules are sought on the capacities as they
are."""
MAX_COARSE = 6
"""Capacity that it has at most in the coarser search."""
MAX_FURTHER_STEPS = 16
"""Steps beyond the fewest that are considered."""


def pareto(
    instance: Any,
    collective: Any = None,
    *,
    switching: str | None = None,
    folder: str | Path | None = None,
    time_limit: float = DEFAULT_SECONDS,
    max_chunks: int = MAX_CHUNKS,
    max_steps: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    stop: Callable[[], object] | None = None,
    report: Callable[[FrontPoint], None] | None = None,
) -> Front:
    """Return the front of steps and rounds per chunk, every point with schedule and certificate.

    Parameters
    ----------
    instance, collective
        An ``Instance``; or a network and a collective, as ``cchybrid.instance`` takes them, without
        chunks and rounds.
    switching
        As in ``cchybrid.fewest_rounds``.
    folder
        Where the files are written that show the front (``check FOLDER``). Valid schedules and
        certificates of the instance that lie there, under any name, are used.
    time_limit
        Wall-clock seconds.
    max_chunks
        The largest number of chunks of a message that is tried; more where the narrowest channel
        carries more than ``MAX_NARROWEST``: then each of these is cut again.
    max_steps
        The largest number of steps that is considered.
    seed, threads
        As in ``cchybrid.solve``.
    stop
        Called several times a second; a true value ends the search.
    report
        Called with each point when it is found.

    Raises
    ------
    InputError
        A destination cannot be reached, the folder cannot be written, the instance has chunks or
        rounds, or a number makes no sense.

    Examples
    --------
    >>> import cchybrid
    >>> front = cchybrid.pareto("dgx-1", "allgather")
    >>> [(point.chunks, point.steps, point.rounds) for point in front.points]
    [(1, 2, 2), (2, 2, 3), (6, 3, 7)]
    >>> front.complete
    True
    """
    instance = given_instance(instance, collective, unit=EXACT)
    if instance.collective.chunks > 1 or instance.model.rounds:
        raise InputError(
            "the numbers of chunks and rounds are what is sought",
            where=instance.name,
            hint="drop them",
        )
    budget = read_budget(time_limit, None, threads, None, DEFAULT_SECONDS)
    found = _Search(
        in_switching(instance, switching).in_chunks(1),
        None if folder is None else Path(folder),
        budget,
        read_seed(seed),
        read_count(max_chunks, "max_chunks") or MAX_CHUNKS,
        stop or (lambda: False),
        report or (lambda point: None),
    )
    return found.run(read_count(max_steps, "max_steps"))


def coarse(instance: Instance) -> tuple[Instance, int]:
    """Return the instance in which schedules are sought, and its unit in that of the instance.

    If a round carries many chunks over the narrowest channel, few chunks fill no round. Then
    capacities are divided by the number that loses the least in rounding down, and each chunk of a
    schedule stands for that number of chunks, which fit into the exact capacities.
    """
    network = instance.network
    sizes = {size for *_, size in network.channels}
    narrowest = min(sizes)
    if narrowest <= MAX_NARROWEST:
        return instance, 1
    units = range(narrowest, narrowest // MAX_COARSE, -1)
    unit = min(units, key=lambda unit: max(Fraction(size % unit, size) for size in sizes))
    channels = tuple(Channel(a, b, size // unit) for a, b, size in network.channels)
    return replace(instance, network=replace(network, channels=channels)), unit


def refined(schedule: Schedule, whole: Instance, parts: int, times: int = 1) -> Schedule:
    """Return a schedule of the instance, of ``parts`` chunks for each chunk.

    ``times`` the rounds are used: one of a schedule on ``coarse`` capacities, else the parts.
    """
    steps = tuple(
        tuple(
            Transfer(number * parts + part, path) for number, path in step for part in range(parts)
        )
        for step in schedule.steps
    )
    chunks = schedule.instance.collective.chunks * parts
    rounds = tuple(times * number for number in schedule.instance.model.rounds or (1,))
    found = Schedule(whole.in_chunks(chunks).with_model(rounds=rounds), steps)
    if violations := verify_schedule(found):
        raise ValueError(f"a schedule cut into {parts} parts is not valid: {violations[0].text}")
    return found


@dataclass
class _Search:
    """One search for a front."""

    whole: Instance
    folder: Path | None
    budget: Budget
    seed: int
    max_chunks: int
    stop: Callable[[], object]
    report: Callable[[FrontPoint], None]
    points: list[FrontPoint] = field(default_factory=list)
    bounds: list[tuple[int, Fraction]] = field(default_factory=list)
    stored: Stored = field(default_factory=Stored)
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.searched, self.grain = coarse(self.whole)

    def run(self, max_steps: int | None) -> Front:
        began = time.monotonic()
        _ = self.whole.forward  # raises for an allreduce, before any folder is made
        fewest = fewest_steps(self.whole, max_steps, "max_steps")
        if self.folder is not None:
            make_folder(self.folder)
            self.stored = read_stored(self.folder, self.whole)
        self.deadline = time.monotonic() + (self.budget.seconds or 0.0)
        limit = self.stored.limit or self._throughput()
        last = fewest + MAX_FURTHER_STEPS if max_steps is None else max_steps
        try:
            for steps in range(fewest, last + 1):
                if self._is_over():
                    break
                self._look_at(steps, limit, first=steps == fewest)
                if limit is not None and self.points and self.points[-1].ratio == limit.bound:
                    break
        except KeyboardInterrupt:
            self.interrupted = True
        if self.folder is not None:
            # The index has what the folder proves, also if this run was for fewer steps.
            save_front(self._front(limit, began), self.folder)
        return self._front(limit, began, max_steps)

    def _front(
        self, limit: ThroughputResult | None, began: float, max_steps: int | None = None
    ) -> Front:
        """Return the front of what this run has found and what the folder proves."""
        within = math.inf if max_steps is None else max_steps
        points = [each for each in (*self.points, *self.stored.points) if each.steps <= within]
        bounds = {each for each in (*self.bounds, *self.stored.bounds) if each[0] <= within}
        front = Front(
            instance=self.whole,
            points=tuple(_improving(points)),
            throughput=limit,
            bounds=tuple(sorted(bounds)),
            seconds=time.monotonic() - began,
            budget={"seconds": self.budget.seconds},
            seed=self.seed,
            versions=versions(),
        )
        late = time.monotonic() > self.deadline and not front.complete
        return replace(front, interrupted=self.interrupted or late)

    def _look_at(self, steps: int, limit: ThroughputResult | None, first: bool) -> None:
        """Add the points of a number of steps."""
        bound = self._bound(steps, limit)
        if bound is None:
            return
        self.bounds.append((steps, bound.ratio))
        last = self.points[-1] if self.points else None
        if first:
            self._add(self._point(bound, 1, None, self.deadline - time.monotonic()))
        if self._attain(bound) and self.points[-1] is last and self.folder is not None:
            # A number of steps that gains nothing has its certificate alone.
            record = certificate(last.schedule, bound)
            write_changed(record, self.folder / f"steps-{steps}.certificate.json")

    def _is_over(self) -> bool:
        self.interrupted = self.interrupted or bool(self.stop())
        return self.interrupted or time.monotonic() > self.deadline

    def _throughput(self) -> ThroughputResult | None:
        try:
            return throughput_of(self.whole, max(1.0, self.deadline - time.monotonic()))
        except InputError:
            return None  # not defined: half-duplex links, limited ports

    def _bound(self, steps: int, limit: ThroughputResult | None) -> RoundsBound | None:
        """Return the larger of the bound for this number of steps and the one for any number."""
        settled = limit is not None and self.bounds and self.bounds[-1][1] == limit.bound
        # More steps never need more rounds per chunk.
        bound = None if settled else round_bound(self.whole, steps)
        if limit is None or (bound is not None and bound.ratio >= limit.bound):
            return bound
        return RoundsBound(steps, limit.bound, limit.record["evidence"])

    def _attain(self, bound: RoundsBound) -> bool:
        """Add the point that attains the bound; return whether it is attained, now or before."""
        known = [each for each in self.stored.points if each.steps <= bound.steps]
        best = min(known, key=lambda each: (each.ratio, each.chunks), default=None)
        if best is not None and (not self.points or best.ratio < self.points[-1].ratio):
            self._add(self._written(best.schedule, bound))
        if self.points and self.points[-1].ratio <= bound.ratio:
            return True
        now = time.monotonic()
        half = now + (self.deadline - now) / 2
        for chunks, rounds in self._trials(bound.ratio * self.grain):
            ratio = Fraction(rounds, chunks * self.grain)
            # What does not attain the bound leaves half of the time for more steps.
            left = (self.deadline if ratio == bound.ratio else half) - time.monotonic()
            if self._is_over() or left < 0:
                break
            if not self.points or ratio < self.points[-1].ratio:
                self._add(self._point(bound, chunks, rounds, left / 3))
            if self.points and self.points[-1].ratio == bound.ratio:
                return True
        return False

    def _trials(self, ratio: Fraction) -> Iterator[tuple[int, int]]:
        """Yield chunks and rounds: pairs that attain the ratio, then others, few chunks first."""
        smallest = ratio.denominator
        exact = range(smallest, self.max_chunks + 1, smallest)
        yield from ((chunks, ratio.numerator * chunks // smallest) for chunks in exact)
        others = [chunks for chunks in range(1, self.max_chunks + 1) if chunks % smallest]
        yield from ((chunks, math.ceil(ratio * chunks)) for chunks in others)

    def _add(self, point: FrontPoint | None) -> None:
        if point is not None:
            self.points = _improving([*self.points, point])
            self.report(point)

    def _point(
        self, bound: RoundsBound, chunks: int, rounds: int | None, seconds: float
    ) -> FrontPoint | None:
        """Return the point of these chunks and rounds, by a search for fewer than in the folder."""
        known = [each for each in self.stored.points if each.steps <= bound.steps and not rounds]
        alike = [each.schedule for each in known if each.chunks == chunks * self.grain]
        found = min(alike, key=lambda each: sum(each.rounds), default=None)
        lowest = max(math.ceil(bound.ratio * self.grain * chunks), farthest(self.searched))
        totals = [rounds] if rounds else [*range(lowest, lowest + MAX_TRIALS)]
        if found is not None:
            totals = [total for total in totals if total < sum(found.rounds)]
        if totals:
            budget = replace(self.budget, seconds=max(0.1, seconds))
            task = RoundsTask(self.searched.in_chunks(chunks), bound.steps, None, totals)
            result = search(task, budget, self.seed, self.stop)
            self.interrupted = self.interrupted or result.interrupted
            if result.schedule is not None:
                found = refined(result.schedule, self.whole, self.grain)
        return None if found is None else self._written(found, bound)

    def _written(self, schedule: Schedule, bound: RoundsBound) -> FrontPoint:
        record = certificate(schedule, bound)
        verdict = check_rounds(schedule.to_json(), record)
        if self.folder is None:
            return FrontPoint(schedule, record, verdict)
        name = f"steps-{bound.steps}-chunks-{verdict.chunks}"
        files = self.folder / f"{name}.json", self.folder / f"{name}.certificate.json"
        write_changed(schedule.to_json(), files[0])
        write_changed(record, files[1])
        return FrontPoint(schedule, record, verdict, *files)


def _improving(points: Iterable[FrontPoint]) -> list[FrontPoint]:
    """Return the points with fewer rounds per chunk than all of at most as many steps."""
    found: list[FrontPoint] = []
    for each in sorted(points, key=lambda each: (each.steps, each.chunks, each.rounds)):
        # The first point stays beside more chunks.
        beside = len(found) == 1 and found[0].chunks == 1 < each.chunks
        if not found or each.ratio < found[-1].ratio:
            replaced = found and found[-1].steps == each.steps and not beside
            found[len(found) - bool(replaced) :] = [each]
    return found
