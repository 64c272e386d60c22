"""Solve, prove, check: every row of a suite up to a size, from the instance to the certificate.

Run as ``python -m tests.benchmarks.bench_certificates``: the rows of the thesis with at most 16
nodes in their name, a minute to solve and ten to prove. A row is closed when the checker, which
gets only the two files, accepts the schedule as optimal. Times are wall-clock seconds of this
machine; "proof" is the time of the search for a certificate of the finished schedule, without
the evidence of the run. It ends with exit status 1 if a row is not closed.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from cchybrid.bench.row import Row
from cchybrid.bench.suite import read_suite
from cchybrid.checker import check
from cchybrid.host.api import solve
from cchybrid.host.certificates import certificate
from cchybrid.library.instance_spec import resolve
from cchybrid.model import Instance
from cchybrid.plugin.registry import load_registry
from cchybrid.proof.search import find_proof


class Line(NamedTuple):
    """The result of a row."""

    row: str
    steps: int | None
    bound: int
    kind: str
    scope: str
    optimal: bool
    solving: float
    proving: float
    checking: float
    size: int


def nodes_in(name: str) -> int:
    """Return the number of nodes in a topology's name: 16 for mesh-4x4 and omega-16."""
    return math.prod(map(int, re.findall(r"\d+", name.split("-")[-1])))


def certify(title: str, instance: Instance, time_limit: float, proof_limit: float) -> Line:
    """Solve one instance, prove what was found, and let the checker decide in its own process."""
    begun = time.perf_counter()
    found = solve(instance, time_limit=time_limit)
    solving = time.perf_counter() - begun
    if found.schedule is None:
        return Line(title, None, found.lower_bound.steps, "", "", False, solving, 0.0, 0.0, 0)
    record = json.loads(json.dumps(found.schedule.to_json()))
    begun = time.perf_counter()
    proof = find_proof(instance, record["instance"], len(found.schedule.steps), proof_limit).proof
    proving = time.perf_counter() - begun
    if proof is None:
        return Line(title, found.steps, 1, "", "", False, solving, proving, 0.0, 0)
    claim = certificate(
        record["instance"], {"steps": proof.steps, "scope": proof.scope}, proof.evidence, {}
    )
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("schedule.json", "certificate.json")]
        for file, content in zip(files, (record, claim), strict=True):
            file.write_text(json.dumps(content))
        begun = time.perf_counter()
        alone = subprocess.run(
            [sys.executable, "-m", "cchybrid.checker", *map(str, files)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        checking = time.perf_counter() - begun
        size = files[1].stat().st_size
    verdict = check(record, claim)
    optimal = verdict.optimal and alone.returncode == 0 and "optimal" in alone.stdout
    return Line(
        title, found.steps, verdict.bound, verdict.kind, verdict.scope, optimal,
        solving, proving, checking, size,
    )  # fmt: skip


def shown(line: Line) -> str:
    """Return a row of the table."""
    word = "optimal" if line.optimal else "OPEN"
    return (
        f"{line.row:44s} {line.steps or '-':>5} {line.bound:>5}  {word:8s} {line.kind:10s} "
        f"{line.scope:16s} {line.solving:7.1f} {line.proving:7.1f} {line.checking:7.1f} "
        f"{line.size:>10,}"
    )


def rows_up_to(suite: str, nodes: int, pattern: str) -> list[Row]:
    """Return the rows whose topology has at most ``nodes`` nodes and whose name matches."""
    return [
        row
        for row in read_suite(suite).rows
        if nodes_in(row.spec.topology) <= nodes and re.search(pattern, row.name)
    ]


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default="thesis")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--rows", default="", help="regular expression for the names of rows")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--proof-limit", type=float, default=600.0)
    options = parser.parse_args()
    print(
        f"{'row':44s} steps bound  {'':8s} {'kind':10s} {'scope':16s}   solve   proof   check"
        "      bytes"
    )
    registry = load_registry()
    lines = []
    for row in rows_up_to(options.suite, options.nodes, options.rows):
        instance = resolve(row.spec, registry)
        lines.append(certify(row.name, instance, options.time_limit, options.proof_limit))
        print(shown(lines[-1]), flush=True)
    closed = sum(line.optimal for line in lines)
    kinds = Counter(line.kind for line in lines if line.optimal)
    print(f"{closed} of {len(lines)} closed; {dict(kinds)}")
    return 0 if closed == len(lines) else 1


if __name__ == "__main__":
    sys.exit(main())
