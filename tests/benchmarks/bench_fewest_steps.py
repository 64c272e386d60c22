"""Search for the networks with the fewest steps, and print them as a table.

Run as ``python -m tests.benchmarks.bench_fewest_steps``: rows for n nodes with at most d links
each, a cell per collective (wormhole switching, all ports). Every cell gets a time limit, in
wall-clock seconds of this machine. A cell holds the steps of the best network found, by a verified
schedule and with a certified bound (``?`` without). Then follow ``=`` if no network has fewer steps
by a bound over all networks, ``!`` if all others were refuted, or ``>=`` and the bound over all
networks. ``AAS+1`` allows paths with one hop more than minimal.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from cchybrid_plugins.annealing.engine import Annealing, AnnealingOptions
from cchybrid_plugins.symmetric.engine import Symmetric, SymmetricOptions

from cchybrid.host.designs.network_steps import NetworkSteps, fewest_steps
from cchybrid.library.node_lists import parse_nodes
from cchybrid.model import CommunicationModel
from cchybrid.network_design.designer import Designer
from cchybrid.network_design.local_run import LocalDesignRun
from cchybrid.network_design.ports import Links
from cchybrid.network_design.task import DesignTask

CELLS = {
    "AAS": ("AAS", CommunicationModel()),
    "AAS+1": ("AAS", CommunicationModel(routing=1)),
    "AAB": ("AAB", CommunicationModel()),
    "OAB": ("OAB", CommunicationModel()),
}
"""Collective and communication model by the title of the column."""


def starts(task: DesignTask, seconds: float, seed: int) -> Iterator[Links]:
    """Yield networks of small mean latency by two designers."""
    designers: tuple[Designer, ...] = (Annealing(AnnealingOptions()), Symmetric(SymmetricOptions()))
    for designer in designers:
        run = LocalDesignRun(task, seed=seed, seconds=seconds)
        designer.design(task, run)
        if run.links is not None:
            yield run.links


def cell(found: NetworkSteps) -> str:
    """Return the cell of a result."""
    mark = {"by a bound": "=", "by exhaustion": "!"}.get(found.proven, f">={found.steps_bound}")
    return f"{found.steps}{mark}" + ("" if found.result.certified else "?")


def main() -> None:
    """Print a row per number of nodes and links."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", default="8-24", help="numbers of nodes, such as 8-12,16")
    parser.add_argument("--degrees", default="3,4", help="links per node, such as 3,4")
    parser.add_argument("--cells", default=",".join(CELLS), help="columns, such as AAS,AAB")
    parser.add_argument("--seconds", type=float, default=60, help="time limit of a cell")
    parser.add_argument("--slice", type=float, default=10, help="time limit of a network")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    names = chosen.cells.split(",")
    print("d   n  " + "".join(f"{name:>9s}" for name in names) + "  networks solved  seconds")
    for degree in map(int, chosen.degrees.split(",")):
        for nodes in parse_nodes(chosen.nodes):
            began, solved = time.monotonic(), 0
            line = f"{degree}  {nodes:2d}  "
            for name in names:
                collective, model = CELLS[name]
                task = DesignTask(nodes, degree, collective=collective, model=model)
                found = fewest_steps(
                    task,
                    starts(task, min(3.0, chosen.seconds / 4), chosen.seed),
                    time_limit=chosen.seconds,
                    slice_seconds=chosen.slice,
                    seed=chosen.seed,
                    threads=chosen.threads,
                )
                solved += found.solved
                line += f"{cell(found):>9s}"
            print(f"{line}  {solved:15d}  {time.monotonic() - began:7.0f}", flush=True)


if __name__ == "__main__":
    main()
