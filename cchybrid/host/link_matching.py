"""Link matching for broadcasts: in every step each node fills its links with messages it lacks.

Every transfer is one hop. A node fills the link with the fewest candidates first, with a message
that few nodes hold. With many messages this is close to the bound: on random regular graphs of
degree 4, hypercubes and tori of 256 and 512 nodes all-to-all broadcast took at most one step more.

Source: W. Won et al., TACOS: topology-aware collective algorithm synthesizer for distributed
machine learning, MICRO 2024, https://arxiv.org/abs/2304.05301.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from cchybrid.host.step_usage import StepUsage
from cchybrid.model import Instance, Steps, Transfer
from cchybrid.problem.ragged import offsets
from cchybrid.problem.transfers import Transfers

RARITIES = 4
"""Classes of messages by the number of nodes that hold them; more were no better."""
MIN_COMPILED_DELIVERIES = 50_000
"""Deliveries from which on a kernel fills the steps: to load it takes as long as to place these."""


class LinkMatching:
    """Schedule of one-hop transfers; in either switching a node that needs a message forwards it.

    Attributes
    ----------
    complete
        Whether all deliveries are made; ``place_all`` stops if one hop is not enough.
    """

    def __init__(self, forward: Instance) -> None:
        self._usage = StepUsage(forward)
        self._steps: list[list[Transfer]] = []
        self._made: list[Transfers] = []
        """The transfers of the steps that kernels have filled."""
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
        if self._left >= MIN_COMPILED_DELIVERIES:
            yield from self.place_many()
            return
        while self._left:
            yield
            step = self._fill_step()
            if not step:
                return
            self._steps.append(step)
            self._left -= len(step)
        self.complete = True

    def steps(self) -> Steps:
        """Return the steps so far."""
        if self._made:
            return Transfers.joined(self._made).in_steps(None)
        return tuple(map(tuple, self._steps))

    def _drawn(self, lacks: Iterable[object]) -> list[tuple[int, int]]:
        """Return the nodes that lack a message, each with one to start from, in random order."""
        nodes = [node for node, lacked in enumerate(lacks) if lacked]
        self._random.shuffle(nodes)  # with limited ports the first ones have the choice
        return [(node, self._random.randrange(len(self._copies))) for node in nodes]

    def place_many(self) -> Iterator[None]:
        """Fill step after step by a kernel; yield before each."""
        # Numba takes half a second to load.
        from cchybrid.host.link_filling import Links, Sets, fill_step

        messages = len(self._copies)
        held, lacked = _words(self._held, messages), _words(self._lacked, messages)
        links = [sorted(each) for each in self._links]
        first = offsets([len(each) for each in links])
        listed = [*chain.from_iterable(links)]
        near = np.array([tail for tail, _ in listed], dtype=np.int64)
        width = max(len(used) for _, used in listed)
        resources = np.array([used + [-1] * (width - len(used)) for _, used in listed])
        order, count = np.empty_like(near), np.empty_like(near)
        index = Links(first, near, resources, order, count)
        copies, taken = np.array(self._copies), np.zeros_like(held)
        sets = Sets(held, lacked, taken, copies)
        # Of links and ports, the ones with less room limit a step; this is enough for either.
        limit = int(np.array(self._usage.capacity, dtype=np.int64)[resources[:, 0]].sum())
        made = np.empty((min(limit, self._left), 3), dtype=np.int64)
        while self._left:
            yield
            drawn = np.array(self._drawn(lacked.any(axis=1)), dtype=np.int64).reshape(-1, 2)
            self._copies = copies.tolist()
            rare = _words(self._rarity_classes(), messages)
            room = np.array(self._usage.capacity, dtype=np.int64)
            done = fill_step(index, sets, rare, drawn, room, made)
            if not done:
                return
            got = drawn[:, 0]
            held[got] |= taken[got]
            lacked[got] &= ~taken[got]
            self._left -= done
            step = np.full(done, len(self._made), dtype=np.int32)
            ends, start = made[:done, 1:].astype(np.int32).ravel(), 2 * np.arange(done + 1)
            self._made.append(Transfers(made[:done, 0].astype(np.int32), step, ends, start))
        self.complete = True

    def _fill_step(self) -> list[Transfer]:
        step: list[Transfer] = []
        room = self._usage.capacity.copy()
        classes = self._rarity_classes()
        received = []
        for node, start in self._drawn(self._lacked):
            lacked = self._lacked[node]
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


def _words(sets: Sequence[int], size: int) -> Any:
    """Return, shape (sets, words), bit sets of this size as words of 64 bits."""
    count = size // 64 + 1
    content = b"".join(each.to_bytes(8 * count, "little") for each in sets)
    return np.frombuffer(content, dtype=np.uint64).reshape(len(sets), count).copy()
