"""Compare the steps of all-to-all scatter over fixed shortest paths and over chosen paths.

Run as ``python -m tests.benchmarks.bench_fixed_paths``. With one fixed path per pair of nodes, the
fewest steps are the chromatic number of the paths' conflict graph. The script prints it for
dimension-ordered shortest paths (on other networks than meshes, tori and hypercubes: those whose
hops change node numbers by little first), and the optimum with paths and steps chosen together. A
number that is not proven within the limit is shown with ``<=`` in front.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np
from cchybrid_plugins.engines.colouring.exact import FixedChoice
from cchybrid_plugins.engines.colouring.graph import Conflicts, saturation_largest_first
from cchybrid_plugins.engines.cpsat.engine import CpSat

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.problem import Problem, build_problem
from cchybrid.toolkit.usage_matrix import IntVector, UsageMatrix

NETWORKS = (
    "ring-bi-8", "spidergon-8", "hypercube-8", "midimew-8", "k-ring-8", "amp-8", "mesh-3x3",
    "torus-3x3", "petersen-10", "kautz-12", "mesh-3x4", "heawood-14", "mesh-4x4", "torus-4x4",
    "hypercube-16", "spidergon-16",
)  # fmt: skip


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


def bench_row(network: str, threads: int, limit: float) -> tuple[str, str]:
    """Return the steps of one network over fixed and over chosen paths."""
    problem = build_problem(instance(network, "AAS"))
    uses, option = UsageMatrix.of(problem), ordered_by_dimension(problem)
    budget = Budget(limit, threads=threads)
    conflicts = Conflicts(problem, uses, option, np.random.default_rng(0), lambda: None)
    known = conflicts.schedule(saturation_largest_first)
    fixed = FixedChoice(problem, uses, option).fewest(known, budget, 0, limit)
    run = LocalRun(problem, budget=budget)
    CpSat(CpSat.Options()).solve(problem, run)
    best = run.best() or 0
    return shown(fixed.assignment.steps, fixed.proven), shown(best, best == run.lower())


def shown(steps: int, proven: bool) -> str:
    """Return the text of a number of steps."""
    return f"{steps}" if proven else f"<= {steps}"


def main() -> None:
    """Read the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of one decision")
    options = parser.parse_args()
    print(f"{'AAS':<16}{'by dimension':>16}{'chosen paths':>16}")
    for network in NETWORKS:
        fixed, chosen = bench_row(network, options.threads, options.limit)
        print(f"{network:<16}{fixed:>16}{chosen:>16}", flush=True)


if __name__ == "__main__":
    main()
