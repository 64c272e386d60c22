"""The input of a construction: network, messages and capacities, read forwards."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from random import Random

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cchybrid.model import Message, Transfer
from cchybrid.problem import LINK, NetworkStructure, Problem
from cchybrid.problem.transfers import Transfers

Path = tuple[int, ...]
LongArray = NDArray[np.int64]
Draft = list[list[Transfer]]
"""The transfers of every step, of the instance read forwards (a reduction is a broadcast)."""
AnyDraft = Draft | Transfers
"""The same, or in flat arrays where they may be a million."""


def branch(before: Mapping[int, int] | Sequence[int], node: int) -> Path:
    """Return the path from the root, which is its own predecessor, to a node."""
    path = [node]
    while before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return tuple(path[::-1])


class DoesNotApplyError(Exception):
    """A construction does not apply to this instance; the text says why, in a few words."""


class Context:
    """The input of a construction: an instance, and the limits of the run.

    Parameters
    ----------
    problem
        A Problem with a network structure.
    seed
        Seed of all random choices.
    check
        Called often; raises to stop.
    wants
        Whether a schedule of a number of steps is still of use.
    effort
        Factor on the attempts of constructions that search.

    Raises
    ------
    DoesNotApplyError
        If the Problem is a quotient.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int,
        check: Callable[[], None],
        wants: Callable[[int], bool] = lambda steps: True,
        effort: int = 1,
    ) -> None:
        structure = problem.structure
        if structure is None:
            raise DoesNotApplyError("quotients and routing tables fix the paths")
        self.problem, self.structure = problem, structure
        self.check, self.wants, self.effort = check, wants, effort
        self.known = math.inf
        """Steps of the best schedule that the current construction has found."""
        self._seed = seed
        self.random = Random(seed)
        self.network = structure.network
        self.nodes = structure.network.nodes
        self.endpoints = frozenset(structure.network.endpoints)
        self.messages: tuple[Message, ...] = structure.messages
        self.distance = structure.distance
        self.deliveries = int(problem.required.sum())
        """The number of required deliveries."""
        self.capacity: list[int] = problem.capacity.tolist()
        self.inject: list[int] = structure.resources.inject.tolist()
        self.accept: list[int] = structure.resources.accept.tolist()
        channels = structure.resources.channel.tolist()
        self.channel = dict(zip(self.network.channel_index, channels, strict=True))
        self._uses: dict[Path, list[int]] = {}
        self._hops_to: dict[int, list[int]] = {}

    def restarted(self) -> "Context":
        """Reset the random state and the best steps; return the context."""
        self.random, self.known = Random(self._seed), math.inf
        return self

    @cached_property
    def min_steps(self) -> int:
        """A lower bound on the steps of a schedule."""
        return min_steps(self.problem, self.structure)

    def uses(self, path: Path) -> list[int]:
        """Return the resources that a path uses: a port, channels, a port."""
        known = self._uses.get(path)
        if known is None:
            hops = [self.channel[hop] for hop in pairwise(path)]
            known = self._uses[path] = [self.inject[path[0]], *hops, self.accept[path[-1]]]
        return known

    def hops_to(self, target: int) -> list[int]:
        """Return the hops from every node to the target, -1 where there is no path."""
        if target not in self._hops_to:
            self._hops_to[target] = self.distance[:, target].tolist()
        return self._hops_to[target]

    def max_hops(self, source: int, target: int, *, multi_hop: bool = False) -> int:
        """Return the maximal hops of an allowed path, 0 where there is none.

        Parameters
        ----------
        multi_hop
            Allow paths of several hops under store-and-forward switching, too.
        """
        if self.structure.hop_by_hop and not multi_hop:
            return int((source, target) in self.channel)
        hops, extra = self.hops_to(target)[source], self.structure.extra_hops
        if hops <= 0:
            return 0
        return self.nodes - 1 if extra is None else hops + extra

    def improves(self, steps: int) -> bool:
        """Return whether this number of steps is of use and below the best found so far."""
        return steps < self.known and self.wants(steps)

    def require_useful(self, steps: int) -> None:
        """Raise ``DoesNotApplyError`` if a schedule of this number of steps is of no use."""
        if not self.wants(steps):
            raise DoesNotApplyError(f"{steps} steps are no better than the best known")

    def require_wormhole(self, *, full_duplex: bool = False) -> None:
        """Raise ``DoesNotApplyError`` under store-and-forward, or with half-duplex links."""
        if self.structure.hop_by_hop:
            raise DoesNotApplyError("not wormhole switching")
        if full_duplex and self.network.half_duplex:
            raise DoesNotApplyError("half-duplex links")

    def require_scatter(self) -> None:
        """Raise ``DoesNotApplyError`` unless every message has one destination."""
        if any(len(message.destinations) > 1 for message in self.messages):
            raise DoesNotApplyError("messages with several destinations")

    def all_to_all_members(self) -> tuple[int, ...]:
        """Return the participants of an all-to-all broadcast: every message goes to all others.

        Raises
        ------
        DoesNotApplyError
            If it is another kind of collective.
        """
        groups = {frozenset((source, *others)) for source, others in self.messages}
        if len(groups) > 1:
            raise DoesNotApplyError("messages go to different sets of nodes")
        members = tuple(sorted(next(iter(groups))))
        if len(members) < 3:
            raise DoesNotApplyError("fewer than three nodes take part")
        return members

    def broadcast_source(self) -> int:
        """Return the source of the one message to all nodes; else raise ``DoesNotApplyError``."""
        if len(self.messages) > 1:
            raise DoesNotApplyError("more than one message")
        source, destinations = self.messages[0]
        if len(destinations) != self.nodes - 1:
            raise DoesNotApplyError("the message does not go to all nodes")
        return source

    def message_of_pair(self, members: int | None = None) -> dict[tuple[int, int], int]:
        """Return the message of every pair of nodes, or of ``members`` of them.

        Raises
        ------
        DoesNotApplyError
            If it is another kind of collective.
        """
        self.require_scatter()
        pairs = {(source, goals[0]): index for index, (source, goals) in enumerate(self.messages)}
        nodes = self.nodes if members is None else members
        count = nodes * (nodes - 1)
        if len(pairs) < count or len(self.messages) > count:
            raise DoesNotApplyError("not one message from every node to every other")
        return pairs

    @cached_property
    def ends(self) -> tuple[LongArray, LongArray]:
        """Shape (messages,) each: the source and the destination of every message.

        Raises
        ------
        DoesNotApplyError
            If a message has several destinations.
        """
        self.require_scatter()
        targets = (targets[0] for _, targets in self.messages)
        return self.structure.message_source, np.fromiter(targets, np.int64, len(self.messages))

    def message_matrix(self) -> LongArray:
        """Return, shape (nodes, nodes), the message of every pair of nodes, -1 on the diagonal.

        Raises
        ------
        DoesNotApplyError
            If it is another kind of collective.
        """
        found = np.full((self.nodes, self.nodes), -1, dtype=np.int64)
        found[self.ends] = np.arange(len(self.messages))
        count = self.nodes * (self.nodes - 1)
        if len(self.messages) != count or np.count_nonzero(found >= 0) != count:
            raise DoesNotApplyError("not one message from every node to every other")
        return found

    def ports(self) -> tuple[int, int]:
        """Return the messages that every node can inject and accept per step.

        Raises
        ------
        DoesNotApplyError
            If some node cannot inject or cannot accept.
        """
        sends = min(self.capacity[port] for port in self.inject)
        takes = min(self.capacity[port] for port in self.accept)
        if min(sends, takes) == 0:
            raise DoesNotApplyError("a node without ports")
        return sends, takes


def min_steps(problem: Problem, structure: NetworkStructure) -> int:
    """Return a lower bound on the steps of a schedule.

    Every message leaves its source and enters all its destinations through ports. With one
    destination it uses as many channels as the distance, otherwise at least one per destination.
    A node informs at most as many others in a step as its injection ports.
    """
    required = problem.required
    message, target = structure.delivery_message[required], structure.delivery_node[required]
    if not len(message):
        return 0
    source, resources = structure.message_source, structure.resources
    goals = np.bincount(message, minlength=len(source))
    away = structure.distance[source[message], target]
    hops = np.where(goals[message] == 1, away, 1)
    channel_capacity = problem.capacity[problem.kind <= LINK].sum(dtype=np.int64)
    nodes = structure.network.nodes
    inject, accept = problem.capacity[resources.inject], problem.capacity[resources.accept]
    growth, informed = 0, 1
    while informed <= goals.max():
        growth, informed = growth + 1, informed * (1 + max(1, int(inject.max())))
    return max(
        growth,
        _rounds(hops.sum(), channel_capacity),
        _rounds(np.bincount(source[goals > 0], minlength=nodes), inject),
        _rounds(np.bincount(target, minlength=nodes), accept),
        int(away.max()) if structure.hop_by_hop else 1,
    )


def _rounds(uses: ArrayLike, capacity: ArrayLike) -> int:
    """Return the largest of uses / capacity, rounded up."""
    return int(np.max(-(-np.asarray(uses) // np.maximum(1, capacity))))
