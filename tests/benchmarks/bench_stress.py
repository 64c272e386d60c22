"""Whether every row ends with a schedule on a busy machine.

Run as ``python -m tests.benchmarks.bench_stress [SUITE]``; by default the smoke suite, six seconds
per row, with six more processes that only compute. The script prints rows without a
schedule, rows that took longer than the limit and a second, and the load; it fails if there are
any of the first two.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from cchybrid.bench.store import Store

ALLOWED_OVERRUN_SECONDS = 1.0


def burn() -> None:
    """Keep a processor busy."""
    while True:
        sum(range(100_000))


def main() -> None:
    """Run the suite beside the busy processes; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", nargs="?", default="smoke")
    parser.add_argument("--busy", type=int, default=6)
    parser.add_argument("--time-limit", type=float, default=6.0)
    options = parser.parse_args()
    busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(options.busy)]
    for process in busy:
        process.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "stress.sqlite")
            subprocess.run(
                [sys.executable, "-m", "cchybrid", "bench", "run", options.suite, "--jobs", "1",
                 "--threads", "2", "--time-limit", str(options.time_limit), "--store", str(path)],
                check=False,
            )  # fmt: skip
            with Store(path) as store:
                runs = list(store.runs())
    finally:
        load = os.getloadavg()[0]
        for process in busy:
            process.kill()
    without = [run.row for run in runs if run.steps is None]
    late = [
        f"{run.row} ({run.result['seconds']:.1f} s)"
        for run in runs
        if run.result.get("seconds", 0.0) > options.time_limit + ALLOWED_OVERRUN_SECONDS
    ]
    troubles = [f"{run.row}: {text}" for run in runs for text in run.result.get("troubles", ())]
    optimal = sum(run.result.get("status") == "optimal" for run in runs)
    print(f"{len(runs)} rows, load {load:.1f}; {optimal} optimal")
    print(f"without a schedule: {', '.join(without) or 'none'}")
    print(f"longer than the limit and a second: {', '.join(late) or 'none'}")
    print("\n".join(["troubles:", *troubles]) if troubles else "troubles: none")
    sys.exit(1 if without or late or not runs else 0)


if __name__ == "__main__":
    main()
