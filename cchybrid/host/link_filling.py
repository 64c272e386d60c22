"""Kernel of link matching with many messages: one step, as ``LinkMatching`` fills it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cchybrid.host.earliest_steps import lowest_bit
from cchybrid.toolkit.kernels import compiled, internal

Ints = NDArray[np.signedinteger[Any]]
Words = NDArray[np.uint64]

ONE = np.uint64(1)


class Links(NamedTuple):
    """The links of a network, by the nodes into which they lead.

    Parameters
    ----------
    first
        The links into node v are ``first[v]`` to ``first[v + 1] - 1``, by ascending tails.
    near
        Shape (links,): the tail of each.
    resource
        Shape (links, resources): those of a transfer, filled up with -1.
    order, size
        Shape (links,): working memory.
    """

    first: Ints
    near: Ints
    resource: Ints
    order: Ints
    size: Ints


class Sets(NamedTuple):
    """The messages of each node as bits.

    Parameters
    ----------
    held, lacked
        Shape (nodes, words): those that it holds, and those that it needs; not updated.
    taken
        Shape (nodes, words), overwritten: those that it receives.
    copies
        Shape (messages,): the nodes that hold each message; updated.
    """

    held: Words
    lacked: Words
    taken: Words
    copies: Ints


@compiled
def fill_step(links: Links, sets: Sets, rare: Words, drawn: Ints, room: Ints, made: Ints) -> int:
    """Fill one step; return the number of transfers.

    Parameters
    ----------
    rare
        Shape (classes, words): the messages that fewest nodes hold, each contained in the next.
    drawn
        Shape (nodes that lack a message, 2): their order, and the message from which on each looks.
    room
        Shape (resources,): the transfers that still fit; updated.
    made
        Shape (links that fit into a step, 3), overwritten: message, sender and receiver.
    """
    first, near, link_resource, order, sizes = links
    held, lacked, taken, copies = sets
    transfers, words = 0, held.shape[1]
    for place in range(len(drawn)):
        node, start = drawn[place]
        found = 0
        for link in range(first[node], first[node + 1]):
            size = 0
            for word in range(words):
                size += _bits(held[near[link], word] & lacked[node, word])
            slot = found
            if size:
                # By candidates, then by the order of the links, which is that of their tails.
                while slot and sizes[slot - 1] > size:
                    sizes[slot] = sizes[slot - 1]
                    order[slot] = order[slot - 1]
                    slot -= 1
                sizes[slot], order[slot] = size, link
                found += 1
        for word in range(words):
            taken[node, word] = 0
        for each in range(found):
            link = order[each]
            free = room[link_resource[link, 0]]
            for resource in link_resource[link, 1:]:
                if resource >= 0:
                    free = min(free, room[resource])
            while free > 0:
                message = _pick(held, lacked, taken, rare, near[link], node, start)
                if message < 0:
                    break
                free -= 1
                for resource in link_resource[link]:
                    if resource >= 0:
                        room[resource] -= 1
                taken[node, message >> 6] |= ONE << np.uint64(message & 63)
                copies[message] += 1
                made[transfers, 0], made[transfers, 1] = message, near[link]
                made[transfers, 2] = node
                transfers += 1
    return transfers


@internal
def _bits(word: np.uint64) -> int:
    """Return the number of bits that are set."""
    word -= (word >> ONE) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@internal
def _pick(
    held: Words, lacked: Words, taken: Words, rare: Words, sender: int, node: int, start: int
) -> int:
    """Return a message of the rarest class, the next one from ``start`` on, -1 for none."""
    words = held.shape[1]
    for kind in range(len(rare)):
        for place in range(words + 1):
            word = ((start >> 6) + place) % words
            found = held[sender, word] & lacked[node, word] & ~taken[node, word] & rare[kind, word]
            shift = np.uint64(start & 63)
            if place == 0:
                found = found >> shift << shift
            if found != 0:
                return int(64 * word + lowest_bit(found))
    return -1
