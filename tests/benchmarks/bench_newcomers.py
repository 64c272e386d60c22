"""Measure the cost of plugins without a priority for ``auto``: times with and without them.

Run as ``python -m tests.benchmarks.bench_newcomers``. Every instance is solved with and without the
example plugin and a second one (exact, claiming nothing), in turn, on all processors. The script
prints the seconds until the steps were found that both runs reached, and the geometric mean of
the ratios; it fails if that differs from 1 by more than ``--max-ratio``.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from pathlib import Path

import cchybrid
from cchybrid.host.result import Result
from cchybrid.plugin.registry import Registry, load_registry

ROOT = Path(__file__).parents[2]
INSTANCES = (
    ("mesh-5x5", "AAS"),
    ("levi-30", "AAS"),
    ("heawood-14", "AAS"),
    ("torus-5x5", "AAS"),
    ("dragonfly-4x2", "AAS"),
    ("random-regular-24-3-1", "AAB"),
)


def seconds_to(result: Result, steps: int) -> float:
    """Return the seconds until the first schedule of at most ``steps`` steps."""
    times = [e.seconds for e in result.contributions if e.steps is not None and e.steps <= steps]
    return min(times, default=result.seconds_to_best)


def with_plugins() -> Registry:
    """Return the registry with both plugins."""
    sys.path.insert(0, str(ROOT / "docs" / "example-plugin"))
    os.environ["CCHYBRID_PLUGINS"] = "cchybrid_greedy,tests.newcomer_exact"
    return load_registry()


def main() -> None:
    """Measure and print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--max-ratio", type=float, default=0.2)
    options = parser.parse_args()
    alone, joined = load_registry(), with_plugins()
    ratios = []
    for network, collective in INSTANCES:
        instance = cchybrid.instance(network, collective)
        for seed in range(options.seeds):
            first, second = (
                cchybrid.solve(
                    instance, time_limit=options.time_limit, seed=seed, registry=registry,
                    first_schedule=False,
                )
                for registry in (alone, joined)
            )  # fmt: skip
            steps = max(first.steps or 0, second.steps or 0)
            times = seconds_to(first, steps), seconds_to(second, steps)
            ratios.append(times[1] / times[0])
            print(
                f"{network} {collective} seed {seed}: {first.steps} steps without, "
                f"{second.steps} with; {times[0]:.2f} s and {times[1]:.2f} s to {steps} steps, "
                f"ratio {ratios[-1]:.2f}",
                flush=True,
            )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of the ratios: {mean:.3f}")
    sys.exit(0 if 1 / (1 + options.max_ratio) < mean < 1 + options.max_ratio else 1)


if __name__ == "__main__":
    main()
