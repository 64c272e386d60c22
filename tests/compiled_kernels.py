"""Compiles the kernels of all engines, two engines at a time."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from cchybrid.host.api import instance
from cchybrid.plugin.conformance import LocalRun
from cchybrid.plugin.engine import Budget
from cchybrid.plugin.records import load_target
from cchybrid.plugin.registry import load_registry
from cchybrid.plugin.warm_up import pending
from cchybrid.problem import build_problem


def compile_kernels() -> None:
    """Let every engine without compiled code on the disk prepare itself and work a little."""
    names = [info.name for info in pending(load_registry().engines.values())]
    if not names:
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        list(pool.map(_compile, names))


def _compile(name: str) -> None:
    kind = load_target(load_registry().engine(name).target)
    engine = kind(kind.Options())
    engine.prepare()
    run = LocalRun(build_problem(instance("ring-bi-6", "AAS")), budget=Budget(evaluations=2000))
    engine.solve(run.problem, run)
