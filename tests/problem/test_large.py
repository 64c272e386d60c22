"""Networks of 256 nodes are built within 2 GiB of address space."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
import numpy as np
import cchybrid
from cchybrid.problem import build_problem
for pattern in ("OAB", "OAS", "AAB", "AAS"):
    problem = build_problem(cchybrid.instance(sys.argv[1], pattern))
    sizes = np.diff(problem.option_start)
    assert sizes.min() > 0
    uses = np.diff(problem.path_start)[problem.option_path]
    print(pattern, problem.deliveries, int(problem.options <= 600_000), int(uses.max()) - 2)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "diameter"),
    [("torus-16x16", 16), pytest.param("hypercube-256", 8, marks=pytest.mark.long)],
)
def test_it_compiles_in_little_memory(name: str, diameter: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        f"OAB 255 1 {diameter}",
        f"OAS 255 1 {diameter}",
        f"AAB 65280 1 {diameter}",  # the source may inform everybody, the others their neighbours
        f"AAS 65280 1 {diameter}",
    ]
