"""Prices of a scatter by multiplicative weights, where the arc-flow linear program is large.

1. All messages take cheapest allowed routes under the present prices (``cheapest_flow``).
2. These routes are mixed into the average of all routes so far.
3. A link's weight is an exponential function of its load in the average, relative to its capacity.
   Its price is the weight over the capacity. Repeat from 1.

The total price of the cheapest routes over the priced capacity of a step is a lower bound on the
steps, for any prices. The largest relative load of the average is an upper bound on what prices can
prove; the exponents grow as the two approach each other.

Sources: Plotkin, Shmoys, Tardos, Mathematics of Operations Research 20, 1995,
doi:10.1287/moor.20.2.257; Garg, Koenemann, SIAM Journal on Computing 37, 2007,
doi:10.1137/S0097539704446232. A line search finds the share of the new routes in the average, as in
the flow deviation method: Fratta, Gerla, Kleinrock, Networks 3, 1973,
doi:10.1002/net.3230030202.
"""

import math
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Instance
from cchybrid.problem.resources import resources_of
from cchybrid.proof.linear_program import roundings
from cchybrid.referee.distances import hop_distances

FIRST_ROUNDS = 25
"""Rounds before the prices are first rounded; then after twice as many, and so on."""
MAX_ROUNDS = 800
"""Rounds after which the search ends."""
MAX_STEPS = 600_000_000
"""Sources times channels, added up over rounds, after which the search ends: about 20 seconds."""
DIJKSTRA_FACTOR = 2
"""Time of a search for routes of any length, relative to one for shortest routes."""
SHARPNESS = 0.5
"""Exponent of a link at the largest load, times the relative gap over the logarithm of the number
of links: larger values follow the largest loads more closely, and the average improves slower."""
FINEST = 10**6
"""Largest price of prices that are rounded to integers."""
MIN_GAP = 1e-5
"""Relative gap below which exponents do not grow."""
SAMPLED, MIN_SAMPLE, FINALISTS = 8, 64, 4
"""Roundings are compared for a part of the sources, at least this number, the best ones for all."""
LINE_SEARCH_STEPS = 12
"""Bisections of a line search."""

Floats = NDArray[np.float64]
Prices = tuple[Floats, Floats, Floats]


def multiplicative_prices(instance: Instance) -> Generator[tuple[int, Prices], None, bool]:
    """Yield more and more steps, and the integer prices that show them, equal ones first.

    Prices of channels, in the network's order, and of injection and acceptance ports: shapes
    (channels,) and twice (nodes,).

    Parameters
    ----------
    instance
        Of kind ``deliver``; a message with several destinations counts as one to each of them.

    Returns
    -------
    bool
        Whether no other prices prove more steps.
    """
    flow = CheapestFlow(instance)
    if not flow.possible:
        return False
    search, rounds = _Search(flow), FIRST_ROUNDS
    best = flow.bound(flow.equal)
    yield best, flow.split(flow.equal)
    while True:
        search.run(min(rounds, flow.max_rounds), best)
        if best < _ceil(search.upper):
            found = flow.best_of(search.rounded())
            if (steps := flow.bound(found)) > best:
                best = steps
                yield best, flow.split(found)
        if best >= _ceil(search.upper):
            return True
        if rounds >= flow.max_rounds:
            return False
        rounds *= 2


class CheapestFlow:
    """The cheapest allowed routes of all messages of a scatter, for any prices.

    Attributes
    ----------
    possible
        Whether there are messages and every one has a route.
    equal
        Shape (resources,): price 1 for every link.
    capacity
        Shape (resources,): the capacity of every link, and in store-and-forward switching of every
        port that limits more than its channels do; 1 elsewhere.
    priced
        Shape (resources,): which resources these are. All others have price 0: in wormhole
        switching a message uses ports once, whatever its route, which cut bounds count.
    max_rounds
        Rounds after which ``MAX_STEPS`` are done, from ``FIRST_ROUNDS`` to ``MAX_ROUNDS``.
    """

    def __init__(self, instance: Instance) -> None:
        network, extra = instance.network, instance.model.extra_hops
        hop_by_hop = instance.model.hop_by_hop
        if hop_by_hop:
            # Each hop is a path of its own, so routes are unrestricted and may pass endpoints.
            network, extra = replace(network, endpoints=()), None
        resources = resources_of(instance)
        self._resources = resources
        self.capacity = resources.capacity.astype(np.float64)
        self.priced = np.zeros(len(self.capacity), dtype=np.bool_)
        self.priced[resources.channel] = True
        self.equal = self.priced.astype(np.float64)
        order = np.argsort(resources.channels[:, 0], kind="stable")
        tails, heads, _ = resources.channels[order].T.astype(np.int32, order="C")
        self._used = [resources.channel[order]]
        if hop_by_hop:
            self.priced |= ~resources.implied & (self.capacity > 0)
            self._used += [resources.inject[tails], resources.accept[heads]]
        self.capacity[~self.priced] = 1.0
        pairs = np.array(
            [(m.source, goal) for m in instance.collective.deliver_messages for goal in m[1]],
            dtype=np.int64,
        ).reshape(-1, 2)
        sources, rows = np.unique(pairs[:, 0], return_inverse=True)
        demand = np.zeros((len(sources), network.nodes))
        np.add.at(demand, (rows, pairs[:, 1]), 1.0)
        distance = hop_distances(network, sources.tolist())
        self.possible = len(pairs) > 0 and bool((distance[demand > 0] > 0).all())
        passes = np.ones(network.nodes, dtype=np.bool_)
        passes[list(network.endpoints)] = False
        offsets = np.searchsorted(tails, np.arange(network.nodes + 1)).astype(np.int32)
        self._network = offsets, heads, passes
        self._rows: Any = sources.astype(np.int32), demand, distance
        every = min(SAMPLED, max(1, len(sources) // MIN_SAMPLE))
        self._sample: Any = tuple(rows[::every].copy() for rows in self._rows)
        # A simple path has fewer hops than there are nodes.
        self._extra = None if extra is None or extra >= network.nodes else extra
        each = DIJKSTRA_FACTOR if self._extra is None else self._extra + 1
        steps = len(sources) * max(1, len(tails)) * each
        self.max_rounds = min(max(MAX_STEPS // steps, FIRST_ROUNDS), MAX_ROUNDS)

    def send(self, prices: Floats, sampled: bool = False) -> tuple[float, Floats]:
        """Return the total price of the cheapest routes, and the load of each priced resource.

        ``prices`` and the loads have shape (resources,). A sample of the sources is for comparison.
        """
        from cchybrid.proof.cheapest_flow import send_anywhere, send_within_hops  # imports numba

        price = np.zeros(len(self._network[1]))
        for used in self._used:
            price += prices[used]
        carried = np.empty(len(price))
        sources, demand, distance = self._sample if sampled else self._rows
        if self._extra is None:
            total = send_anywhere(*self._network, sources, demand, price, carried)
        else:
            total = send_within_hops(
                *self._network, sources, demand, distance, self._extra, price, carried
            )
        load = np.zeros(len(prices))
        for used in self._used:
            load += np.bincount(used, carried, len(prices))
        return total, np.where(self.priced, load, 0.0)

    def bound(self, prices: Floats) -> int:
        """Return the lower bound on the steps that integer prices prove; their sums are exact."""
        return -(-int(self.send(prices)[0]) // max(1, int(prices @ self.capacity)))

    def best_of(self, candidates: Iterable[Floats]) -> Floats:
        """Return the prices that prove most, of those that are best for a sample of the sources."""
        good = sorted(candidates, key=lambda p: self._shown(p, sampled=True))
        return max(good[-FINALISTS:], key=self._shown)

    def _shown(self, prices: Floats, sampled: bool = False) -> float:
        return self.send(prices, sampled)[0] / max(1.0, float(prices @ self.capacity))

    def split(self, prices: Floats) -> Prices:
        """Return the prices of the channels, the injection ports and the acceptance ports."""
        resources = self._resources
        return prices[resources.channel], prices[resources.inject], prices[resources.accept]


class _Search:
    """The state of the search: the average relative load, the weights and their mean.

    Attributes
    ----------
    lower, upper
        What some prices prove, and what no prices exceed.
    """

    def __init__(self, flow: CheapestFlow) -> None:
        self._flow = flow
        self.lower, self.upper = 0.0, math.inf
        self._weights = np.where(flow.priced, 1.0 / np.count_nonzero(flow.priced), 0.0)
        self._mean = self._weights
        self._best = np.zeros(len(self._weights))
        self._load = np.zeros(len(self._weights))
        self._exponent = 0.0
        self._rounds = 0

    def run(self, rounds: int, known: int = 0) -> None:
        """Search until this number of rounds has been done, or no prices prove more than known."""
        while self._rounds < rounds and self.lower < self.upper and known < _ceil(self.upper):
            self._rounds += 1
            self._step()

    def _step(self) -> None:
        flow = self._flow
        prices = self._weights / flow.capacity
        # Integers, for ties in the kernels.
        prices = np.rint(prices * (FINEST / prices.max()))
        total, load = flow.send(prices)
        lower = total / float(prices @ flow.capacity)
        if lower > self.lower:
            self.lower, self._best = lower, prices
        # Later weights count more in the mean, as the first ones are far from good.
        self._mean = self._mean + 2.0 / (self._rounds + 1) * (self._weights - self._mean)
        change = load / flow.capacity - self._load
        share = self._share(change) if self._rounds > 1 else 1.0
        self._load = self._load + share * change
        self.upper = min(self.upper, float(self._load.max()))
        gap = max(1.0 - self.lower / self.upper, MIN_GAP)
        self._exponent = SHARPNESS * math.log(len(self._load)) / gap
        self._weights = self._exponentials(self._load)
        self._weights /= self._weights.sum()

    def _share(self, change: Floats) -> float:
        """Return the share of the new routes that minimizes the sum of the exponentials."""
        low, high = 0.0, 1.0
        for _ in range(LINE_SEARCH_STEPS):
            middle = (low + high) / 2
            slope = self._exponentials(self._load + middle * change) @ change
            low, high = (low, middle) if slope > 0 else (middle, high)
        return (low + high) / 2

    def _exponentials(self, load: Floats) -> Floats:
        """Return the weights for a load, the largest of which is 1."""
        power = np.exp(self._exponent * (load - load.max()) / self.upper)
        return np.where(self._flow.priced, power, 0.0)

    def rounded(self) -> Iterator[Floats]:
        """Yield integer prices: the best, and the present and the mean ones, rounded.

        Coarse roundings are often better than the weights: those of a bottleneck become equal.
        """
        yield self._best
        capacity = self._flow.capacity
        for weights in (self._weights, self._mean):
            for whole in roundings(weights / capacity, finest=FINEST):
                yield whole.astype(np.float64)


def _ceil(bound: float) -> float:
    """Round up, except for errors of floating point."""
    return bound if bound == math.inf else math.ceil(bound - 1e-6 * max(1.0, bound))
