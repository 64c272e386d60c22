"""The network, messages and paths of a Problem, for engines that exploit structure.

All are seen in the direction of ``Instance.forward``: a ``combine`` collective is the broadcast
that it is when read backwards, on the reversed network.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cchybrid.model import Collective, Message, Network
from cchybrid.problem.arrays import IntArray, LongArray, ProblemArrays, deferrable
from cchybrid.problem.ragged import Integers, PairLookup, blocks, gather
from cchybrid.problem.resources import Resources
from cchybrid.problem.routes import Path, Routes


@deferrable("path_node")
@dataclass(frozen=True, eq=False)
class NetworkStructure:
    """The network, the messages and the routing rule of a Problem, read forwards.

    Parameters
    ----------
    network
        Nodes, channels with capacities, half-duplex pairs, endpoints.
    collective
        The messages.
    hop_by_hop
        Whether every transfer is one hop and nodes store what they forward (store-and-forward).
    extra_hops
        Largest number of hops above the shortest path; ``None`` allows any simple path. Without
        effect where transfers are hop by hop.
    routes
        The allowed paths: distances, predecessors, samples, cheapest routes.
    resources
        The resource of each channel (one for both channels of a half-duplex pair) and of each
        node's injection and acceptance ports.
    delivery_message, delivery_node
        Shape (deliveries,): the message, and the node that receives it.
    path_node, path_node_start
        The nodes of listed path p are ``path_node[path_node_start[p] : path_node_start[p + 1]]``.
    """

    network: Network
    collective: Collective
    hop_by_hop: bool
    extra_hops: int | None
    routes: Routes
    resources: Resources
    delivery_message: IntArray
    delivery_node: IntArray
    path_node: IntArray
    path_node_start: LongArray

    @property
    def messages(self) -> tuple[Message, ...]:
        """The source and the destinations of every message."""
        return self.collective.deliver_messages

    @property
    def distance(self) -> IntArray:
        """Shape (nodes, nodes): hops of the shortest path, -1 where there is none.

        Paths pass no endpoint, except in store-and-forward switching.
        """
        return self.routes.distance

    @property
    def channels(self) -> LongArray:
        """Shape (channels, 3): from, to and capacity of each channel."""
        return self.resources.channels

    @cached_property
    def message_source(self) -> LongArray:
        """Shape (messages,): the source of each message."""
        return np.fromiter((message.source for message in self.messages), dtype=np.int64)

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The nodes of every listed path."""
        return tuple(self.path(index) for index in range(len(self.path_node_start) - 1))

    def listed_resources(self) -> IntArray:
        """Return the resources of all listed paths: see ``Resources.of_paths``."""
        return self.resources.of_paths(self.path_node, self.path_node_start)

    def path(self, index: int) -> Path:
        """Return the nodes of a listed path."""
        start, end = self.path_node_start[index : index + 2]
        return tuple(self.path_node[start:end].tolist())

    @cached_property
    def _lookup(self) -> PairLookup:
        """Index of deliveries by message and node."""
        return PairLookup(self.delivery_message, self.delivery_node)

    def delivery_of(self, message: Integers, node: Integers) -> LongArray:
        """Return, shape (pairs,), the delivery of each message to each node, -1 for none."""
        return self._lookup.find(message, node)

    def senders(self, delivery: int) -> list[tuple[int, int]]:
        """Return every node that may send a delivery, and the delivery that it requires.

        The message's source requires none (-1).
        """
        index, target = int(self.delivery_message[delivery]), int(self.delivery_node[delivery])
        source, destinations = self.messages[index]
        ports = self.resources.working
        if not ports[1][target]:
            return []
        if self.hop_by_hop:
            near = np.array(self.routes.predecessors[target], dtype=np.int64)
        else:
            near = np.array((source, *destinations), dtype=np.int64)
            near = near[self.distance[near, target] > 0]
        near = near[ports[0][near]]
        before = self.delivery_of(np.full(len(near), index), near)
        allowed = (near == source) | (before >= 0)
        before[near == source] = -1
        return list(zip(near[allowed].tolist(), before[allowed].tolist(), strict=True))

    def required_by(self, delivery: Integers, node: Integers, start: LongArray) -> LongArray:
        """Return, shape (paths,), the delivery that each path requires, -1 at the source.

        Parameters
        ----------
        delivery
            Shape (paths,): the delivery of each path.
        node, start
            The nodes of path p are ``node[start[p] : start[p + 1]]``.

        Raises
        ------
        ValueError
            If a path leaves the network, does not end at the delivery's node, or begins at a node
            that may not send the message. The length of a path is not checked.
        """
        size = np.diff(start)
        for row, stop in blocks(start):
            hop, path = gather(start, np.arange(row, stop))
            inner = np.flatnonzero(np.diff(path, append=-1) == 0)
            known = self.resources.channel_of(node[hop[inner]], node[hop[inner] + 1]) >= 0
            if not known.all():
                wrong = row + int(path[inner[np.argmin(known)]])
                raise ValueError(f"{_nodes(node, start, wrong)} is no path of the network")
        long_enough = size > 1
        first = node[np.minimum(start[:-1], len(node) - 1)] if len(node) else size
        last = node[start[1:] - 1] if len(node) else size
        message = self.delivery_message[delivery]
        begins = first == self.message_source[message]
        before = np.where(begins, -1, self.delivery_of(message, first))
        sends, accepts = self.resources.working
        fits = long_enough & (last == self.delivery_node[delivery]) & (begins | (before >= 0))
        fits[fits] = sends[first[fits]] & accepts[last[fits]]
        if not fits.all():
            wrong = int(np.argmin(fits))
            path_nodes = _nodes(node, start, wrong)
            raise ValueError(f"{path_nodes} is no path for delivery {int(delivery[wrong])}")
        return before

    def options_of(
        self, problem: ProblemArrays, delivery: Integers, node: Integers, start: LongArray
    ) -> LongArray:
        """Return, shape (paths,), the option of each delivery over each path, -1 for none.

        Parameters
        ----------
        delivery
            Shape (paths,): the delivery of each path, -1 for none.
        node, start
            The nodes of path p are ``node[start[p] : start[p + 1]]``.
        """
        known = np.flatnonzero(delivery >= 0)
        option, queried = gather(problem.option_start, delivery[known])
        queried = known[queried]
        listed = problem.option_path[option]
        size = np.diff(start)[queried]
        alike = np.diff(self.path_node_start)[listed] == size
        option, queried, listed, size = option[alike], queried[alike], listed[alike], size[alike]
        theirs, place = gather(self.path_node_start, listed)
        ours, _ = gather(start, queried)
        differs = self.path_node[theirs] != node[ours]
        same = np.bincount(place[differs], minlength=len(option)) == 0
        found = np.full(len(delivery), -1, dtype=np.int64)
        found[queried[same]] = option[same]
        return found

    def with_paths(self, node: Integers, start: LongArray) -> "NetworkStructure":
        """Return the structure with these listed paths instead of its own."""
        return replace(self, path_node=node.astype(np.int32), path_node_start=start)


def _nodes(node: Integers, start: LongArray, path: int) -> Path:
    return tuple(node[start[path] : start[path + 1]].tolist())
