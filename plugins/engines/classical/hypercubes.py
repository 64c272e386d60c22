"""Constructions for hypercubes, recognised by labels: linked nodes differ in one bit."""

from __future__ import annotations

import numpy as np

from cchybrid.model import Transfer
from cchybrid.problem.ragged import offsets, within
from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError, Draft, Path
from .translations import hypercube_labels


class _Cube:
    """A hypercube: the label of every node, and the node of every label."""

    def __init__(self, context: Context) -> None:
        labels = hypercube_labels(context.network)
        if labels is None:
            raise DoesNotApplyError("not a hypercube")
        self.label: list[int] = labels.tolist()
        self._node: list[int] = np.argsort(labels).tolist()
        self.dimension = context.nodes.bit_length() - 1

    def path(self, first: int, bits: list[int]) -> Path:
        """Return the path from a label that flips these bits in order."""
        labels = [first]
        for bit in bits:
            labels.append(labels[-1] ^ 1 << bit)
        return tuple(self._node[label] for label in labels)

    def bits(self, label: int) -> list[int]:
        """Return the bits that are set, ascending (the order of e-cube routing)."""
        return [bit for bit in range(self.dimension) if label >> bit & 1]


def binomial_tree(context: Context) -> Draft:
    """Return the broadcast by recursive doubling: in step i all informed nodes send along bit i.

    It takes log2 n steps with one port.

    References
    ----------
    H. Sullivan, T. R. Bashkow, "A large scale, homogeneous, fully distributed parallel machine, I",
    ISCA 1977.
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
    """Return the broadcast over two binomial trees, rooted at the source and its antipode.

    It takes d / 2 steps on d dimensions, rounded up, with all ports. The neighbour on the path to
    the antipode is a leaf and is informed a step later.

    References
    ----------
    P. K. McKinley, C. Trefftz, "Efficient broadcast in all-port wormhole-routed hypercubes", ICPP
    1993.
    """
    source = context.broadcast_source()
    cube = _Cube(context)
    context.require_wormhole(full_duplex=True)
    if context.ports()[0] < cube.dimension:
        raise DoesNotApplyError("fewer ports than dimensions")
    root, height = cube.label[source], (cube.dimension + 1) // 2
    opposite = root ^ (1 << cube.dimension) - 1
    # Any path to the antipode will do; its first node is the leaf.
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


def xor_exchange(context: Context) -> Transfers:
    """Return the XOR exchange: in each step every node sends to the node with its label XOR k.

    With e-cube routing (Sullivan and Bashkow 1977) a value of k loads every dimension at most once,
    so k and its complement share a step if nodes have two ports: n / 2 steps, which is optimal for
    all-to-all, as all channels are used in all steps; n - 1 steps with one port.
    """
    ends = context.ends
    cube = _Cube(context)
    context.require_wormhole(full_duplex=True)
    labels = np.array(cube.label)
    first, last = labels[ends[0]], labels[ends[1]]
    flipped = first ^ last
    kind = np.minimum(flipped, flipped ^ context.nodes - 1) if min(context.ports()) > 1 else flipped
    # Messages with the same source and destination take separate rounds.
    pair = first * context.nodes + last
    order = np.argsort(pair, kind="stable")
    size = np.unique(pair, return_counts=True)[1]
    repeat = np.empty_like(pair)
    repeat[order] = within(size)
    step = np.unique(repeat * context.nodes + kind, return_inverse=True)[1]
    # The node after each dimension: all bits up to it are flipped. On the path if that bit is.
    dimensions = np.arange(cube.dimension)
    label = first[:, None] ^ (flipped[:, None] & ((2 << dimensions) - 1))
    moves = (flipped[:, None] >> dimensions & 1).astype(bool)
    label, visited = np.column_stack((first, label)), np.column_stack((moves[:, :1] | True, moves))
    return Transfers(
        np.arange(len(first)),
        step,
        np.argsort(labels)[label[visited]],
        offsets(visited.sum(axis=1)),
    )
