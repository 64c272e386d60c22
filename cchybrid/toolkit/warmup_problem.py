"""The Problem on which an engine's ``prepare`` compiles kernels."""

from cchybrid.model import Collective, Instance, Message, Network
from cchybrid.problem import Problem, build_problem
from cchybrid.system.kernel_cache import needs_compiling


def warmup_problem() -> Problem:
    """Return a tiny Problem without a schedule of one step, so that a search for one runs."""
    pair = Network.from_arcs("pair", 2, [(0, 1)])
    # Two messages over one channel in one step are in conflict.
    return build_problem(Instance(pair, Collective("clash", (Message(0, (1,)), Message(0, (1,))))))


def compile_first_fit(engine: type | None = None) -> None:
    """Compile the kernels of ``first_fit``, the only ones that many engines need, and load them.

    Where those of this engine have been compiled, do nothing: it loads them where it uses them.
    """
    if engine is not None and not needs_compiling(f"{engine.__module__}:{engine.__qualname__}"):
        return
    from cchybrid.toolkit.kernels.first_fit import first_fit

    first_fit(warmup_problem(), 0)
