"""The engine ``trees``: broadcast trees of one message by simulated annealing."""

from copy import deepcopy
from math import ceil

import numpy as np

from cchybrid.plugin.engine import EngineBase, NoOptions, Run, Stop
from cchybrid.problem import Assignment, NetworkStructure, Problem
from cchybrid.problem.arrays import BoolArray, LongArray
from cchybrid.problem.grow import list_transfers
from cchybrid.problem.ragged import offsets
from cchybrid.problem.transfers import Transfers
from cchybrid.toolkit.kernels.rng import seed_state
from cchybrid.toolkit.search_run import EvaluationBudget, watched
from cchybrid.toolkit.warmup_problem import warmup_problem

from .kernels import Graph, Tree, anneal, grow, schedule, weigh

Cooling = tuple[float, float, float, int]
LOOSE: tuple[Cooling, ...] = (
    (5.0, 50.0, 1.0, 0),
    (5.0, 50.0, 1.0, 1000),
    (3.0, 5.0, 0.05, 0),
    (2.0, 1.0, 0.01, 0),
)
TIGHT: tuple[Cooling, ...] = ((2.0, 1.0, 0.01, 0), (1.5, 1.0, 0.01, 0))
"""Of one round after another: the base of the powers of the steps, the temperatures times
destinations at its begin and its end, and the moves per node (0: more than in the round before).
Large bases avoid late nodes; small ones find perfect trees, in which every node sends in every
step. Chosen on small worlds of 100 and 1,000 nodes and on binomial trees with random links, as all
constants here."""
FULL = 0.75
"""Part of the nodes that could be informed within the lower bound above which a tree has to be
nearly perfect."""
TEMPERATURES = 100
"""Temperatures of a round."""
MOVES, GROWTH, ROUNDS = 50, 1.3, 24
"""Moves per node in the first round, the factor of each further one, and the rounds."""
MAX_POWER = 200.0
"""Decimal exponent of the largest power of the base; a value is at most a thousand times that."""


class Trees(EngineBase[NoOptions]):
    """Change the tree along which one message is passed on, until its broadcast time is short.

    For messages that are forwarded hop by hop: a schedule of one message is a tree, whose best
    order of sending is known. The search space is all trees. The value of a tree is the sum, over
    all destinations, of the base to the power of the steps after which they receive. It is
    smallest if a node serves the children of larger values first, so after a move, in which one
    node gets another parent, only the values of the nodes before both parents have to be computed
    again.

    1. A first tree: in every step a maximum matching of informed and uninformed nodes, which
       informs those with more neighbours first.
    2. Rounds of simulated annealing, each with more moves than the last one, and another base.
    3. After each temperature, the broadcast time of the tree is computed, with the best order.
       Another tree is grown by maximum matchings that inform its earlier nodes first; late nodes
       so change places with others.

    Nodes that need not receive have no value of their own, and are left out where no destination
    is behind them. A network that is a tree has one tree only, whose broadcast time is exact.

    References
    ----------
    P. J. Slater, E. J. Cockayne, S. T. Hedetniemi, "Information dissemination in trees", SIAM
    Journal on Computing 10, 1981 (the best order of a tree). doi:10.1137/0210052

    H. W. Kuhn, "The Hungarian method for the assignment problem", Naval Research Logistics
    Quarterly 2, 1955 (augmenting paths). doi:10.1002/nav.3800020109

    S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220,
    1983. doi:10.1126/science.220.4598.671
    """

    Options = NoOptions

    def prepare(self) -> None:
        """Compile all kernels, once per installation."""
        problem = warmup_problem()
        assert problem.structure is not None
        search = Search(problem.structure, 0)
        search.start(TIGHT[0][0])
        search.anneal(1.0, 1, np.zeros(1, dtype=np.bool_))

    def unsupported(self, problem: Problem) -> str | None:
        """Refuse several messages, other switching than store-and-forward, and quotients."""
        structure = problem.structure
        if structure is None:
            return "quotients and routing tables fix the paths"
        if not structure.hop_by_hop:
            return "not store-and-forward switching"
        if len(structure.messages) != 1:
            return f"{len(structure.messages)} messages, not one"
        return None

    def solve(self, problem: Problem, run: Run) -> Stop:
        """Anneal until the lower bound is reached or the rounds are over."""
        structure = problem.structure
        assert structure is not None
        search, budget = Search(structure, run.seed), EvaluationBudget(run)
        destinations = len(structure.messages[0].destinations)
        is_tight = destinations + 1 > FULL * search.max_reached(run.lower())
        coolings = TIGHT if is_tight else LOOSE
        with watched(run) as stop:
            for index in range(ROUNDS):
                base, hot, cold, per_node = coolings[index % len(coolings)]
                search.start(base)
                per_node = per_node or ceil(MOVES * GROWTH**index)
                moves = ceil(per_node * structure.network.nodes / TEMPERATURES)
                possible = 0
                for temperature in np.geomspace(hot, cold, TEMPERATURES) / destinations:
                    if run.wants(search.steps):
                        run.offer(*search.found(problem))
                    if next(run.targets(), None) is None:
                        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED
                    share = budget.share(moves, 1)
                    possible += search.anneal(temperature, share, stop)
                    budget.spend(share)
                if not possible:
                    break
        return Stop.STALLED


class Search:
    """The tree of one message, its broadcast time, and the steps in which its nodes receive.

    Attributes
    ----------
    step
        Shape (nodes,): the step in which a node receives, -1 if it need not.
    steps
        The broadcast time.
    """

    def __init__(self, structure: NetworkStructure, seed: int) -> None:
        nodes = structure.network.nodes
        source, destinations = structure.messages[0]
        self._state = seed_state(seed)
        self.step = np.empty(nodes, dtype=np.int64)
        self._needed = np.zeros(nodes, dtype=np.int32)
        self._needed[list(destinations)] = 1
        resources = structure.resources
        self._ports = resources.capacity[resources.inject].astype(np.int64)
        sends, accepts = resources.working
        first, last, _ = structure.channels.T
        allowed = sends[first] & accepts[last] & (last != source)
        self._set_up(source, first[allowed], last[allowed])
        reached = self.step >= 0
        reached[source] = True
        if not reached.all():
            known = allowed & reached[first]
            self._set_up(source, first[known], last[known])
        self.steps, self._parent = schedule(self._graph, self._tree, self.step), self._tree.parent

    def _set_up(self, source: int, first: LongArray, last: LongArray) -> None:
        """Make the graph of these hops, and a first tree."""
        nodes = len(self.step)
        forwards, backwards = np.argsort(first, kind="stable"), np.argsort(last, kind="stable")
        several = np.bincount(last, minlength=nodes)
        self._graph = graph = Graph(
            source,
            offsets(several),
            first[backwards].astype(np.int32),
            offsets(np.bincount(first, minlength=nodes)),
            last[forwards].astype(np.int32),
            self._ports,
            self._needed,
            np.flatnonzero(several > 1).astype(np.int32),
        )
        self._tree = Tree(
            parent=np.empty(nodes, dtype=np.int32),
            child=np.empty(len(first), dtype=np.int32),
            children=np.empty(nodes, dtype=np.int64),
            value=np.zeros(nodes),
            changed=np.zeros(nodes),
            stamp=np.full(nodes, -1, dtype=np.int64),
            row=np.empty(nodes),
            order=np.empty(nodes, dtype=np.int32),
            time=np.empty(nodes, dtype=np.int64),
        )
        self._grown = deepcopy(self._tree)
        well_linked = np.argsort(-np.diff(graph.receivers), kind="stable").astype(np.int32)
        reached = grow(graph, self._tree, well_linked, self.step)
        self._tree = self._tree._replace(order=self._tree.order[:reached])

    def _find_steps(self) -> None:
        """Schedule the tree, or that which is grown from its order if it is shorter."""
        graph, tree = self._graph, self._tree
        self.steps, self._parent = schedule(graph, tree, self.step), tree.parent
        late = np.where(self.step < 0, len(self.step), self.step)
        first = np.lexsort((-tree.value, late)).astype(np.int32)
        step = np.empty_like(self.step)
        reached = grow(graph, self._grown, first, step)
        grown = self._grown._replace(order=self._grown.order[:reached])
        steps = schedule(graph, grown, step)
        if steps < self.steps:
            self.steps, self.step, self._parent = steps, step, grown.parent

    def start(self, base: float) -> None:
        """Value trees by powers of another base."""
        base = min(base, 10 ** (MAX_POWER / max(1, self.steps)))
        exponents = np.minimum(np.arange(len(self.step) + 1), MAX_POWER / np.log10(base))
        self._power = base**exponents
        weigh(self._graph, self._tree, self._power)

    def max_reached(self, steps: int) -> float:
        """Return the nodes that are informed after some steps if all ports are always used."""
        return float(min(1e9, (1.0 + self._ports.max()) ** min(steps, 99)))

    def anneal(self, temperature: float, moves: int, stop: BoolArray) -> int:
        """Make moves; return how many were possible."""
        graph = self._graph
        moves = moves if len(graph.movable) else 0
        possible: int = anneal(
            graph, self._tree, self._power, temperature, moves, stop, self._state
        )
        self._find_steps()
        return possible

    def found(self, problem: Problem) -> tuple[Assignment, Problem]:
        """Return the schedule of the tree, and the Problem that lists its hops."""
        order = np.argsort(self.step, kind="stable")
        node = order[self.step[order] >= 0]
        transfers = Transfers(
            message=np.zeros(len(node), dtype=np.int64),
            step=self.step[node],
            node=np.stack([self._parent[node], node], axis=1).ravel().astype(np.int64),
            start=2 * np.arange(len(node) + 1),
        )
        listed, assignment = list_transfers(problem, transfers)
        return assignment, listed
