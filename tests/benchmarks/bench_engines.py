"""Compare the times of tabu search and of UMDA to a schedule of a given number of steps.

Run as ``python -m tests.benchmarks.bench_engines``. In the first rows both take little more time
than the initial greedy schedule and the verification of offers; the last three are optima that
require a search. UMDA runs with its default polishing by tabu search and without it (``polish=0``);
the ratio is that of the latter. Kernels are compiled first. Every figure is the
median of wall-clock seconds over fixed seeds, the engines one after the other on one thread; all
verify their offers. A run ended by the limit counts as longer than all others: where that is the
median, the row says "not reached", and the ratio is a lower bound.
"""

from __future__ import annotations

import argparse
import math
import time
from statistics import median

from cchybrid_plugins.tabu.engine import Tabu
from cchybrid_plugins.umda.engine import Umda, UmdaOptions

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.tabu_search.options import TabuOptions

ROWS = (
    ("mesh-4x4", "AAS", 16),
    ("hypercube-16", "AAS", 9),
    ("torus-4x4", "AAB", 5),
    ("spidergon-16", "AAS", 17),
    ("hypercube-32", "AAB", 8),
    ("torus-4x4", "AAB", 4),
    ("ring-bi-16", "AAS", 32),
    ("hypercube-64", "AAB", 11),
)
SEEDS = (0, 1, 2)


def seconds_to(engine: Tabu | Umda, problem: Problem, steps: int, seed: int, limit: float) -> float:
    """Return the seconds until an engine offers a schedule of this size, infinity at the limit."""
    # The run ends with the first schedule of this number of steps.
    run = LocalRun(
        problem, seed=seed, budget=Budget(seconds=limit), target=steps, first_lower=steps
    )
    begun = time.perf_counter()
    engine.solve(problem, run)
    taken = time.perf_counter() - begun
    if run.violations:
        raise SystemExit(f"{type(engine).__name__} has offered what is not valid")
    best = run.best()
    return taken if best is not None and best <= steps else math.inf


def bench_row(topology: str, collective: str, steps: int, limit: float) -> str:
    """Return the line of one instance."""
    problem = build_problem(instance(topology, collective))
    engines = (Tabu(TabuOptions()), Umda(UmdaOptions()), Umda(UmdaOptions(polish=0)))
    times: tuple[list[float], ...] = ([], [], [])
    for seed in SEEDS:
        for engine, found in zip(engines, times, strict=True):
            found.append(seconds_to(engine, problem, steps, seed, limit))
    tabu, polished, umda = (median(found) for found in times)
    name = f"{topology} {collective} {steps}"
    columns = "".join(f"{shown(each):>14}" for each in (tabu, polished, umda))
    return f"{name:<24}{columns}{ratio(tabu, umda, limit):>12}"


def shown(seconds: float) -> str:
    """Return the text of a median."""
    return f"{seconds:.3f} s" if math.isfinite(seconds) else "not reached"


def ratio(tabu: float, umda: float, limit: float) -> str:
    """Return the ratio of UMDA's time to that of tabu search, as far as it is known."""
    if math.isfinite(tabu) and math.isfinite(umda):
        return f"{umda / tabu:.1f} x"
    if math.isfinite(tabu):
        return f"> {limit / tabu:.1f} x"
    return f"< {umda / limit:.2f} x" if math.isfinite(umda) else "unknown"


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of one run")
    limit = parser.parse_args().seconds
    Tabu(TabuOptions()).prepare()
    Umda(UmdaOptions()).prepare()
    # Kernels are loaded at their first use, so the first run does not count.
    bench_row("ring-bi-4", "AAS", 2, limit)
    title = f"median of {len(SEEDS)} seeds"
    print(f"{title:<24}{'tabu':>14}{'umda':>14}{'no polish':>14}{'ratio':>12}")
    for topology, collective, steps in ROWS:
        print(bench_row(topology, collective, steps, limit), flush=True)


if __name__ == "__main__":
    main()
