"""Constructions for hypercubes, found by labelling: linked nodes differ in one bit."""

from __future__ import annotations

import numpy as np

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft, Path
from .translations import hypercube_labels


class _Cube:
    """A hypercube: what label a node has, and which node a label."""

    def __init__(self, context: Context) -> None:
        labels = hypercube_labels(context.network)
        if labels is None:
            raise DoesNotApplyError("not a hypercube")
        self.label: list[int] = labels.tolist()
        self._node: list[int] = np.argsort(labels).tolist()
        self.dimension = context.nodes.bit_length() - 1

    def path(self, first: int, bits: list[int]) -> Path:
        """Return the path from a label on that crosses these bits in turn."""
        labels = [first]
        for bit in bits:
            labels.append(labels[-1] ^ 1 << bit)
        return tuple(self._node[label] for label in labels)

    def bits(self, label: int) -> list[int]:
        """Return the bits that are set, ascending (the order of e-cube routing)."""
        return [bit for bit in range(self.dimension) if label >> bit & 1]


def binomial_tree(context: Context) -> Draft:
    """Return the broadcast by recursive doubling: in step i everybody informed sends along bit i.

    Takes log2 n steps with one port (Sullivan, Bashkow, "A large scale, homogeneous, fully
    distributed parallel machine", ISCA 1977).
    """
    source = context.broadcast_source()
    cube = _Cube(context)
    root = cube.label[source]
    informed = [root]
    draft: Draft = []
    for bit in range(cube.dimension):
        draft.append([Transfer(0, cube.path(label, [bit])) for label in informed])
        informed += [label ^ 1 << bit for label in informed]
    return draft


def double_tree(context: Context) -> Draft:
    """Return the broadcast over two binomial trees, rooted in the source and opposite to it.

    Takes d / 2 steps on d dimensions, rounded up, with all ports (McKinley, Trefftz, "Efficient
    broadcast in all-port wormhole-routed hypercubes", ICPP 1993). The neighbour
    over which the message leaves for the opposite corner is a leaf and waits a step.
    """
    source = context.broadcast_source()
    cube = _Cube(context)
    context.require_wormhole(full_duplex=True)
    if context.ports()[0] < cube.dimension:
        raise DoesNotApplyError("fewer ports than dimensions")
    root, height = cube.label[source], (cube.dimension + 1) // 2
    opposite = root ^ (1 << cube.dimension) - 1
    # Any path to the opposite corner does; the leaf is the neighbour that it leaves through.
    far = cube.path(root, list(range(cube.dimension)))
    leaf = cube.label[far[1]] ^ root
    order = [bit for bit in range(cube.dimension) if 1 << bit != leaf] + cube.bits(leaf)
    draft: Draft = [[] for _ in range(max(height, 2))]
    draft[0].append(Transfer(0, far))
    for offset in range(1, 1 << cube.dimension):
        bits = [bit for bit in order if offset >> bit & 1]
        hops, parent = len(bits), offset ^ 1 << bits[-1]
        if hops <= height and offset != opposite ^ root:
            step = 1 if offset == leaf else hops - 1
            draft[step].append(Transfer(0, cube.path(root ^ parent, bits[-1:])))
        if hops <= cube.dimension - 1 - height:
            draft[hops].append(Transfer(0, cube.path(opposite ^ parent, bits[-1:])))
    return draft


def xor_exchange(context: Context) -> Draft:
    """Return the exchange in which a step is for all messages to the node XOR some label.

    With e-cube routing a label loads every dimension at most once, so a label and its complement
    share a step where nodes have two ports: n / 2 steps, which is optimal for all-to-all, as all
    channels are used in all steps; n - 1 with one port. (E-cube routing: Sullivan,
    Bashkow, see above.)
    """
    context.require_scatter()
    cube = _Cube(context)
    context.require_wormhole(full_duplex=True)
    both = min(context.ports()) > 1
    top = context.nodes - 1
    rounds: dict[tuple[int, int], list[Transfer]] = {}
    repeats: dict[tuple[int, int], int] = {}
    for index, message in enumerate(context.messages):
        first, last = cube.label[message.source], cube.label[message.destinations[0]]
        # Equal messages follow each other.
        repeat = repeats[first, last] = repeats.get((first, last), -1) + 1
        kind = min(first ^ last, first ^ last ^ top) if both else first ^ last
        path = cube.path(first, cube.bits(first ^ last))
        rounds.setdefault((repeat, kind), []).append(Transfer(index, path))
    return [rounds[key] for key in sorted(rounds)]
