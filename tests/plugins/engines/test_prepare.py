"""``prepare`` compiles all kernels that ``solve`` calls, for any problem and options."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import Problem, build_problem
from cchybrid.problem.symmetry import group_actions, quotient
from cchybrid.problem.symmetry.groups import generate
from tests.named_instances import named

ENGINES = sorted(info.name for info in load_registry().engines.values() if info.prepares)
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "tabu": [{}, {"control": "raise"}],
    "hgsa": [{}, {"fitness": "steps", "control": "raise"}],
    "random": [{}, {"greedy": False}],
    "sga": [{}, {"polish": 0, "sweeps": 0, "moves": 1, "greedy": 0.0, "control": "raise"}],
    "umda": [{}, {"radius": 1, "conflicts": "excess", "polish": 0}],
    "mboa": [{}, {"leaves": 1, "candidates": 0}],
}


def problems() -> list[Problem]:
    words = "ring-bi-5 AAS, hypercube-8 AAB, mesh-2x3 AAS hops, mesh-2x3 AAB ports=1, ring-bi-6 AOR"
    cases = map(named, words.split(","))
    ring = build_problem(named("ring-bi-6 AAS"))
    rotation = generate((np.arange(6, dtype=np.int32)[None, :] + 3) % 6, 6)
    return [*map(build_problem, cases), quotient(ring, next(group_actions(rotation, 0)))]


def signatures() -> dict[str, set[Any]]:
    """Return what every kernel in memory has been called with."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith("cchybrid"):
            for kernel in vars(module).values():
                if isinstance(kernel, CPUDispatcher):
                    found[f"{kernel.__module__}.{kernel.__name__}"] = set(kernel.signatures)
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", ENGINES)
def test_nothing_is_compiled_within_solve(name):
    kind = load_target(load_registry().engine(name).target)
    kind(kind.Options()).prepare()
    before = signatures()
    for options in OPTIONS.get(name, [{}]):
        for problem in problems():
            engine = kind(kind.Options(**options))
            if engine.unsupported(problem) is None:
                engine.solve(problem, LocalRun(problem, budget=Budget(evaluations=300, seconds=20)))
    for kernel, known in signatures().items():
        assert known == before.get(kernel, set()), kernel


@pytest.mark.slow
def test_engines_that_may_need_no_solver_start_without_one():
    """CP-SAT imports pandas, which takes as long as all else that such an engine imports."""
    named = map(
        load_registry().engine, ("classical", "broadcast", "tabu", "matching", "packing", "trees")
    )
    targets = [info.target.partition(":")[0] for info in named]
    code = f"import sys, {', '.join(targets)}; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
