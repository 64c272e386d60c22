"""The fastest schedule of fronts for a size of messages, and a bound on the time of every other.

A schedule of S steps and R rounds of C chunks takes S times the latency of a step, plus R / C times
the size of a message over the bandwidth of a capacity of 1. No schedule of S steps has fewer rounds
per chunk than the bound for S steps, nor than the throughput.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from cchybrid.host.compositions import Halves, with_sums
from cchybrid.model import Instance, Schedule
from cchybrid.model.errors import InputError
from cchybrid.model.shown import counted
from cchybrid.referee.verify import verify_schedule

from .pareto import pareto, refined
from .rates import Buffer, buffer_of
from .rounds_front import Front, FrontPoint


@dataclass(frozen=True)
class Best:
    """The fastest schedule for a size.

    Attributes
    ----------
    size
        Bytes of the buffer, as nccl-tests count.
    points
        A point of each front; of an allreduce those of the reduce-scatter and the allgather.
    seconds, bound
        The time of these, and that of every schedule on the same network at least; of an allreduce,
        of every reduce-scatter followed by an allgather.
    """

    size: int
    points: tuple[FrontPoint, ...]
    seconds: Fraction
    bound: Fraction

    def to_json(self, buffer: Buffer) -> dict[str, Any]:
        """Return the numbers, times in microseconds and bandwidths in GB/s."""
        rate = self.size / self.seconds / 10**9
        return {
            "size": self.size,
            "chunks": [point.chunks for point in self.points],
            "steps": [point.steps for point in self.points],
            "rounds": [point.rounds for point in self.points],
            "microseconds": float(self.seconds * 10**6),
            "bound": float(self.bound * 10**6),
            "algbw": float(rate),
            "busbw": None if buffer.bus is None else float(rate * buffer.bus),
        }


def fronts_of(
    instance: Instance, folder: Path | None, time_limit: float, **more: Any
) -> list[Front]:
    """Return the front of an instance; of an allreduce those of its two halves.

    Further parameters are those of ``pareto``.
    """
    if instance.collective.kind != "allreduce":
        return [pareto(instance, folder=folder, time_limit=time_limit, **more)]
    fronts = [
        pareto(
            half,
            folder=None if folder is None else folder / half.collective.name,
            time_limit=time_limit / 2,
            **more,
        )
        for half in halves_of(instance)
    ]
    if len({front.instance.model.switching for front in fronts}) > 1:
        raise InputError(
            "switches alone lead to all destinations in one direction only",
            where=instance.name,
            hint="name --switching store-and-forward",
        )
    return fronts


def halves_of(instance: Instance) -> tuple[Instance, Instance]:
    """Return the reduce-scatter and the allgather of an allreduce, in a part for each member."""
    members = {len(message.members) for message in _summed(instance)}
    if len(members) > 1 or instance.collective.chunks > 1:
        what = "members or chunks of several numbers"
        raise InputError(what, where=instance.name, hint="use one allreduce")
    halves = Halves(instance.in_chunks(*members))
    return halves.gather, halves.spread


def fastest(
    instance: Instance, fronts: Sequence[Front], size: int, latency: Fraction, beta: Fraction
) -> Best:
    """Return the fastest schedule of fronts for a buffer of a size.

    Parameters
    ----------
    size
        Bytes of the buffer.
    latency
        Seconds per step.
    beta
        Seconds per byte that a channel of capacity 1 carries.

    Raises
    ------
    InputError
        A front has no point.
    """
    points, seconds, bound = [], Fraction(0), Fraction(0)
    for front in fronts:
        if not front.points:
            steps = counted(front.fewest_steps, "step")
            hint = f"{steps} or more are needed: give more --time-limit or --max-steps"
            what = "no schedule was found in time"
            raise InputError(what, where=front.instance.name, hint=hint)
        about = front.instance if instance.collective.kind == "allreduce" else instance
        per_round = Fraction(size, buffer_of(about.collective).messages) * beta
        best = min(front.points, key=lambda each: each.steps * latency + each.ratio * per_round)
        points.append(best)
        seconds += best.steps * latency + best.ratio * per_round
        bound += _min_seconds(front, latency, per_round)
    return Best(size, tuple(points), seconds, bound)


def _min_seconds(front: Front, latency: Fraction, per_round: Fraction) -> Fraction:
    """Return the seconds that every schedule of the instance of a front takes at least."""
    limit = Fraction(0) if front.throughput is None else front.throughput.bound
    known = dict(front.bounds)
    last = max(known, default=front.fewest_steps)
    ratios = {
        steps: max(known.get(steps, limit), limit) for steps in range(front.fewest_steps, last + 1)
    }
    times = [steps * latency + ratio * per_round for steps, ratio in ratios.items()]
    return min([*times, (last + 1) * latency + limit * per_round])


def schedule_of(instance: Instance, points: Sequence[FrontPoint]) -> Schedule:
    """Return the schedule of the points; of an allreduce that of both halves, one after another."""
    if instance.collective.kind != "allreduce":
        return points[0].schedule
    chunks = math.lcm(*(point.chunks for point in points))
    steps: list[Any] = []
    rounds: list[int] = []
    for point in points:
        parts, half = chunks // point.chunks, point.schedule
        whole = half.instance.in_chunks(1).with_model(rounds=())
        half = refined(half, whole, parts, parts)
        steps += half.steps
        rounds += half.rounds
    network, model = half.instance.network, replace(half.instance.model, rounds=tuple(rounds))
    collective = instance.collective.in_chunks(len(_summed(instance)[0].members) * chunks)
    found = with_sums(Instance(network, collective, model), tuple(steps))
    if violations := verify_schedule(found):
        raise ValueError(f"the halves are no valid schedule: {violations[0].text}")
    return found


def _summed(instance: Instance) -> Any:
    return instance.collective.messages
