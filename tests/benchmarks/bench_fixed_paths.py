"""Compare the steps of all-to-all scatter over fixed shortest paths and over chosen paths.

Run as ``python -m tests.benchmarks.bench_fixed_paths``. With one fixed path per pair of nodes, the
fewest steps are the chromatic number of the paths' conflict graph. The script prints it for
dimension-ordered shortest paths (on other networks than meshes, tori and hypercubes: those whose
hops change node numbers by little first), and the smallest one among random choices of shortest
paths; then the optimum with paths and steps chosen together. A number that is not proven within the
limit is shown with ``<=`` in front.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np
from cchybrid_plugins.engines.colouring.choice import Chooser
from cchybrid_plugins.engines.colouring.exact import FixedChoice
from cchybrid_plugins.engines.colouring.graph import Conflicts, saturation_largest_first
from cchybrid_plugins.engines.cpsat.engine import CpSat

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix

NETWORKS = (
    "ring-bi-8",
    "spidergon-8",
    "hypercube-8",
    "midimew-8",
    "k-ring-8",
    "amp-8",
    "mesh-3x3",
    "torus-3x3",
    "petersen-10",
    "kautz-12",
    "mesh-3x4",
    "heawood-14",
    "mesh-4x4",
    "torus-4x4",
    "hypercube-16",
    "spidergon-16",
)


def ordered_by_dimension(problem: Problem) -> IntVector:
    """Return, per delivery, the option whose hops change node numbers by little first.

    Nodes of meshes, tori and hypercubes are numbered dimension by dimension.
    """
    structure = problem.structure
    assert structure is not None
    found = np.zeros(problem.deliveries, dtype=np.int64)
    for delivery in range(problem.deliveries):
        first, last = problem.option_start[delivery : delivery + 2].tolist()
        path = [structure.path(index) for index in problem.option_path[first:last].tolist()]
        hops = [(len(nodes), [abs(b - a) for a, b in pairwise(nodes)]) for nodes in path]
        found[delivery] = first + min(range(len(hops)), key=hops.__getitem__)
    return found


def chromatic(
    problem: Problem, option: IntVector, seed: int, budget: Budget, limit: float
) -> tuple[int, bool]:
    """Return the fewest steps found for one choice of options, and whether they are proven."""
    uses = UsageMatrix.of(problem)
    conflicts = Conflicts(problem, uses, option, np.random.default_rng(seed), lambda: None)
    known = conflicts.schedule(saturation_largest_first)
    found = FixedChoice(problem, uses, option).fewest(known, budget, seed, limit)
    return found.assignment.steps, found.proven


def bench_row(network: str, choices: int, threads: int, limit: float) -> str:
    """Return the line of one network."""
    problem = build_problem(instance(network, "AAS"))
    chooser = Chooser(problem, UsageMatrix.of(problem), lambda: None)
    budget = Budget(limit, threads=threads)
    first = chromatic(problem, ordered_by_dimension(problem), 0, budget, limit)
    drawn = [
        chromatic(problem, chooser.shortest(np.random.default_rng(seed)), seed, budget, limit)
        for seed in range(choices)
    ]
    best = min(steps for steps, _ in drawn), all(proven for _, proven in drawn)
    run = LocalRun(problem, budget=Budget(limit, threads=threads))
    CpSat(CpSat.Options()).solve(problem, run)
    optimum = run.best() or 0, run.best() == run.lower()
    columns = "".join(f"{shown(*each):>16}" for each in (first, best, optimum))
    return f"{network:<16}{columns}{first[0] - optimum[0]:>8}{best[0] - optimum[0]:>8}"


def shown(steps: int, proven: bool) -> str:
    """Return the text of a number of steps."""
    return f"{steps}" if proven else f"<= {steps}"


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--choices", type=int, default=20, help="random choices per network")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of one decision")
    options = parser.parse_args()
    best = f"best of {options.choices}"
    print(f"{'AAS':<16}{'by dimension':>16}{best:>16}{'chosen paths':>16}{'gap':>8}{'gap':>8}")
    for network in NETWORKS:
        print(bench_row(network, options.choices, options.threads, options.limit), flush=True)


if __name__ == "__main__":
    main()
