"""The start of a worker up to its Problem, without an engine; ``bench_start`` measures it.

It reads the files of the instance and, if there are none, the instance as a worker does, and prints
the processor seconds since its start and the MiB that no other process shares.
"""

from __future__ import annotations

import json
import sys
import time

import cchybrid.host.engine_worker  # noqa: F401  imported for its time
from cchybrid.host.shared_instance import ReceivedInstance


def own_mebibytes() -> float:
    """Return the anonymous memory of this process, in MiB (Linux only, otherwise 0)."""
    try:
        with open("/proc/self/smaps_rollup") as rollup:
            (line,) = (line for line in rollup if line.startswith("Anonymous:"))
    except OSError:
        return 0.0
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    imported = time.process_time()
    files = json.loads(sys.stdin.buffer.readline())
    received = ReceivedInstance(files, sys.stdin.buffer.readline)
    problem = received.problem
    seconds = time.process_time()
    print(json.dumps([imported, seconds, own_mebibytes(), problem.deliveries, problem.options]))
