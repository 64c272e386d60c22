"""Measure the start of a worker that maps its Problem against one that builds it.

Run as ``python -m tests.benchmarks.bench_start``. Without sharing every worker is like the first
one: it reads the instance as JSON and builds the Problem. With sharing it maps what another process
has built. Every line gives processor seconds from the start of the process to its Problem, imports
included, the memory that no other process shares (Linux only), and the ratios in the same run.
Small instances are not shared; the column shows what sharing them would save.
"""

from __future__ import annotations

import json
import subprocess
import sys
from unittest import mock

import cchybrid
from cchybrid.host import shared_instance
from cchybrid.host.shared_instance import SharedInstance

ROWS = (
    ("mesh-4x4", "AAS"), ("mesh-8x8", "AAS"), ("torus-8x16", "AAS"), ("torus-16x32", "AAS"),
    ("random-regular-512-4-7", "AAS"), ("random-regular-512-4-7", "AAB"),
)  # fmt: skip


WORKER = """
import json, os, sys, time
import cchybrid.host.engine_worker
from cchybrid.host.shared_instance import ReceivedInstance
from cchybrid.system.processes import private_memory
imported = time.process_time()
files = json.loads(sys.stdin.buffer.readline())
problem = ReceivedInstance(files, sys.stdin.buffer.readline).problem
size = private_memory(os.getpid()) / 2**20
print(json.dumps([imported, time.process_time(), size, problem.deliveries, problem.options]))
"""
"""Gets the Problem as a worker does, and prints the figures of its process."""


def start(files: dict[str, int], line: bytes) -> list[float]:
    """Start a worker; return its seconds of imports, all its seconds, MiB, deliveries, options."""
    done = subprocess.run(
        [sys.executable, "-c", WORKER], input=json.dumps(files).encode() + b"\n" + line,
        stdout=subprocess.PIPE, pass_fds=files.values(), check=True,
    )  # fmt: skip
    found: list[float] = json.loads(done.stdout)
    return found


def bench_row(network: str, collective: str) -> tuple[str, float]:
    """Return the line of one instance, and the seconds with a line over those with files."""
    instance = cchybrid.instance(network, collective)
    with mock.patch.object(shared_instance, "MIN_SHARED_DELIVERIES", 0):
        shared = SharedInstance(instance, instance.to_json(), None)
        try:
            shared.build()
            further = start(shared.files("engine"), b"")
        finally:
            shared.close()
    first = start({}, shared.line)
    if first[3:] != further[3:]:
        raise SystemExit(f"{instance.name}: the Problems differ")
    ratio = first[1] / further[1]
    line = (
        f"{instance.name}: {first[3]} deliveries, {first[4]} options; imports {first[0]:.2f} s; "
        f"first worker {first[1]:.2f} s, {first[2]:.0f} MiB; "
        f"further worker {further[1]:.2f} s, {further[2]:.0f} MiB: {ratio:.1f} x"
    )
    return line, ratio


if __name__ == "__main__":
    for row in ROWS:
        print(bench_row(*row)[0], flush=True)
