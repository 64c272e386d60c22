"""Constructions for hypercubes, recognised by labels: linked nodes differ in one bit."""

import numpy as np

from cchybrid.model import Transfer

from .context import Context, DoesNotApplyError, Draft, Path
from .hamming import hypercube_labels


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
