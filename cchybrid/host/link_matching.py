"""Link matching for broadcasts: in every step each node fills its links with messages it lacks.

Every transfer is one hop. A node fills the link with the fewest candidates first, with a message
that few nodes hold. With many messages this is close to the bound: on random regular graphs of
degree 4, hypercubes and tori of 256 and 512 nodes all-to-all broadcast took at most one step more.

Source: W. Won et al., TACOS: topology-aware collective algorithm synthesizer for distributed
machine learning, MICRO 2024, https://arxiv.org/abs/2304.05301.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from cchybrid.host.step_usage import StepUsage
from cchybrid.model import Instance, Transfer

RARITIES = 4
"""Classes of messages by the number of nodes that hold them; more were no better."""


class LinkMatching:
    """Schedule of one-hop transfers; in either switching a node that needs a message forwards it.

    Attributes
    ----------
    steps
        The steps so far.
    complete
        Whether all deliveries are made; ``place_all`` stops if one hop is not enough.
    """

    def __init__(self, forward: Instance) -> None:
        self._usage = StepUsage(forward)
        self.steps: list[list[Transfer]] = []
        self.complete = False
        network, messages = forward.network, forward.collective.deliver_messages
        self._links: list[list[tuple[int, list[int]]]] = [[] for _ in range(network.nodes)]
        """Per node its neighbours, and the resources of a transfer from each."""
        for a, b in self._usage.channel:
            self._links[b].append((a, self._usage.resources((a, b))))
        self._held, self._lacked = [0] * network.nodes, [0] * network.nodes
        """Per node a bit set of messages."""
        self._copies = [1] * len(messages)
        self._left = 0
        for index, (source, targets) in enumerate(messages):
            self._held[source] |= 1 << index
            for target in targets:
                self._lacked[target] |= 1 << index
            self._left += len(targets)
        self._random = random.Random(0)

    def place_all(self) -> Iterator[None]:
        """Fill step after step; yield before each."""
        while self._left:
            yield
            step = self._fill_step()
            if not step:
                return
            self.steps.append(step)
            self._left -= len(step)
        self.complete = True

    def _fill_step(self) -> list[Transfer]:
        step: list[Transfer] = []
        room = self._usage.capacity.copy()
        classes = self._rarity_classes()
        received = []
        nodes = [node for node, lacked in enumerate(self._lacked) if lacked]
        self._random.shuffle(nodes)  # with limited ports the first ones have the choice
        for node in nodes:
            lacked, start = self._lacked[node], self._random.randrange(len(self._copies))
            links = []
            for near, used in self._links[node]:
                found = self._held[near] & lacked
                if found:
                    links.append((found.bit_count(), near, used, found))
            links.sort()
            taken = 0
            for _, near, used, found in links:
                found &= ~taken
                free = room[used[0]] if len(used) == 1 else min([room[each] for each in used])
                while found and free:
                    free -= 1
                    for resource in used:
                        room[resource] -= 1
                    bit = _pick(found, classes, start)
                    found ^= bit
                    taken |= bit
                    message = bit.bit_length() - 1
                    self._copies[message] += 1
                    step.append(Transfer(message, (near, node)))
            received.append((node, taken))
        for node, taken in received:
            self._held[node] |= taken
            self._lacked[node] ^= taken
        return step

    def _rarity_classes(self) -> list[int]:
        """Return bit sets of the messages that fewest nodes hold, each contained in the next."""
        order = np.argsort(self._copies, kind="stable")
        is_rare = np.zeros(len(order), dtype=bool)
        classes = []
        for part in np.array_split(order, RARITIES):
            is_rare[part] = True
            packed = np.packbits(is_rare, bitorder="little").tobytes()
            classes.append(int.from_bytes(packed, "little"))
        return classes


def _pick(found: int, classes: list[int], start: int) -> int:
    """Return the bit of a message of the rarest class, the next one after ``start``."""
    for rare in classes:
        rarest = found & rare
        if rarest:
            break
    ahead = rarest >> start
    return (ahead & -ahead) << start if ahead else rarest & -rarest
