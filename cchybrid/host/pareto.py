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

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

from cchybrid.checker import EvidenceError
from cchybrid.host.rounds import (
    RoundsResult,
    check_rounds,
    farthest,
    fewest_rounds,
    hop_by_hop,
    read_instance,
)
from cchybrid.host.rounds_front import Front, FrontPoint
from cchybrid.host.throughput import ThroughputResult, throughput_of
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.instance import read_text, write_text
from cchybrid.model.json_fields import parse_json
from cchybrid.proof.round_bounds import RoundsBound, round_bound

DEFAULT_SECONDS = 60.0
MAX_CHUNKS = 24
"""Numbers of chunks up to which schedules are sought."""
MAX_FURTHER_STEPS = 16
"""Steps beyond the fewest that are considered."""


def pareto(
    instance: Any,
    collective: Any = None,
    *,
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
        An ``Instance``; or a network and a collective, as ``cchybrid.instance`` takes them. Chunks
        and rounds are not used. Messages go hop by hop.
    folder
        Where the files of every point are written, and read again if they are there.
    time_limit
        Wall-clock seconds.
    max_chunks
        The largest number of chunks of a message that is tried.
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
        A destination cannot be reached, or the folder cannot be written.

    Examples
    --------
    >>> import cchybrid
    >>> front = cchybrid.pareto("dgx-1", "allgather")
    >>> [(point.chunks, point.steps, point.rounds) for point in front.points]
    [(1, 2, 2), (2, 2, 3), (6, 3, 7)]
    >>> front.complete
    True
    """
    instance = read_instance(instance, collective)
    for where, number in (("max_chunks", max_chunks), ("max_steps", max_steps)):
        if number is not None and number < 1:
            raise InputError(f"{number} makes no sense", where=where, hint="use 1 or more")
    search = _Search(
        hop_by_hop(instance).in_chunks(1),
        None if folder is None else Path(folder),
        time.monotonic() + time_limit,
        max_chunks,
        {"seed": seed, "threads": threads},
        stop or (lambda: False),
        report or (lambda point: None),
    )
    return search.run(max_steps)


@dataclass
class _Search:
    """One search for a front."""

    whole: Instance
    folder: Path | None
    deadline: float
    max_chunks: int
    settings: dict[str, Any]
    stop: Callable[[], object]
    report: Callable[[FrontPoint], None]
    points: list[FrontPoint] = field(default_factory=list)
    interrupted: bool = False

    def run(self, max_steps: int | None) -> Front:
        began = time.monotonic()
        _ = self.whole.forward  # raises for an allreduce, before any folder is made
        fewest = farthest(self.whole)
        if max_steps is not None and max_steps < fewest:
            raise InputError(
                f"a message has {fewest} hops to go, more than {max_steps} steps",
                where="max_steps",
                hint=f"use at least {fewest}",
            )
        if self.folder is not None:
            self._make_folder(self.folder)
        limit = self._throughput()
        last = fewest + MAX_FURTHER_STEPS if max_steps is None else max_steps
        unattained: list[int] = []
        complete = False
        try:
            for steps in range(fewest, last + 1):
                if self._is_over():
                    break
                if not self._look_at(steps, limit, first=steps == fewest):
                    unattained.append(steps)
                if limit is not None and self.points and self.points[-1].ratio == limit.bound:
                    complete = not unattained
                    break
        except KeyboardInterrupt:
            self.interrupted = True
        seconds = time.monotonic() - began
        return Front(
            self.whole, tuple(self.points), limit, complete, tuple(unattained), seconds,
            self.interrupted or (time.monotonic() > self.deadline and not complete),
        )  # fmt: skip

    def _look_at(self, steps: int, limit: ThroughputResult | None, first: bool) -> bool:
        """Add the points of a number of steps; return whether its bound is attained."""
        bound = self._bound(steps, limit)
        if bound is None:
            return False
        if first:
            self._add(self._point(bound, 1, None))
        return self._attain(bound)

    def _is_over(self) -> bool:
        self.interrupted = self.interrupted or bool(self.stop())
        return self.interrupted or time.monotonic() > self.deadline

    def _throughput(self) -> ThroughputResult | None:
        try:
            return throughput_of(self.whole)
        except InputError:
            return None  # not defined: half-duplex links, limited ports

    def _bound(self, steps: int, limit: ThroughputResult | None) -> RoundsBound | None:
        """Return the larger of the bound for this number of steps and the one for any number."""
        bound = round_bound(self.whole, steps)
        if limit is None or (bound is not None and bound.ratio >= limit.bound):
            return bound
        evidence = {"kind": "throughput", "evidence": limit.record["evidence"]}
        return RoundsBound(steps, limit.bound, evidence, ())

    def _attain(self, bound: RoundsBound) -> bool:
        """Add the point that attains the bound; return whether it is attained, now or before."""
        if self.points and self.points[-1].ratio <= bound.ratio:
            return True
        for chunks, rounds in self._trials(bound.ratio):
            if self._is_over():
                break
            better = not self.points or Fraction(rounds, chunks) < self.points[-1].ratio
            if better:
                self._add(self._point(bound, chunks, rounds))
            if self.points and self.points[-1].ratio == bound.ratio:
                return True
        return False

    def _trials(self, ratio: Fraction) -> Iterator[tuple[int, int]]:
        """Yield chunks and rounds: those that attain the ratio, then others, the best first."""
        smallest = ratio.denominator
        exact = range(smallest, self.max_chunks + 1, smallest)
        yield from ((chunks, ratio.numerator * chunks // smallest) for chunks in exact)
        others = [chunks for chunks in range(1, self.max_chunks + 1) if chunks % smallest]
        pairs = [(chunks, ceil(ratio * chunks)) for chunks in others]
        yield from sorted(pairs, key=lambda pair: (Fraction(pair[1], pair[0]), pair[0]))

    def _add(self, point: FrontPoint | None) -> None:
        if point is None:
            return
        if self.points and self.points[-1].steps == point.steps and len(self.points) > 1:
            self.points.pop()  # a better one of the same steps; the first point stays
        self.points.append(point)
        self.report(point)

    def _point(self, bound: RoundsBound, chunks: int, rounds: int | None) -> FrontPoint | None:
        """Return the point of these chunks and rounds, from its files or by a search."""
        names = None if self.folder is None else _files(self.folder, bound.steps, chunks)
        if names is not None:
            found = self._from_files(*names, rounds)
            if found is not None:
                return found
        left = self.deadline - time.monotonic()
        result = fewest_rounds(
            self.whole.in_chunks(chunks),
            bound.steps,
            bound=bound,
            rounds=rounds,
            time_limit=max(0.1, left if rounds is None else left / 3),
            stop=self.stop,
            **self.settings,
        )
        self.interrupted = self.interrupted or result.interrupted
        return self._written(result, names)

    def _written(self, result: RoundsResult, names: tuple[Path, Path] | None) -> FrontPoint | None:
        if result.schedule is None or result.certificate is None:
            return None
        verdict = check_rounds(result.schedule, result.certificate)
        if names is None:
            return FrontPoint(result.schedule, result.certificate, verdict)
        schedule, certificate = names
        result.schedule.save(schedule)
        write_text(json.dumps(result.certificate, separators=(",", ":")) + "\n", certificate)
        return FrontPoint(result.schedule, result.certificate, verdict, schedule, certificate)

    def _from_files(
        self, schedule: Path, certificate: Path, rounds: int | None
    ) -> FrontPoint | None:
        """Return a point of an earlier run, if its files hold what is sought."""
        if not (schedule.exists() and certificate.exists()):
            return None
        try:
            found = Schedule.load(schedule)
            record = parse_json(read_text(certificate))
            verdict = check_rounds(found, record)
        except (EvidenceError, InputError):
            return None
        if found.instance.in_chunks(1).with_model(rounds=()).digest != self.whole.digest:
            return None
        if rounds is not None and verdict.rounds != rounds:
            return None
        return FrontPoint(found, record, verdict, schedule, certificate)

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"the folder cannot be made: {error.strerror}",
                where=str(folder),
                hint="name another one",
            ) from None


def _files(folder: Path, steps: int, chunks: int) -> tuple[Path, Path]:
    name = f"steps-{steps}-chunks-{chunks}"
    return folder / f"{name}.json", folder / f"{name}.certificate.json"
