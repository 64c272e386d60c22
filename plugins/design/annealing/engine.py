"""Simulated annealing: exchange of link ends, with rotational symmetry as an option.

References
----------
M. Nakao, GraphGolf, https://github.com/mnakao/GraphGolf: 2-opt by simulated annealing on networks
with a prescribed rotation, for the order/degree problem.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cchybrid.plugin.engine import EngineBase, Stop
from cchybrid.toolkit.kernels.rng import State, seed_state, uniform
from cchybrid.toolkit.options import require

from ..network.bounds import latency_bound
from ..network.cost import Cost
from ..network.designer import DesignRun, is_better
from ..network.distances import scratch
from ..network.ports import Links, Ports, links_of, ports_of
from ..network.random_networks import random_network
from ..network.task import DesignTask
from ..network.terms import LATENCY_TERMS
from .kernels import anneal_latency, fill_mates, try_move, undo
from .rotations import rotated_order

CHUNK_WORDS = 20_000_000
"""Word operations of distance searches between two checks of the run; tens of milliseconds."""
GENERAL_CHUNK = 10
"""Moves between two checks of the run if there are terms besides latency."""
GENERAL_SHARE = 0.1
"""Share of the moves of the first annealing that is made if there are terms besides latency."""
FIRST_CHUNK = 100
"""Moves until the first check of a run that anneals latencies; then twice as many each time."""
SAMPLES = 100
"""Moves from which the first temperature is derived."""
KNOWN_HEAT = 0.3
"""The temperatures of annealing from a network of another designer or of the user, in those of
annealing from a random network; chosen by hand."""
MAX_ROTATIONS = 16
"""The largest rotation that is tried if the user sets none."""


@dataclass(frozen=True)
class AnnealingOptions:
    """The parameters of simulated annealing.

    Parameters
    ----------
    rotations
        The order of the cyclic group of automorphisms that every network is given: 1 for none; 0
        for a different one in every annealing, out of those that the task permits.
    moves
        Moves per half-link of the first annealing; a tenth of them if there are terms besides
        latency, which take longer.
    growth
        Factor by which an annealing has more moves than the last one of as many rotations.
    hot, cold
        Temperature of the first and of the last move, in units of the median difference in cost
        between random networks that are one move apart.
    """

    rotations: int = 0
    moves: int = 1000
    growth: float = 1.5
    hot: float = 0.6
    cold: float = 0.02

    def __post_init__(self) -> None:
        require(self, rotations=0, moves=1, growth=1, hot=1e-6, cold=1e-6)
        if self.cold > self.hot:
            raise ValueError(f"cold is {self.cold:g}, use at most hot, which is {self.hot:g}")


class Annealing(EngineBase[AnnealingOptions]):
    """Simulated annealing that starts again with longer and longer schedules."""

    Options = AnnealingOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        task = DesignTask(8, 3)
        for rotations in (1, 2):
            search = _Search(task, rotations, seed_state(0), Cost(task))
            search.temperature()
            search.advance_latency(1.0, 0.1, 10)

    def unsupported(self, task: DesignTask) -> str | None:
        """Return why the options do not fit the task, or ``None``."""
        rotations = self.options.rotations
        if rotations > 1 and rotated_order(task, rotations) is None:
            return f"the nodes have no rotation of order {rotations} that moves all of them"
        return None

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        """Anneal random networks; stop at a network whose latencies are the lower bounds."""
        cost = Cost(task)
        bound = latency_bound(task).cost(task)
        state = seed_state(run.seed)
        orders = [self.options.rotations]
        if orders == [0]:
            largest = min(task.nodes, MAX_ROTATIONS)
            orders = [g for g in range(1, largest + 1) if rotated_order(task, g) is not None]
        length = float(self.options.moves)
        if not task.uses_only(LATENCY_TERMS):
            length *= GENERAL_SHARE
        while True:
            for rotations in orders:
                search = _Search(task, rotations, state, cost)
                moves = int(length * task.nodes * task.degree / rotations)
                self._anneal(search, moves, run)
                if bound is not None and search.costs[1] <= bound + task.tolerance:
                    return Stop.EXHAUSTED
                if run.should_stop():
                    return Stop.LIMIT
            length *= self.options.growth

    def _anneal(self, search: "_Search", moves: int, run: DesignRun) -> None:
        """Anneal once, and offer every network that is better than the run's best."""
        unit = search.temperature()
        better = run.known() if search.rotations == 1 else None
        if better is not None:
            search.restart_from(better)
            unit *= KNOWN_HEAT
        hot, cold = self.options.hot * unit, self.options.cold * unit
        run.spend(SAMPLES)
        self._offer(search, run)
        done, chunk = 0, min(FIRST_CHUNK, search.chunk)
        while done < moves and not run.should_stop():
            count = min(chunk, moves - done)
            chunk = min(2 * chunk, search.chunk)
            start = hot * (cold / hot) ** (done / moves)
            end = hot * (cold / hot) ** ((done + count) / moves)
            advance = search.advance_latency if search.by_latency else search.advance
            run.spend(advance(start, end, count))
            done += count
            run.note(temperature=end, cost=search.costs[0], rotations=search.rotations)
            self._offer(search, run)

    def _offer(self, search: "_Search", run: DesignRun) -> None:
        found = float(search.costs[1])
        if is_better(run, found):
            run.offer(search.links(), found)


class _Search:
    """A network that is being annealed, with the best one seen.

    Parameters
    ----------
    rotations
        The order of its rotation.
    """

    def __init__(self, task: DesignTask, rotations: int, state: State, cost: Cost) -> None:
        order = rotated_order(task, rotations)
        assert order is not None
        self.task, self.rotations, self.state, self.cost = task, rotations, state, cost
        self.order = order
        self.allowed = np.ascontiguousarray(task.allowed[np.ix_(order, order)])
        halves = task.nodes // rotations * task.degree
        self.mate = np.zeros((halves, 2), dtype=np.int64)
        self.mate[:, 0] = np.arange(halves)
        self.ports = np.repeat(np.arange(task.nodes, dtype=np.int32)[:, None], task.degree, axis=1)
        self.saved = np.zeros((4, 3), dtype=np.int64)
        self.reach = scratch(task.nodes, task.nodes // rotations)
        self.weights = np.array(
            [task.weight("latency") / task.nodes**2, task.weight("max-latency")]
        )
        self.by_latency = task.uses_only(LATENCY_TERMS) and self.weights[0] > 0
        words = self.reach.shape[2] * task.nodes * (task.degree + 1) * 5
        self.chunk = max(1, CHUNK_WORDS // words if self.by_latency else GENERAL_CHUNK)
        self._start()
        self.best = self.ports.copy()
        self.costs = np.full(2, self.evaluate())

    def restart_from(self, links: Links) -> None:
        """Replace the network, which has no rotation, by one with these links."""
        self.ports[:] = ports_of(self.task.nodes, self.task.degree, links)
        self.mate = mates_of(self.ports)
        self.best[:] = self.ports
        self.costs[:] = self.evaluate()

    def evaluate(self) -> float:
        """Return the cost of the network."""
        return self.cost(self._external(self.ports))

    def links(self) -> tuple[tuple[int, int], ...]:
        """Return the links of the best network."""
        return links_of(self._external(self.best))

    def temperature(self) -> float:
        """Return the median difference in cost of random moves; makes those moves."""
        before = self.evaluate()
        differences: list[float] = []
        for _ in range(SAMPLES):
            if self._move():
                after = self.evaluate()
                difference = abs(after - before)
                if 0 < difference < math.inf:
                    differences.append(difference)
                before = after
        self.costs[:] = before
        self.best[:] = self.ports
        return float(np.median(differences)) if differences else 1.0

    def advance_latency(self, hot: float, cold: float, moves: int) -> int:
        """Anneal latencies for a number of moves; return the networks evaluated."""
        return anneal_latency(
            self.mate, self.rotations, self.ports, self.best, self.costs, self.weights,
            self.allowed, self.task.redundant_links, hot, cold, moves, self.reach, self.saved,
            self.state,
        )  # fmt: skip

    def advance(self, hot: float, cold: float, moves: int) -> int:
        """Anneal any cost for a number of moves; return the networks evaluated."""
        evaluated = 0
        for move in range(moves):
            count = self._move()
            if not count:
                continue
            evaluated += 1
            temperature = hot * (cold / hot) ** (move / moves)
            limit = self.costs[0] - temperature * math.log(1.0 - uniform(self.state))
            cost = self.cost.up_to(self._external(self.ports), limit)
            if cost <= limit:
                self.costs[0] = cost
                if cost < self.costs[1]:
                    self.costs[1] = cost
                    self.best[:] = self.ports
            else:
                undo(self.mate, self.saved, count, self.rotations, self.ports)
        return evaluated

    def _start(self) -> None:
        """Draw a random network; a connected one unless it has a rotation."""
        if self.rotations == 1:
            ports = random_network(self.task, self.state)
            self.mate = mates_of(ports)
            self.ports[:] = ports
        else:
            fill_mates(
                self.mate, self.rotations, self.saved, self.ports, self.allowed,
                self.task.redundant_links, self.state,
            )  # fmt: skip

    def _move(self) -> int:
        return try_move(
            self.mate, self.rotations, self.saved, self.ports, self.allowed,
            self.task.redundant_links, self.state,
        )  # fmt: skip

    def _external(self, ports: Ports) -> Ports:
        """Return the ports by the numbers of the task's nodes."""
        external = np.empty_like(ports)
        external[self.order] = self.order[ports]
        return external


def mates_of(ports: Ports) -> NDArray[np.int64]:
    """Return the mates of half-links without rotations, see ``kernels``."""
    degree = ports.shape[1]
    mate = np.zeros((ports.size, 2), dtype=np.int64)
    mate[:, 0] = np.arange(ports.size)
    waiting: dict[tuple[int, int], list[int]] = {}
    for half, other in enumerate(ports.ravel().tolist()):
        node = half // degree
        if node < other:
            waiting.setdefault((node, other), []).append(half)
        elif node > other:
            first = waiting[other, node].pop()
            mate[half, 0], mate[first, 0] = first, half
    return mate
