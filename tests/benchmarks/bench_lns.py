"""Compare tabu search, large-neighbourhood search, and the two in sequence.

Run as ``python -m tests.benchmarks.bench_lns``. Every row is one instance; the columns are the
lower bound by analytic evidence, the steps of tabu search alone, of large-neighbourhood search
alone, and of both in sequence, half the time each, the second from the result of the first.
"""

from __future__ import annotations

import argparse

import numpy as np
from cchybrid_plugins.lns.engine import Lns
from cchybrid_plugins.tabu.engine import Tabu

from cchybrid.host.api import bound, instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Problem, build_problem

ROWS: tuple[tuple[str, str, str], ...] = (
    ("mesh-6x6", "AAS", "minimal"),
    ("mesh-7x7", "AAS", "minimal"),
    ("torus-6x6", "AAS", "minimal"),
    ("torus-8x8", "AAS", "minimal"),
    ("levi-30", "AAS", "minimal"),
    ("fat-tree-32", "AAS", "minimal"),
    ("2-fat-spidergon-18", "AAS", "minimal"),
    ("kautz-36", "AAS", "1"),
    ("kautz-36", "AAB", "minimal"),
    ("random-regular-32-3-1", "AAB", "minimal"),
)
"""Network, collective and routing."""


def tried(problem: Problem, engines: list[type], lower: int, seconds: float, threads: int) -> str:
    """Return the fewest steps that engines find in sequence, with equal shares of the time."""
    share = Budget(seconds / len(engines), threads=threads)
    known = None
    for engine in engines:
        run = LocalRun(problem, budget=share, first_lower=lower)
        if known is not None:
            run.offer(known)
        engine(engine.Options()).solve(problem, run)  # type: ignore[attr-defined]
        best = min(run.schedules, key=lambda schedule: schedule.cost)
        known = problem.match(best.steps)
        if (known.option[np.flatnonzero(problem.required)] < 0).any():
            return str(
                len(best.steps)
            )  # its paths are not in the pool, so the next engine cannot start from it
    assert known is not None
    return str(known.steps)


def bench_row(network: str, collective: str, routing: str, seconds: float, threads: int) -> str:
    """Return the line of one instance."""
    built = instance(network, collective, routing=int(routing) if routing.isdigit() else routing)
    problem, lower = build_problem(built), bound(built).lower_bound.steps
    cells = [
        tried(problem, engines, lower, seconds, threads) for engines in ([Tabu], [Lns], [Tabu, Lns])
    ]
    numbers = "".join(f"{cell:>8}" for cell in (lower, *cells))
    return f"{network + ' ' + collective:<28}{numbers}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of every cell")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("networks", nargs="*", help="only these")
    arguments = parser.parse_args()
    print(f"{'':<28}{'bound':>8}{'tabu':>8}{'lns':>8}{'both':>8}", flush=True)
    for network, collective, routing in ROWS:
        if arguments.networks and network not in arguments.networks:
            continue
        row = bench_row(network, collective, routing, arguments.seconds, arguments.threads)
        print(row, flush=True)


if __name__ == "__main__":
    main()
