"""Compare the time of engine ``cpsat`` to a proven optimum with a textbook CP-SAT model.

Run as ``python -m tests.benchmarks.bench_cpsat``. Both get the same Problem, so the same paths, and
the same threads, one after the other in one run; neither gets a bound. The textbook model decides
twice: one step less than the optimum, and the optimum; the engine starts at one step and has to
refute all smaller numbers itself. A decision that the textbook model does not reach within the
limit counts as the limit, so the ratio is then a lower bound. Offers are verified outside the
measured time. Figures are medians of wall-clock seconds over the seeds. The script fails if a ratio
is below ``MIN_RATIO``.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from cchybrid_plugins.engines.cpsat.engine import CpSat

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, cut_to
from cchybrid.problem import Assignment, Problem, build_problem
from cchybrid.referee.verify import verify
from tests.benchmarks.textbook import decide

ROWS = (
    ("spidergon-8", "AAS", 4),
    ("mesh-3x3", "AAS", 6),
    ("kautz-12", "AAS", 7),
    ("torus-4x4", "AAS", 8),
    ("spidergon-16", "AAS", 16),
)
MIN_RATIO = 5.0


class LateRun(LocalRun):
    """A run that accepts offers and verifies them in ``verify``, outside the measured time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.offers: list[Assignment] = []

    def offer(self, assignment: Assignment, problem: Problem | None = None) -> None:
        assert problem is None
        self.offers.append(assignment)

    def best(self) -> int | None:
        return min((assignment.steps for assignment in self.offers), default=None)

    def hint(self, steps: int) -> Assignment | None:
        found = min(self.offers, key=lambda assignment: assignment.steps, default=None)
        return None if found is None else cut_to(found, steps)

    def verify(self) -> None:
        for assignment in self.offers:
            super().offer(assignment)
        if self.violations:
            raise SystemExit("cpsat has offered what is not valid")


def seconds_of_engine(
    problem: Problem, optimum: int, seed: int, threads: int, limit: float
) -> float:
    """Return the seconds in which the engine finds and proves the optimum."""
    run = LateRun(problem, seed=seed, budget=Budget(limit, threads=threads))
    begun = time.perf_counter()
    CpSat(CpSat.Options()).solve(problem, run)
    taken = time.perf_counter() - begun
    run.verify()
    if (run.best() or optimum) < optimum or run.lower() > optimum:
        raise SystemExit(f"cpsat contradicts the optimum of {optimum} steps")
    if run.best() != optimum or run.lower() != optimum:
        return limit
    return taken


def seconds_of_textbook(
    problem: Problem, optimum: int, seed: int, threads: int, limit: float
) -> float:
    """Return the seconds of the textbook model for both decisions."""
    total = 0.0
    for steps, truth in ((optimum - 1, False), (optimum, True)):
        verdict, found, taken = decide(problem, steps, seed, threads, limit)
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
    problem = build_problem(instance(topology, collective))
    engine, textbook = [], []
    for seed in range(seeds):
        textbook.append(seconds_of_textbook(problem, optimum, seed, threads, limit))
        engine.append(seconds_of_engine(problem, optimum, seed, threads, limit))
    ratio = median(textbook) / median(engine)
    times = f"{median(textbook):>12.3f} s{median(engine):>12.3f} s"
    return f"{f'{topology} {collective} {optimum}':<22}{times}{ratio:>10.1f} x", ratio


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one decision")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    # Libraries and kernels are loaded at their first use, so the first row does not count.
    bench_row(("ring-bi-4", "AAS", 2), 1, options.threads, options.limit)
    title = f"median of {options.seeds} seeds"
    print(f"{title:<22}{'textbook':>14}{'cpsat':>14}{'ratio':>12}")
    worst = float("inf")
    for row in ROWS:
        line, ratio = bench_row(row, options.seeds, options.threads, options.limit)
        worst = min(worst, ratio)
        print(line, flush=True)
    if worst < MIN_RATIO:
        raise SystemExit(f"a ratio of {worst:.1f} is less than {MIN_RATIO:.0f}")


if __name__ == "__main__":
    main()
