"""Fronts of steps and rounds per chunk: their points, and the best point by message size."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Any

from cchybrid.checker import RoundsVerdict
from cchybrid.host.run_result import RunResult, columns
from cchybrid.model import Instance, Schedule
from cchybrid.model.shown import counted
from cchybrid.model.text import printable
from cchybrid.proof.reach import farthest

from .rounds import switches_line, transfers
from .throughput import ThroughputResult


@dataclass(frozen=True)
class FrontPoint:
    """A schedule of the front, with the certificate of the bound for its number of steps.

    Attributes
    ----------
    schedule
        The schedule, verified; its instance has the chunks and the rounds per step.
    certificate
        The ``cchybrid-certificate/2`` object of the bound, or ``None``.
    verdict
        What the checker says about the two, or ``None``.
    schedule_file, certificate_file
        The files, if they were written.
    """

    schedule: Schedule
    certificate: dict[str, Any] | None
    verdict: RoundsVerdict | None
    schedule_file: Path | None = None
    certificate_file: Path | None = None

    @property
    def chunks(self) -> int:
        """The number of chunks of every message."""
        return self.schedule.instance.collective.chunks

    @property
    def chunks_per_node(self) -> int:
        """Chunks of all messages of the node that sends most, which SCCL counts in scatters."""
        messages = self.schedule.instance.collective.deliver_messages
        sources = [message.source for message in messages]
        return max(map(sources.count, set(sources)))

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.schedule.steps)

    @property
    def rounds(self) -> int:
        """The rounds of all steps together."""
        return sum(self.schedule.rounds)

    @property
    def ratio(self) -> Fraction:
        """Rounds per chunk."""
        return Fraction(self.rounds, self.chunks)

    @property
    def certified(self) -> bool:
        """Whether no schedule of as many chunks, in at most as many steps, has fewer rounds."""
        return self.verdict is not None and self.verdict.optimal

    def to_json(self) -> dict[str, Any]:
        """Return the point as a JSON object, fractions as text."""
        files = (self.schedule_file, self.certificate_file)
        schedule, certificate = (None if path is None else str(path) for path in files)
        return {
            "chunks": self.chunks,
            "steps": self.steps,
            "rounds": self.rounds,
            "ratio": str(self.ratio),
            "certified": self.certified,
            "rounds_per_step": list(self.schedule.rounds),
            "chunks_per_node": self.chunks_per_node,
            "bound": None if self.verdict is None else str(self.verdict.bound),
            "schedule": schedule,
            "certificate": certificate,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Front(RunResult):
    """The result of ``pareto``; further attributes as in ``RunResult``.

    Attributes
    ----------
    instance
        The instance of one chunk, in the switching that is used.
    points
        The points by steps; of equal steps the one with fewer chunks first.
    throughput
        The fewest rounds per chunk in any number of steps, with proof; ``None`` if not defined.
    bounds
        Numbers of steps, and the rounds per chunk that at most S steps need for each S (certified).
    """

    INTERRUPTED = "ended before it was complete; the same command continues"

    instance: Instance
    points: tuple[FrontPoint, ...]
    throughput: ThroughputResult | None
    bounds: tuple[tuple[int, Fraction], ...] = ()

    @cached_property
    def fewest_steps(self) -> int:
        """The transfers to the farthest destination: no schedule has fewer steps."""
        return farthest(self.instance)

    @cached_property
    def _shown(self) -> tuple[tuple[int, ...], bool]:
        """Return the numbers of steps whose bound no point attains, and if all further are shown.

        A number of steps may have the bound of more steps.
        """
        last = max([each.steps for each in self.points] + [s for s, _ in self.bounds], default=0)
        missing: list[int] = []
        for steps in range(self.fewest_steps, last + 1):
            ratio = min((each.ratio for each in self.points if each.steps <= steps), default=None)
            if self.throughput is not None and ratio == self.throughput.bound:
                return tuple(missing), True
            if ratio not in {bound for about, bound in self.bounds if about >= steps}:
                missing.append(steps)
        return tuple(missing), False

    @property
    def open_steps(self) -> tuple[int, ...]:
        """Numbers of steps whose bound no schedule was found to attain."""
        return self._shown[0]

    @property
    def complete(self) -> bool:
        """Whether no other schedule, of any number of chunks and steps, improves on the points."""
        return self._shown == ((), True)

    @property
    def sentence(self) -> str:
        """The instance, as a heading of the table."""
        word = "hop by hop" if self.instance.model.hop_by_hop else "wormhole switching"
        return f"{printable(self.instance.full_name)}, {word}"

    def details(self) -> list[str]:
        """Return the front as a table, and what is known about its ends."""
        heads = ("chunks", "steps", "rounds", "rounds per chunk", "bound", "rounds of the steps")
        rows: list[tuple[str, ...]] = [heads]
        for point in self.points:
            bound = "-" if point.verdict is None else str(point.verdict.bound)
            each = "+".join(map(str, point.schedule.rounds))
            numbers = (point.chunks, point.steps, point.rounds, point.ratio)
            rows.append((*map(str, numbers), bound, each))
        steps = counted(self.fewest_steps, "step")
        lines = [
            *columns(rows),
            f"no schedule has fewer than {steps}: a message has that far to go, "
            f"in {transfers(self.instance)}",
            *switches_line(self.instance),
        ]
        limit = self.throughput
        if limit is not None:
            lines.append(f"fewer than {limit.bound} rounds per chunk are impossible in any steps")
        if self.complete:
            lines.append("complete (certified): no schedule of any number of chunks improves on it")
        return lines + [
            f"open: {counted(steps, 'step')}, where no schedule was found that attains the bound"
            for steps in self.open_steps
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the front as a JSON object, fractions as text."""
        limit = self.throughput
        return {
            "instance": self.instance.full_name,
            "complete": self.complete,
            "points": [point.to_json() for point in self.points],
            "throughput": None if limit is None else str(limit.bound),
            "open_steps": list(self.open_steps),
            **super().to_json(),
        }


@dataclass(frozen=True)
class Choice:
    """A range of message sizes in which a point of the front is the fastest.

    Attributes
    ----------
    smallest, largest
        Bytes of a message, from and up to.
    point
        The point.
    """

    smallest: int
    largest: int
    point: FrontPoint


SIZES = 1 << 10, 1 << 30
"""The message sizes that are looked at: 1 KiB to 1 GiB."""


def choices(front: Front, alpha: Fraction, beta: Fraction) -> list[Choice]:
    """Return which point is the fastest, by message size from 1 KiB to 1 GiB.

    Parameters
    ----------
    alpha
        Seconds per step.
    beta
        Seconds per byte that a channel of capacity 1 carries.
    """

    def seconds(point: FrontPoint, size: int) -> Fraction:
        return point.steps * alpha + point.ratio * size * beta

    if not front.points:
        return []
    smallest, largest = SIZES
    changes = {smallest}
    for one in front.points:
        for other in front.points:
            gain = one.ratio - other.ratio
            if gain > 0 and beta > 0:
                size = ceil((other.steps - one.steps) * alpha / (gain * beta))
                if smallest < size <= largest:
                    changes.add(size)
    found: list[Choice] = []
    starts = sorted(changes)
    for start, end in zip(starts, [*(s - 1 for s in starts[1:]), largest], strict=True):
        best = min(front.points, key=lambda point: (seconds(point, start), point.ratio))
        if found and found[-1].point is best:
            found[-1] = Choice(found[-1].smallest, end, best)
        else:
            found.append(Choice(start, end, best))
    return found
