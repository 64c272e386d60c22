"""Measure the referee on a million channel uses, against its plain twin.

Run as ``python -m tests.benchmarks.bench_verify``. The twin checks a smaller all-to-all scatter of
the same family only, because a million channel uses take it long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import cchybrid
from cchybrid.host.first_schedule import first_schedule
from cchybrid.model import Schedule
from cchybrid.referee.verify import verify
from tests.plain_referee import breaches


def seconds_of(check: Callable[..., Any], schedule: Schedule) -> float:
    """Return the seconds of checking a valid schedule."""
    started = time.perf_counter()
    assert not check(schedule.instance, schedule.steps)
    return time.perf_counter() - started


def bench_row(topology: str, with_twin: bool) -> str:
    """Return the line of one network."""
    instance = cchybrid.instance(topology, "AAS")
    steps = first_schedule(instance)
    assert steps is not None
    schedule = Schedule(instance, steps)
    seconds = min(seconds_of(verify, schedule) for _ in range(3))
    line = f"{topology} AAS: {schedule.channel_uses:,} channel uses, {seconds:.3f} s"
    if with_twin:
        line += f", {seconds_of(breaches, schedule) / seconds:.0f} x its twin"
    return line


if __name__ == "__main__":
    print(bench_row("hypercube-128", True), bench_row("hypercube-512", False), sep="\n")
