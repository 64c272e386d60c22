"""Design the networks of the published tables and print them beside the published figures.

Run as ``python -m tests.benchmarks.bench_design``: every row gets the designers' time limit, in
wall-clock seconds of this machine. Means are over all pairs of nodes for the rows of Marden's paper
(GAPPIN), over pairs of different nodes for those of the order/degree problem. The exit status is 1
if a row is worse than its target. Rows are filtered by a regular expression, as in
``--rows "64 nodes"``.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from typing import NamedTuple

from cchybrid_plugins.annealing.engine import Annealing, AnnealingOptions
from cchybrid_plugins.exhaustive.engine import Exhaustive, ExhaustiveOptions
from cchybrid_plugins.gappin.engine import Gappin, GappinOptions
from cchybrid_plugins.symmetric.engine import Symmetric, SymmetricOptions

from cchybrid.design_checker import DesignFigures, check_design
from cchybrid.network_design.designer import Designer
from cchybrid.network_design.local_run import LocalDesignRun
from cchybrid.network_design.record import design_record
from cchybrid.network_design.task import DesignTask, layout

DESIGNERS: dict[str, Designer] = {
    "annealing": Annealing(AnnealingOptions()),
    "gappin": Gappin(GappinOptions()),
    "symmetric": Symmetric(SymmetricOptions()),
    "exhaustive": Exhaustive(ExhaustiveOptions()),
}


class Row(NamedTuple):
    """A published network.

    Parameters
    ----------
    itself
        Whether the mean includes every node itself.
    mean, maximum
        The published latencies, or the target.
    """

    name: str
    nodes: int
    degree: int
    itself: bool
    mean: float
    maximum: int | None = None
    layout: str = ""
    max_wire: float | None = None

    def task(self) -> DesignTask:
        """Return the task of the row."""
        positions = layout(self.layout, self.nodes) if self.layout else None
        return DesignTask(self.nodes, self.degree, positions=positions, max_wire=self.max_wire)


ROWS = (
    Row("table 1, 64 nodes, 3 links", 64, 3, True, 3.94, 7),
    Row("table 1, 64 nodes, 4 links", 64, 4, True, 3.03, 5),
    Row("table 1, 64 nodes, 5 links", 64, 5, True, 2.67, 4),
    Row("table 1, 64 nodes, 6 links", 64, 6, True, 2.43, 4),
    Row("table 3, 8 nodes", 8, 3, True, 1.438, 3, "backplane", 3),
    Row("table 3, 8 nodes, any wire", 8, 3, True, 1.375, 2),
    Row("table 4, 16 nodes, backplane", 16, 4, True, 1.953, 4, "backplane", 4),
    Row("table 4, 16 nodes, centreplane", 16, 4, True, 1.836, 3, "centreplane", 4),
    Row("order 16, degree 3", 16, 3, False, 2.2),
    Row("order 16, degree 4", 16, 4, False, 1.75),
    Row("order 32, degree 5", 32, 5, False, 2.0323),
    Row("order 64, degree 3", 64, 3, False, 3.80),
    Row("order 64, degree 4", 64, 4, False, 2.89),
    Row("order 72, degree 4", 72, 4, False, 2.9859),
    Row("order 256, degree 4", 256, 4, False, 4.25),
    Row("grid 4x4, degree 3, wire 2", 16, 3, False, 2.2, None, "grid-4x4", 2),
    Row("grid 5x5, degree 4, wire 2", 25, 4, False, 2.2667, None, "grid-5x5", 2),
    Row("grid 10x10, degree 6, wire 3", 100, 6, False, 2.95, None, "grid-10x10", 3),
)
"""The rows: tables 1, 3 and 4 of the paper, and targets of the order/degree problem."""


def mean_of(row: Row, figures: DesignFigures) -> float:
    """Return the mean latency as the row counts it."""
    others = float(figures.mean)
    return others * (row.nodes - 1) / row.nodes if row.itself else others


def matches(row: Row, figures: DesignFigures) -> bool:
    """Return whether a network is not worse than the row's."""
    return mean_of(row, figures) <= row.mean + 5e-5 and (
        row.maximum is None or figures.diameter <= row.maximum
    )


def bench_row(row: Row, name: str, seconds: float, seed: int) -> tuple[str, bool]:
    """Design a row; return its line of the table, and whether it is not worse than published."""
    designer, task = DESIGNERS[name], row.task()
    reason = designer.unsupported(task)
    if reason is not None:
        return f"{row.name:32s} {name:10s} {reason}", False
    run = LocalDesignRun(task, seed=seed, seconds=seconds)
    before = time.process_time()
    designer.design(task, run)
    spent = time.process_time() - before
    if run.links is None:
        return f"{row.name:32s} {name:10s} none found", False
    figures = check_design(design_record(task, run.links))
    good = matches(row, figures)
    published = f"{row.mean:.4f}/{'-' if row.maximum is None else row.maximum}"
    bound = "optimal" if figures.optimal else f"bound {float(figures.mean_bound):.4f}"
    line = (
        f"{row.name:32s} {name:10s} {published:>10s} {mean_of(row, figures):8.4f}/"
        f"{figures.diameter} {float(figures.mean):8.4f} {bound:13s} {run.spent:>10,} "
        f"{run.offers[-1][0]:7.1f} {spent:7.1f}  {'ok' if good else 'WORSE'}"
    )
    return line, good


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--designers", default="annealing")
    parser.add_argument("--rows", default="", help="regular expression for the names of rows")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        f"{'row':32s} {'designer':10s}  published     ours   mean n-1               "
        "  evaluated    best     cpu"
    )
    worse = 0
    for name in options.designers.split(","):
        getattr(DESIGNERS[name], "prepare", lambda: None)()
        for row in ROWS:
            if re.search(options.rows, row.name):
                line, good = bench_row(row, name, options.seconds, options.seed)
                print(line, flush=True)
                worse += not good
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
