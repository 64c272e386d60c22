"""Meshes and tori of any number of dimensions."""

import itertools
import math
from collections.abc import Iterator, Sequence

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import checked_product, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError


def mesh(extents: Sequence[int]) -> Network:
    """Return the mesh: a grid in which neighbours along each dimension are linked.

    Nodes are numbered row by row, the last coordinate running fastest: node (r, c) of
    ``mesh-4x8`` is 8r + c. Source: Dally and Towles, "Principles and Practices of
    Interconnection Networks" (2004), chapter 5. Degree at most twice the number of dimensions,
    diameter the sum of the extents less one each.

    Parameters
    ----------
    extents
        The number of nodes along each dimension, each at least 1. A dimension of extent 1 adds
        nothing, so ``mesh-1x8`` is a line.

    Raises
    ------
    InputError
        An extent of 0, a single node, or too many nodes.
    """
    return _grid("mesh", extents, wrap=False)


def torus(extents: Sequence[int]) -> Network:
    """Return the torus: a mesh whose opposite borders are linked as well.

    Nodes are numbered as in ``mesh``. Tori usually have extents of 3 and more. A
    dimension of extent 2 gives its two nodes one link, not two (the wrap-around link would
    double the existing one), so ``torus-2x2x2`` is ``hypercube-8``; extent 1 adds nothing.
    Source: Dally and Towles (2004), chapter 5. Degree twice the number of dimensions (one less
    for each extent 2), diameter the sum of ``extent // 2``.

    Raises
    ------
    InputError
        An extent of 0, a single node, or too many nodes.
    """
    return _grid("torus", extents, wrap=True)


def _grid(family: str, extents: Sequence[int], *, wrap: bool) -> Network:
    check_extents(family, extents)
    name, links = _name(family, extents), _links(extents, wrap=wrap)
    return Network.from_links(name, math.prod(extents), links, positions=layouts.grid(extents))


def _name(family: str, extents: Sequence[int]) -> str:
    return f"{family}-{'x'.join(map(str, extents))}"


def check_extents(family: str, extents: Sequence[int]) -> None:
    """Raise an ``InputError`` for extents of 0, a single node, and too many nodes."""
    if min(extents) < 1:
        corrected = _name(family, [max(1, extent) for extent in extents])
        raise InputError("an extent of 0 leaves no nodes", hint=f"use {corrected}")
    if checked_product(extents) < 2:
        corrected = _name(family, [*extents[:-1], 2])
        raise InputError("one node alone is no network", hint=f"use {corrected}")


def _links(extents: Sequence[int], *, wrap: bool) -> Iterator[tuple[int, int]]:
    nodes = math.prod(extents)
    strides = [nodes // size for size in itertools.accumulate(extents, lambda a, b: a * b)]
    for extent, stride in zip(extents, strides, strict=True):
        if extent < 2:
            continue
        for node in range(nodes):
            if node // stride % extent < extent - 1:
                yield node, node + stride
            elif wrap and extent > 2:
                yield node, node - (extent - 1) * stride


def _several(family: str, extents: list[int]) -> list[int]:
    if len(extents) == 1:
        nodes = extents[0]
        side = max(2, math.isqrt(nodes))
        line = f"mesh-1x{nodes}" if family == "mesh" else f"ring-bi-{nodes}"
        raise InputError(
            "only one extent is given", hint=f"use {family}-{side}x{side}, or {line} for one row"
        )
    return extents


FAMILIES = (
    numbered("mesh-AxB[xC...]", lambda extents: mesh(_several("mesh", extents)),
        "mesh of any number of dimensions: A rows of B nodes", "mesh-4x4"),
    numbered("torus-AxB[xC...]", lambda extents: torus(_several("torus", extents)),
        "torus of any number of dimensions: a mesh with its borders linked", "torus-4x4"),
)  # fmt: skip
