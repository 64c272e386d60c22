"""GAPPIN, after Marden: link-by-link inheritance and mutation, survival of the better half.

References
----------
M. Marden, "A genetic algorithm for designing parallel processor interconnection networks": sections
2.2 (initial population), 2.3 (generations), 2.4 (parameters), 5.1 (limited wires) and 7 (removal
of isomorphic networks, proposed there).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.engine import EngineBase, Stop
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.options import require

from ..network.bounds import latency_bound
from ..network.canonical import canonical_form
from ..network.cost import Cost
from ..network.designer import DesignRun, is_better
from ..network.distances import scratch
from ..network.ports import links_of
from ..network.task import DesignTask
from ..network.terms import LATENCY_TERMS
from .kernels import Population, make_children, make_random, population_distances

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GappinOptions:
    """The parameters of GAPPIN; the paper does not state its values.

    Parameters
    ----------
    population
        The number of networks of a generation.
    generations
        The number of generations; 0 for no limit.
    mutation
        The probability that a link is made at random instead of inherited.
    redundant
        The probability that a redundant link is accepted, if the task allows such links.
    attempts
        Failed attempts to link a port after which links are no longer inherited, and, as often
        again, after which the port is left empty.
    distinct
        Whether only one of several isomorphic networks survives. The positions of the nodes are
        not taken into account, so with limited wires only equal networks are removed.
    """

    population: int = 256
    generations: int = 0
    mutation: float = 0.005
    redundant: float = 0.01
    attempts: int = 20
    distinct: bool = True

    def __post_init__(self) -> None:
        require(self, population=2, generations=0, attempts=1)
        require(self, 1, mutation=0, redundant=0)


class Gappin(EngineBase[GappinOptions]):
    """The genetic algorithm of the paper."""

    Options = GappinOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        task = DesignTask(8, 3)
        generation = _Generation(task, GappinOptions(population=2), 0)
        generation.advance()

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        """Make generations until the run ends, or the best network meets the lower bound."""
        bound = latency_bound(task).cost(task)
        generation = _Generation(task, self.options, run.seed)
        run.spend(self.options.population)
        number = 0
        while True:
            found = float(generation.costs[0])
            if is_better(run, found):
                run.offer(links_of(generation.networks[0]), found)
            if bound is not None and found <= bound + task.tolerance:
                return Stop.EXHAUSTED
            if run.should_stop():
                return Stop.LIMIT
            if number == self.options.generations > 0:
                return Stop.STALLED
            generation.advance()
            run.spend(self.options.population)
            number += 1
            run.note(generation=number, median=float(generation.costs[-1]))


class _Generation:
    """The networks of a generation, in ascending order of their costs."""

    def __init__(self, task: DesignTask, options: GappinOptions, seed: int) -> None:
        self.task, self.options, self.state = task, options, seed_state(seed)
        self.redundant = options.redundant if task.redundant_links else 0.0
        self.cost = Cost(task)
        self.reach = scratch(task.nodes)
        self.networks = np.empty((options.population, task.nodes, task.degree), dtype=np.int32)
        make_random(self.networks, task.allowed, self.redundant, self.state)
        self.costs = self._evaluate(self.networks)
        self._survive(self.networks, self.costs)

    def advance(self) -> None:
        """Make as many children as there are networks; keep the better half of all."""
        children = np.empty_like(self.networks)
        make_children(
            self.networks, children, self.task.allowed, self.options.mutation, self.redundant,
            self.options.attempts, self.state,
        )  # fmt: skip
        self._survive(
            np.concatenate((self.networks, children)),
            np.concatenate((self.costs, self._evaluate(children))),
        )

    def _evaluate(self, networks: Population) -> Floats:
        if not self.task.uses_only(LATENCY_TERMS):
            return np.array([self.cost(ports) for ports in networks])
        totals = np.empty(len(networks), dtype=np.int64)
        diameters = np.empty(len(networks), dtype=np.int64)
        population_distances(networks, totals, diameters, self.reach)
        mean = self.task.weight("latency") * totals / self.task.nodes**2
        costs: Floats = mean + self.task.weight("max-latency") * diameters
        costs[totals < 0] = math.inf
        return costs

    def _survive(self, networks: Population, costs: Floats) -> None:
        """Keep the networks of lowest cost; with ``distinct``, duplicates only to fill up."""
        order = np.argsort(costs, kind="stable")
        if self.options.distinct:
            order = self._duplicates_last(order, networks, costs)
        kept = order[: self.options.population]
        kept = kept[np.argsort(costs[kept], kind="stable")]
        self.networks, self.costs = networks[kept], costs[kept]

    def _duplicates_last(
        self, order: NDArray[np.int64], networks: Population, costs: Floats
    ) -> NDArray[np.int64]:
        """Return the order with the duplicates of earlier networks moved to the end.

        Only networks of equal cost are compared, until enough distinct ones are found.
        """
        free = self.task.max_wire is None and not self.task.weight("wire")
        distinct: list[int] = []
        repeated: list[int] = []
        forms: set[bytes] = set()
        previous = math.nan
        for place, index in enumerate(order.tolist()):
            if len(distinct) == self.options.population:
                return np.array([*distinct, *order[place:].tolist(), *repeated])
            if costs[index] != previous:
                forms.clear()
                previous = costs[index]
            ports = networks[index]
            form = canonical_form(ports) if free else repr(links_of(ports)).encode()
            (repeated if form in forms else distinct).append(index)
            forms.add(form)
        return np.array([*distinct, *repeated])
