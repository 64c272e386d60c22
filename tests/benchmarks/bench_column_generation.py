"""Compare the bounds of column generation and of the arc-flow program on all-to-all scatter.

Run as ``python -m tests.benchmarks.bench_column_generation``: for every AAS row of the thesis up
to a number of nodes, the steps that the dual prices of the arc-flow program prove (checked), the
final bound of the engine ``column-generation``, started without a bound, and its best schedule,
verified. A row is finished when bound and schedule of the engine meet. The exit status is 1 if a
finished row's bound is below the arc-flow bound, or any bound above a schedule.
"""

from __future__ import annotations

import argparse
import sys
import time

from cchybrid_plugins.column_generation.engine import ColumnGeneration

from cchybrid.library.instance_spec import resolve
from cchybrid.model import Instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import build_problem
from cchybrid.proof.flow import price_bounds
from tests.benchmarks.bench_certificates import rows_up_to


def bench_row(name: str, instance: Instance, limit: float) -> tuple[str, bool]:
    """Return the line of one instance, and whether its bounds are consistent."""
    flow = max((bound.steps for bound in price_bounds(instance.forward)), default=1)
    problem = build_problem(instance)
    engine = ColumnGeneration(ColumnGeneration.Options())
    reason = engine.unsupported(problem)
    if reason is not None:
        return f"{name:36s} {flow:5} {reason}", True
    run = LocalRun(problem, budget=Budget(seconds=limit))
    begun = time.perf_counter()
    engine.solve(problem, run)
    taken = time.perf_counter() - begun
    if run.violations:
        raise SystemExit("column-generation has offered what is not valid")
    bound = max((steps for steps, _ in run.bounds), default=1)
    best = run.best()
    finished = best is not None and best == bound
    sound = (best is None or max(bound, flow) <= best) and (not finished or bound >= flow)
    word = "finished" if finished else ""
    return f"{name:36s} {flow:5} {bound:5} {best or '-':>6} {taken:7.1f}  {word}", sound


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--rows", default="", help="regular expression for the names of rows")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    print(f"{'row':36s} {'flow':>5} {'bound':>5} {'steps':>6} {'seconds':>7}")
    registry, sound = load_registry(), True
    for row in rows_up_to("thesis", options.nodes, rf"AAS.*{options.rows}|{options.rows}.*AAS"):
        line, makes_sense = bench_row(row.name, resolve(row.spec, registry), options.seconds)
        print(line, flush=True)
        sound = sound and makes_sense
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
