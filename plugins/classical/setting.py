"""What a construction looks at: the instance read forwards, its resources, and who takes part."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from random import Random

import numpy as np
from numpy.typing import NDArray

from cchybrid.model import Message, Transfer
from cchybrid.problem import Problem
from cchybrid.problem.origin import InstanceOrigin

from .counting import least_steps

Path = tuple[int, ...]
Draft = list[list[Transfer]]
"""The transfers of every step, of the instance read forwards (a reduction is a broadcast)."""


class DoesNotApplyError(Exception):
    """A construction is not made for this instance; the text says why, in a few words."""


class Setting:
    """An instance as constructions see it.

    Parameters
    ----------
    problem
        A Problem that was compiled from an instance.
    seed
        Of all that constructions draw.
    check
        Called every so often; raises to stop.
    wants
        Whether a schedule of so many steps is still worth making.
    """

    def __init__(
        self,
        problem: Problem,
        seed: int,
        check: Callable[[], None],
        wants: Callable[[int], bool] = lambda steps: True,
    ) -> None:
        origin = problem.origin
        if not isinstance(origin, InstanceOrigin):
            raise DoesNotApplyError("not compiled from an instance")
        self.problem = problem
        self.check = check
        self.wants = wants
        self._seed = seed
        self.random = Random(seed)
        self._origin = origin
        self.forward = origin.instance.forward
        self.network = self.forward.network
        self.messages: tuple[Message, ...] = self.forward.collective.deliver_messages
        self.wormhole = self.forward.model.switching == "wormhole"
        self.distance: NDArray[np.int32] = origin.routes.distance
        self.capacity: list[int] = problem.capacity.tolist()
        resources = origin.resources
        self.inject: list[int] = resources.inject.tolist()
        self.accept: list[int] = resources.accept.tolist()
        channels = resources.channel.tolist()
        self.channel = dict(zip(self.network.channel_index, channels, strict=True))
        self.barred = frozenset(self.network.endpoints)
        self._uses: dict[Path, list[int]] = {}
        self._towards: dict[int, list[int]] = {}

    def begun(self) -> Setting:
        """Return this setting with the draws of a new one."""
        self.random = Random(self._seed)
        return self

    @cached_property
    def least(self) -> int:
        """Steps that no schedule can beat."""
        return least_steps(self.problem, self._origin)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.network.nodes

    def uses(self, path: Path) -> list[int]:
        """Return the resources that a path uses: a port, channels, a port."""
        known = self._uses.get(path)
        if known is None:
            hops = [self.channel[hop] for hop in pairwise(path)]
            known = self._uses[path] = [self.inject[path[0]], *hops, self.accept[path[-1]]]
        return known

    def expect(self, steps: int) -> None:
        """Raise ``DoesNotApplyError`` if nobody wants a schedule of so many steps or more."""
        if not self.wants(steps):
            raise DoesNotApplyError(f"{steps} steps are no better than what is known")

    def hops_to(self, target: int) -> list[int]:
        """Return the hops from every node to the target, -1 where there is no way."""
        if target not in self._towards:
            self._towards[target] = self.distance[:, target].tolist()
        return self._towards[target]

    def most_hops(self, source: int, target: int, *, passing: bool = False) -> int:
        """Return the hops that a path may have, 0 where there is none.

        Parameters
        ----------
        passing
            Whether to count as if the switching were wormhole switching.
        """
        if not self.wormhole and not passing:
            return int((source, target) in self.channel)
        least = self.hops_to(target)[source]
        extra = self.forward.model.extra_hops
        if least <= 0:
            return 0
        return self.nodes - 1 if extra is None else least + extra

    def gossips(self) -> tuple[int, ...]:
        """Return the nodes that take part where every message goes from one of them to all others.

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

    def single_broadcast(self) -> Message:
        """Return the one message where it goes to all nodes; else raise ``DoesNotApplyError``."""
        if len(self.messages) > 1:
            raise DoesNotApplyError("more than one message")
        message = self.messages[0]
        if len(message.destinations) != self.nodes - 1:
            raise DoesNotApplyError("the message does not go to all nodes")
        return message

    def scatters(self) -> None:
        """Raise ``DoesNotApplyError`` unless every message has one destination."""
        if any(len(message.destinations) > 1 for message in self.messages):
            raise DoesNotApplyError("messages with several destinations")

    def exchanges(self) -> dict[tuple[int, int], int]:
        """Return the message from every node to every other.

        Raises
        ------
        DoesNotApplyError
            If it is another kind of collective.
        """
        self.scatters()
        pairs = {(source, goals[0]): index for index, (source, goals) in enumerate(self.messages)}
        count = self.nodes * (self.nodes - 1)
        if len(pairs) < count or len(self.messages) > count:
            raise DoesNotApplyError("not one message from every node to every other")
        return pairs

    def ports(self) -> tuple[int, int]:
        """Return how many messages every node can inject and accept per step.

        Raises
        ------
        DoesNotApplyError
            If some node can do neither or only one of the two.
        """
        sends = min(self.capacity[port] for port in self.inject)
        takes = min(self.capacity[port] for port in self.accept)
        if min(sends, takes) == 0:
            raise DoesNotApplyError("a node without ports")
        return sends, takes
