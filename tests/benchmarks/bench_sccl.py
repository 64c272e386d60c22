"""Compare the processor time of ``cchybrid solve`` to a certified optimum with SCCL's method.

Run as ``python -m tests.benchmarks.bench_sccl``, or with rows such as ``"dgx-1 alltoall"``. It
needs z3 (``pip install z3-solver``). SCCL (Cai et al., "Synthesizing optimal collective
algorithms", PPoPP 2021, doi:10.1145/3437801.3441620) is represented by its encoding
(``tests/benchmarks/sccl.py``), one chunk per message, as many rounds as steps, decided by z3.

Both work on the same store-and-forward instance, with one thread, one after the other in one run.
SCCL's time is that of encoding and decision, in a process that has imported z3. cchybrid's is that
of the whole command, with all worker processes, the referee, the check of the bound, the start of
Python and all imports.

SCCL gets the optimal number of steps S from cchybrid and decides S and S - 1; where S is the
largest distance from a source to a destination, S - 1 needs no decision ("distance"). "S alone" is
the ratio without S - 1, which other bounds may exclude as well. A decision that z3
does not reach within the limit counts as the limit, and the ratios are then lower bounds. Figures
are medians over the seeds.

The referee verifies what z3 finds. Exit status: 1 if the two disagree, or if cchybrid does not
certify an optimum; 2 for bad input or without z3.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import networkx as nx

from cchybrid.host.api import instance
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_from_json
from cchybrid.referee.verify import verify

ROWS = (
    "hypercube-16 allgather",
    "torus-4x4 allgather",
    "mesh-4x4 allgather",
    "dgx-1 allgather",
    "dgx-1 alltoall",
    "hypercube-8 alltoall",
    "ring-bi-8 alltoall",
)
SWITCHING = "store-and-forward"
ROOT = Path(__file__).parents[2]


class Decision(NamedTuple):
    """The verdict of z3, ``None`` if there is none, and the processor seconds spent."""

    verdict: bool | None
    seconds: float


def run(arguments: list[str], text: str = "") -> tuple[subprocess.CompletedProcess[str], float]:
    """Run a module of Python; return it, and the processor seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(
        [sys.executable, "-m", *arguments],
        input=text, capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return ended, seconds


def solve(topology: str, collective: str, seed: int, time_limit: float) -> tuple[int, float]:
    """Return the certified optimum of cchybrid, and the processor seconds of the command."""
    ended, seconds = run([
        "cchybrid", "solve", topology, collective, "--switching", SWITCHING, "--threads", "1",
        "--seed", str(seed), "--time-limit", str(time_limit), "--json",
    ])  # fmt: skip
    if ended.returncode:
        raise SystemExit(f"{topology} {collective}: {ended.stderr.strip() or 'no schedule'}")
    result: dict[str, Any] = json.loads(ended.stdout)
    if result["status"] != "optimal" or not result["certified"]:
        raise SystemExit(f"{topology} {collective}: cchybrid certifies no optimum")
    return int(result["steps"]), seconds


def decide(instance: Instance, steps: int, optimum: int, seed: int, limit: float) -> Decision:
    """Let z3 decide a number of steps in a process of its own; check it against the optimum.

    Raises
    ------
    SystemExit
        If z3 contradicts the optimum, its schedule is not valid, or its process fails.
    """
    request = {"instance": instance.to_json(), "steps": steps, "seed": seed, "limit": limit}
    ended, seconds = run(["tests.benchmarks.sccl"], json.dumps(request))
    # Ended by the kernel, which counts in coarser units.
    if ended.returncode < 0 and seconds >= 0.9 * limit:
        return Decision(None, limit)
    if ended.returncode:
        reason = ended.stderr.strip().splitlines()[-1:] or [f"exit status {ended.returncode}"]
        raise SystemExit(f"{instance.name}: the process of z3 failed: {reason[0]}")
    answer = json.loads(ended.stdout)
    verdict, claim = answer["verdict"], ""
    if verdict:
        # Without empty steps, of which a valid schedule has none.
        found = steps_from_json(list(filter(None, answer["steps"])), "steps")
        if violations := verify(instance, found):
            raise SystemExit(f"{instance.name}: the schedule of z3 is not valid: {violations[0]}")
        if len(found) < optimum:
            claim = f"finds {len(found)} steps"
    elif verdict is False and steps >= optimum:
        claim = f"refutes {steps} steps"
    if claim:
        raise SystemExit(f"{instance.name}: z3 {claim}, cchybrid certifies {optimum} as optimal")
    return Decision(verdict, answer["seconds"])


def largest_distance(instance: Instance) -> int:
    """Return the largest number of hops from a source to one of its destinations."""
    graph = nx.DiGraph((channel.source, channel.target) for channel in instance.network.channels)
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    return max(
        hops[message.source][destination]
        for message in instance.collective.deliver_messages
        for destination in message.destinations
    )


def read_row(row: str) -> Instance:
    """Return the instance of a row; raise an ``InputError`` if it is not one of SCCL's encoding."""
    words = row.split()
    if len(words) != 2:
        raise InputError("not a row", where=row, hint="write a topology and a collective")
    found = instance(*words, switching=SWITCHING)
    if found.collective.kind != "deliver" or found.network.half_duplex:
        hint = "use a collective without reduction on a network without half-duplex links"
        raise InputError("not an instance of SCCL's encoding", where=row, hint=hint)
    return found


def bench_row(row: str, seeds: int, limit: float, time_limit: float) -> str:
    """Return the line of one row."""
    instance = read_row(row)
    ours, refute, find = [], [], []
    for seed in range(seeds):
        optimum, seconds = solve(*row.split(), seed, time_limit)
        ours.append(seconds)
        find.append(decide(instance, optimum, optimum, seed, limit))
        if optimum > largest_distance(instance):
            refute.append(decide(instance, optimum - 1, optimum, seed, limit))
    alone, total = median_seconds(find), median_seconds(find)
    if refute:
        total += median_seconds(refute)
    return (
        f"{row:<22}{optimum:>6}{shown(find):>10}{shown(refute):>10}"
        f"{median(ours):>9.2f}{ratio(total, median(ours), complete(find + refute)):>11}"
        f"{ratio(alone, median(ours), complete(find)):>11}"
    )


def complete(decisions: list[Decision]) -> bool:
    """Return whether no verdict is missing."""
    return all(decision.verdict is not None for decision in decisions)


def median_seconds(decisions: list[Decision]) -> float:
    """Return the median of the processor seconds."""
    return median(decision.seconds for decision in decisions)


def shown(decisions: list[Decision]) -> str:
    """Return the median of the seconds, marked as a lower bound if a decision is missing."""
    if not decisions:
        return "distance"
    return f"{'' if complete(decisions) else '> '}{median_seconds(decisions):.2f}"


def ratio(theirs: float, ours: float, exact: bool) -> str:
    """Return a ratio of times, marked as a lower bound if a decision is missing."""
    return f"{'' if exact else '> '}{theirs / ours:.1f} x"


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", default=ROWS, help='such as "dgx-1 alltoall"')
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds of one decision")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of cchybrid solve")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    if options.seeds < 1 or options.limit <= 0 or options.time_limit <= 0:
        parser.error("seeds and limits must be positive")
    if find_spec("z3") is None:
        print("z3 is not installed; use: pip install z3-solver", file=sys.stderr)
        return 2
    try:
        for row in options.rows:
            read_row(row)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    # Kernels are compiled at their first use, so this is done before the first measurement.
    run(["cchybrid", "warm-up"])
    print(
        f"{'CPU seconds':<22}{'steps':>6}{'SCCL S':>10}{'SCCL S-1':>10}"
        f"{'command':>9}{'ratio':>11}{'S alone':>11}"
    )
    for row in options.rows:
        print(bench_row(row, options.seeds, options.limit, options.time_limit), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
