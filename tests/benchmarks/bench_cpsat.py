"""Compare the time of engine ``cpsat`` to a proven optimum with a textbook CP-SAT model.

Run as ``python -m tests.benchmarks.bench_cpsat``. Both get the same Problem, so the same paths, and
the same threads, one after the other in one run; neither gets a bound. The textbook model decides
twice: one step less than the optimum, and the optimum; the engine starts at one step and has to
refute all smaller numbers itself. A decision that the textbook model does not reach within the
limit counts as the limit, so the ratio is then a lower bound. Figures are medians of wall-clock
seconds over the seeds; those of the engine include the verification of what it offers. The script
fails if a ratio is below ``MIN_RATIO``.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from cchybrid_plugins.engines.cpsat.engine import CpSat

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Problem, build_problem
from cchybrid.referee.verify import verify
from tests.benchmarks.textbook import decide

ROWS = (
    ("spidergon-8", "AAS", 4), ("mesh-3x3", "AAS", 6), ("kautz-12", "AAS", 7),
    ("torus-4x4", "AAS", 8), ("spidergon-16", "AAS", 16),
)  # fmt: skip
MIN_RATIO = 5.0


def seconds_of_engine(problem: Problem, optimum: int, seed: int, budget: Budget) -> float:
    """Return the seconds in which the engine finds and proves the optimum, at most the limit."""
    run = LocalRun(problem, seed=seed, budget=budget)
    begun = time.perf_counter()
    CpSat(CpSat.Options()).solve(problem, run)
    taken = time.perf_counter() - begun
    if run.violations or (run.best() or optimum) < optimum or run.lower() > optimum:
        raise SystemExit(f"cpsat contradicts the optimum of {optimum} steps")
    return taken if run.best() == run.lower() == optimum else budget.seconds or taken


def seconds_of_textbook(problem: Problem, optimum: int, seed: int, budget: Budget) -> float:
    """Return the seconds of the textbook model for both decisions."""
    total, limit = 0.0, budget.seconds or 0.0
    for steps, truth in ((optimum - 1, False), (optimum, True)):
        verdict, found, taken = decide(problem, steps, seed, budget.threads, limit)
        if found is not None and verify(problem.origin.instance, problem.lift(found).steps):
            raise SystemExit("the textbook's model has a solution that is not valid")
        if verdict not in (truth, None):
            raise SystemExit(f"the textbook's model contradicts the optimum of {optimum} steps")
        total += limit if verdict is None else taken
    return total


def bench_row(
    row: tuple[str, str, int], seeds: int, threads: int, limit: float
) -> tuple[str, float]:
    """Return the line of one instance, and the ratio of the two times."""
    topology, collective, optimum = row
    problem, budget = build_problem(instance(topology, collective)), Budget(limit, threads=threads)
    textbook, engine = (
        median(seconds_of(problem, optimum, seed, budget) for seed in range(seeds))
        for seconds_of in (seconds_of_textbook, seconds_of_engine)
    )
    title = f"{topology} {collective} {optimum}"
    ratio = textbook / engine
    return f"{title:<22}{textbook:>12.3f} s{engine:>12.3f} s{ratio:>10.1f} x", ratio


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one decision")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    # Libraries and kernels are loaded at their first use, so the first row does not count.
    bench_row(("ring-bi-4", "AAS", 2), 1, options.threads, options.limit)
    print(f"{f'median of {options.seeds} seeds':<22}{'textbook':>14}{'cpsat':>14}{'ratio':>12}")
    worst = float("inf")
    for row in ROWS:
        line, ratio = bench_row(row, options.seeds, options.threads, options.limit)
        worst = min(worst, ratio)
        print(line, flush=True)
    if worst < MIN_RATIO:
        raise SystemExit(f"a ratio of {worst:.1f} is less than {MIN_RATIO:.0f}")


if __name__ == "__main__":
    main()
