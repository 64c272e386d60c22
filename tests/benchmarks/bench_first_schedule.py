"""Measure the host's greedy schedules against plain first fit.

Run as ``python -m tests.benchmarks.bench_first_schedule``. First fit places the same deliveries one
by one on a single path, as for messages that neither faster method is for. Every line gives steps
and processor seconds of both, and the ratio of the seconds in the same run.
"""

from __future__ import annotations

import time
from collections import deque

import cchybrid
from cchybrid.host.first_schedule import _Wormhole, first_schedule
from cchybrid.referee.verify import verify

ROWS = (
    ("torus-8x16", "AAS"),
    ("random-regular-256-4-1", "AAS"),
    ("random-regular-512-4-1", "AAS"),
    ("hypercube-512", "AAS"),
    ("torus-16x32", "AAS"),
    ("random-regular-256-4-1", "AAB"),
    ("random-regular-512-4-1", "AAB"),
    ("hypercube-512", "AAB"),
    ("mesh-32x32", "AAB"),
)


def bench_row(network: str, collective: str) -> tuple[str, float]:
    """Return the line of one instance, and the seconds of first fit over those of the host."""
    instance = cchybrid.instance(network, collective)
    start = time.process_time()
    plain = _Wormhole(instance.forward)
    deque(plain.place_all(), maxlen=0)
    middle = time.process_time()
    steps = first_schedule(instance)
    end = time.process_time()
    if steps is None or verify(instance, steps):
        raise SystemExit(f"{instance.name}: no valid schedule")
    before, after = middle - start, max(end - middle, 1e-6)
    line = (
        f"{instance.name}: first fit {len(plain.steps)} steps in {before:.2f} s, "
        f"host greedy {len(steps)} steps in {after:.2f} s: {before / after:.1f} x"
    )
    return line, before / after


if __name__ == "__main__":
    for row in ROWS:
        print(bench_row(*row)[0], flush=True)
