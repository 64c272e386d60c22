"""Compare the processor time of ``cchybrid solve`` to a certified optimum with SCCL's method.

Run as ``python -m tests.benchmarks.bench_sccl``, or with rows such as ``"dgx-1 alltoall"``. It
needs z3 (``pip install z3-solver``). SCCL (Cai et al., "Synthesizing optimal collective
algorithms", PPoPP 2021, doi:10.1145/3437801.3441620) is represented by its encoding
(``tests/benchmarks/sccl.py``), one chunk per message, as many rounds as steps, decided by z3.

Both work on the same store-and-forward instance, with one thread, one after the other in one run.
SCCL's time is that of encoding and decision, in a process that has imported z3. cchybrid's is that
of the whole command, with all worker processes, the referee, the check of the bound, the start of
Python and all imports.

SCCL gets the optimal number of steps S from cchybrid and decides S and S - 1; "S alone" is the
ratio without S - 1, which other bounds may exclude as well. A decision that z3 does not reach
within the limit counts as the limit, and the ratios are then lower bounds. Figures are medians
over the seeds.

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
from typing import Any

from cchybrid.host.api import instance
from cchybrid.model import Instance
from cchybrid.model.errors import InputError
from cchybrid.model.schedule import steps_from_json
from cchybrid.referee.verify import verify

ROWS = (
    "hypercube-16 allgather", "torus-4x4 allgather", "mesh-4x4 allgather", "dgx-1 allgather",
    "dgx-1 alltoall", "hypercube-8 alltoall", "ring-bi-8 alltoall",
)  # fmt: skip
SWITCHING = "store-and-forward"
ROOT = Path(__file__).parents[2]


Decision = tuple[bool | None, float]
"""The verdict of z3, ``None`` if there is none, and the processor seconds spent."""


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
        return None, limit
    if ended.returncode:
        reason = ended.stderr.strip().splitlines()[-1:] or [f"exit status {ended.returncode}"]
        raise SystemExit(f"{instance.name}: the process of z3 failed: {reason[0]}")
    answer = json.loads(ended.stdout)
    verdict: bool | None = answer["verdict"]
    # Without empty steps, of which a valid schedule has none.
    found = steps_from_json(list(filter(None, answer["steps"])), "steps")
    if verdict and (violations := verify(instance, found)):
        raise SystemExit(f"{instance.name}: the schedule of z3 is not valid: {violations[0]}")
    if (verdict and len(found) < optimum) or (verdict is False and steps >= optimum):
        claim = f"finds {len(found)} steps" if verdict else f"refutes {steps} steps"
        raise SystemExit(f"{instance.name}: z3 {claim}, cchybrid certifies {optimum} as optimal")
    return verdict, answer["seconds"]


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
    """Return the line of one row; ``>`` marks what is a lower bound as a decision is missing."""
    instance = read_row(row)
    ours, found = [], []
    for seed in range(seeds):
        optimum, seconds = solve(*row.split(), seed, time_limit)
        ours.append(seconds)
        found.append([
            decide(instance, steps, optimum, seed, limit) for steps in (optimum, optimum - 1)
        ])  # fmt: skip
    late = ["> " * any(verdict is None for verdict, _ in each) for each in zip(*found, strict=True)]
    alone, below = (median(each[k][1] for each in found) for k in (0, 1))
    command = median(ours)
    columns = (
        f"{late[0]}{alone:.2f}", f"{late[1]}{below:.2f}", f"{command:.2f}",
        f"{max(late)}{(alone + below) / command:.1f} x", f"{late[0]}{alone / command:.1f} x",
    )  # fmt: skip
    return f"{row:<22}{optimum:>6}" + "".join(f"{column:>11}" for column in columns)


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", default=ROWS, help='such as "dgx-1 alltoall"')
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds of one decision")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds of cchybrid solve")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    if find_spec("z3") is None:
        print("z3 is not installed; use: pip install z3-solver", file=sys.stderr)
        return 2
    try:
        for row in options.rows:
            read_row(row)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    run(["cchybrid", "warm-up"])  # kernels are compiled at their first use
    heads = ("SCCL S", "SCCL S-1", "command", "ratio", "S alone")
    print(f"{'CPU seconds':<22}{'steps':>6}" + "".join(f"{head:>11}" for head in heads))
    for row in options.rows:
        print(bench_row(row, options.seeds, options.limit, options.time_limit), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
