"""CP-SAT design: networks of very small orders with proven latencies, wires limited or not.

The networks whose diameter is at most K are searched for the cheapest one. K grows from its lower
bound until no network of a larger diameter can be cheaper than the best one found, which is then
proven.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from cchybrid.plugin.engine import EngineBase, Stop
from cchybrid.toolkit.options import require
from cchybrid.toolkit.solver import StoppedError, call, check, evaluations, new_solver, solve_model

from ..network.bounds import LatencyBound, latency_bound
from ..network.cost import Cost
from ..network.designer import DesignRun, is_better
from ..network.ports import ports_of
from ..network.task import DesignTask
from ..network.terms import LATENCY_TERMS
from .model import NetworkModel

FIRST_UNITS = 1.0
"""Deterministic time of the first call of the solver, about seconds; doubled in every call."""
MAX_COEFFICIENT = 2**30
"""Weights that are no whole multiples of each other up to this factor are refused."""


@dataclass(frozen=True)
class CpsatDesignOptions:
    """The limit of CP-SAT design.

    Parameters
    ----------
    nodes
        Tasks with more nodes are refused: the model grows with the third power.
    """

    nodes: int = 24

    def __post_init__(self) -> None:
        require(self, nodes=2)


class CpsatDesign(EngineBase[CpsatDesignOptions]):
    """The cheapest network of every diameter by CP-SAT, until one is proven best."""

    Options = CpsatDesignOptions

    def unsupported(self, task: DesignTask) -> str | None:
        """Return why the task has no model, or ``None``."""
        if task.nodes > self.options.nodes:
            return f"a model of more than {self.options.nodes} nodes is too large"
        if not task.uses_only(LATENCY_TERMS):
            return "the model has no terms besides latency"
        if max(_coefficients(task)) > MAX_COEFFICIENT:
            return "the weights are not whole multiples of one another"
        return None

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        """Search diameter by diameter; return ``EXHAUSTED`` when the best network is proven."""
        bound = latency_bound(task)
        coefficients = _coefficients(task)
        best: int | None = None
        for diameter in range(bound.diameter, task.nodes):
            total = _min_total(bound, diameter)
            min_cost = coefficients[0] * total + coefficients[1] * diameter
            if run.should_stop():
                return Stop.LIMIT
            if best is not None and best <= min_cost:
                return Stop.EXHAUSTED
            model = NetworkModel(task, diameter, bound, coefficients, best)
            try:
                best = _solve(model, task, run, best)
            except StoppedError:
                return Stop.LIMIT
        return Stop.EXHAUSTED


def _solve(model: NetworkModel, task: DesignTask, run: DesignRun, best: int | None) -> int | None:
    """Solve a model to its end; return the objective of the best network, or ``best``.

    Raises
    ------
    StoppedError
        If the run is over.
    """
    units = FIRST_UNITS
    while True:
        check(run.should_stop)
        solver = new_solver(run.seed, units=units)
        found = call(partial(solve_model, model.model, solver), solver.stop_search, run.should_stop)
        run.spend(evaluations(found.units))
        run.note(diameter=model.diameter, bound=found.bound)
        if found.values is not None:
            best = model.cost(found.values)
            model.hint(found.values)
            links = model.links(found.values)
            cost = Cost(task)(ports_of(task.nodes, task.degree, links))
            if is_better(run, cost):
                run.offer(links, cost)
        if found.optimal or found.infeasible:
            return best
        units *= 2


def _coefficients(task: DesignTask) -> tuple[int, int]:
    """Return integers proportional to the weights of the sum of distances and of the diameter."""
    mean = Fraction(repr(float(task.weight("latency")))) / task.nodes**2
    maximum = Fraction(repr(float(task.weight("max-latency"))))
    scale = math.lcm(mean.denominator, maximum.denominator)
    whole = int(mean * scale), int(maximum * scale)
    divisor = math.gcd(*whole)
    return whole[0] // divisor, whole[1] // divisor


def _min_total(bound: LatencyBound, diameter: int) -> int:
    """Return a lower bound of the sum of distances in networks of at least this diameter.

    The nodes of a shortest path of that length are 1, 2, ... hops apart, all others at least 1.
    """
    path = diameter * (diameter + 1) * (diameter + 2) // 3
    others = bound.nodes * (bound.nodes - 1) - diameter * (diameter + 1)
    return max(bound.total, path + others)
