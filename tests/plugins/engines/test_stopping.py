"""Engines with compiled kernels stop in time, on large problems and from their start on."""

import time
from functools import cache
from random import Random
from threading import Event, Thread

import pytest

from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget, Stop
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.problem import Problem, build_problem
from tests.named_instances import named

MAX_SECONDS = 1.0
"""Processor time, which other work on the machine does not lengthen."""
LARGE = {
    "wormhole": "hypercube-64 AAS", "forwarding": "torus-8x8 AAB",
    "detours": "random-regular-64-3-5 AAS routing=1", "hop by hop": "mesh-8x8 AAS hops",
}  # fmt: skip


@cache
def problem_of(name: str) -> Problem:
    return build_problem(named(LARGE[name]))


ENGINES = ("packing", "matching", "mboa", "hgsa", "random", "sga", "tabu", "umda")
CASES = [
    # One kind of problem for every engine in every run, each kind for two of them.
    pytest.param(name, kind, marks=[] if number % len(LARGE) == place else [pytest.mark.long])
    for number, name in enumerate(ENGINES)
    for place, kind in enumerate(LARGE)
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_engines_stop_within_a_second(name, kind):
    problem = problem_of(kind)
    chosen = load_target(load_registry().engine(name).target)
    engine = chosen(chosen.Options())
    if engine.unsupported(problem) is not None:
        return
    engine.prepare()
    delay = Random(f"{name} {kind}").choice([0.0, 0.1, 0.3, 0.6])
    run = LocalRun(problem, budget=Budget(seconds=3600.0))
    stopped: list[float] = []
    ended = Event()

    def stop() -> None:
        begun = time.process_time()
        while time.process_time() - begun < delay and not ended.is_set():
            time.sleep(0.005)
        stopped.append(time.process_time())
        run.stopped = True

    Thread(target=stop).start()
    how = engine.solve(problem, run)
    taken = time.process_time() - stopped[0] if stopped else 0.0
    ended.set()
    assert how is Stop.LIMIT
    assert taken < MAX_SECONDS
    assert not run.violations
