"""Networks of shifted words: de Bruijn digraphs and cube-connected cycles."""

from __future__ import annotations

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError

MAX_CYCLE = 12
"""The cycle length of the largest cube-connected cycles within the size limit."""


def de_bruijn(degree: int, diameter: int) -> Network:
    """Return the de Bruijn digraph; its channels have one direction.

    The nodes are the words of ``diameter`` digits to the base ``degree``, read as numbers. A
    word leads to the words in which its first digit is dropped and any digit is appended:
    degree * i, ..., degree * i + degree - 1 modulo degree^diameter. The loops at the words of
    equal digits are dropped, so those have one channel less in and out than ``degree``. Source: de
    Bruijn, "A combinatorial problem", Proc. Koninklijke Nederlandse Akademie 49 (1946); as
    networks Samatham and Pradhan, "The de Bruijn multiprocessor network", IEEE Trans. Computers
    38 (1989).

    Raises
    ------
    InputError
        A degree below 2, a diameter below 1, or too many nodes or channels.
    """
    if degree < 2:
        raise InputError(
            f"degree {degree} leads from a word to no other",
            hint=f"use de-bruijn-2-{max(1, diameter)}",
        )
    if diameter < 1:
        raise InputError("words need at least one digit", hint=f"use de-bruijn-{degree}-1")
    nodes = 1
    for _ in range(diameter):  # one by one: the whole power could be huge
        nodes *= degree
        check_size(nodes, degree * (nodes - 1))
    arcs = (
        (node, target)
        for node in range(nodes)
        for target in range(degree * node % nodes, degree * node % nodes + degree)
        if node != target
    )
    name = f"de-bruijn-{degree}-{diameter}"
    return Network.from_arcs(name, nodes, arcs, positions=layouts.circle(nodes))


def cube_connected_cycles(dimensions: int) -> Network:
    """Return the cube-connected cycles: a hypercube with every corner replaced by a cycle.

    Node ``dimensions`` * w + i is place i in the cycle of corner w; it is linked to the places
    before and after it, and to place i of the corner that differs in bit i. There are
    dimensions * 2^dimensions nodes of degree 3; the diameter is 6 for 3 dimensions, otherwise
    2 * dimensions + dimensions // 2 - 2. Source: Preparata and Vuillemin, "The cube-connected
    cycles: a versatile network for parallel computation", Communications of the ACM 24 (1981).

    Raises
    ------
    InputError
        Fewer than 3 dimensions (two nodes would have two links between them), or too many.
    """
    if dimensions < 3:
        raise InputError("cube-connected cycles have at least 3 dimensions", hint="use ccc-3")
    if dimensions > MAX_CYCLE:
        raise InputError(
            f"{dimensions} dimensions have too many nodes", hint=f"use at most ccc-{MAX_CYCLE}"
        )
    corners = range(1 << dimensions)
    links = [
        (dimensions * corner + place, dimensions * corner + (place + 1) % dimensions)
        for corner in corners
        for place in range(dimensions)
    ]
    links += [
        (dimensions * corner + place, dimensions * (corner | 1 << place) + place)
        for corner in corners
        for place in range(dimensions)
        if not corner >> place & 1
    ]
    rows = 1 << dimensions // 2
    cycle = layouts.circle(dimensions)
    apart = 2 * cycle[0][1] + 1
    positions = tuple(
        (round(apart * x + dx, 4), round(apart * y + dy, 4))
        for x, y in layouts.grid([rows, len(corners) // rows])
        for dx, dy in cycle
    )
    return Network.from_links(
        f"ccc-{dimensions}", dimensions * len(corners), links, positions=positions
    )


FAMILIES = (
    numbered("de-bruijn-D-K", de_bruijn,
        "de Bruijn digraph of out-degree D and diameter K: D^K nodes, one-way", "de-bruijn-2-3"),
    numbered("ccc-D", cube_connected_cycles,
        "cube-connected cycles of D >= 3 dimensions: D * 2^D nodes of degree 3", "ccc-3"),
)  # fmt: skip
