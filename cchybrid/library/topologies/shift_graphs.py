"""Networks of shifted words: de Bruijn, shuffle-exchange, cube-connected cycles, butterflies."""

from collections.abc import Callable
from itertools import repeat

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import check_size, checked_product, numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError

MAX_CYCLE, MAX_WORD = 12, 16
"""Cycles, in cube-connected cycles, and bits, in shuffle-exchange, of the largest networks."""


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
            f"degree {degree} leads from a word to no other", hint="use a degree of 2 or more"
        )
    if diameter < 1:
        raise InputError("words need at least one digit", hint="use a diameter of 1 or more")
    nodes = checked_product(repeat(degree, diameter))
    check_size(nodes, degree * (nodes - 1))
    arcs = (
        (node, target)
        for node in range(nodes)
        for target in range(degree * node % nodes, degree * node % nodes + degree)
        if node != target
    )
    name = f"de-bruijn-{degree}-{diameter}"
    return Network.from_arcs(name, nodes, arcs, positions=layouts.circle(nodes))


def undirected_de_bruijn(degree: int, diameter: int) -> Network:
    """Return the undirected de Bruijn graph: the digraph with channels in both directions.

    Of two channels between the same nodes one is kept, so degrees are at most 2 * ``degree``.
    Source: as of the digraph.

    Raises
    ------
    InputError
        A degree below 2, a diameter below 1, or too many nodes or channels.
    """
    words = de_bruijn(degree, diameter)
    links = {(min(a, b), max(a, b)) for a, b, _ in words.channels}
    check_size(words.nodes, 2 * len(links))
    name = f"de-bruijn-bi-{degree}-{diameter}"
    return Network.from_links(name, words.nodes, links, positions=words.positions)


def shuffle_exchange(bits: int) -> Network:
    """Return the shuffle-exchange network: words are linked if rotated, or if the last bit differs.

    There are 2^bits nodes of degree at most 3; the diameter is 2 * bits - 1. Source: Stone,
    "Parallel processing with the perfect shuffle", IEEE Trans. Computers 20 (1971),
    doi:10.1109/T-C.1971.223205.

    Raises
    ------
    InputError
        No bits, or too many.
    """
    if not 1 <= bits <= MAX_WORD:
        nearest = min(max(bits, 1), MAX_WORD)
        raise InputError(
            f"words of {bits} bits are too {'many' if bits else 'few'}",
            hint=f"use shuffle-exchange-{nearest}",
        )
    nodes = 1 << bits
    pairs = [(node, node ^ 1) for node in range(nodes)]
    pairs += [(node, node << 1 & nodes - 1 | node >> bits - 1) for node in range(nodes)]
    links = {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}
    return Network.from_links(
        f"shuffle-exchange-{bits}", nodes, links, positions=layouts.circle(nodes)
    )


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
    return _of_cycles("ccc", dimensions, lambda corner, place: (corner ^ 1 << place, place))


def wrapped_butterfly(dimensions: int) -> Network:
    """Return the wrapped butterfly: levels of an FFT, the last one followed by the first.

    Node ``dimensions`` * w + i is level i of row w; it is linked to the levels before and after it
    in its row, and to level i + 1 of the row that differs in bit i. There are
    dimensions * 2^dimensions nodes of degree 4; the diameter is 3 * dimensions // 2. Source:
    Leighton, "Introduction to Parallel Algorithms and Architectures" (1992), chapter 3.

    Raises
    ------
    InputError
        Fewer than 3 dimensions (two nodes would have two links between them), or too many.
    """
    return _of_cycles(
        "wrapped-butterfly",
        dimensions,
        lambda row, level: (row ^ 1 << level, (level + 1) % dimensions),
    )


def _of_cycles(
    family: str, dimensions: int, across: Callable[[int, int], tuple[int, int]]
) -> Network:
    """Return a cycle for every corner of a hypercube, and the link across from every place."""
    if dimensions < 3:
        raise InputError(
            f"with {dimensions} dimensions two nodes would have two links between them",
            hint=f"use {family}-3",
        )
    if dimensions > MAX_CYCLE:
        raise InputError(
            f"{dimensions} dimensions have too many nodes", hint=f"use at most {family}-{MAX_CYCLE}"
        )
    corners = range(1 << dimensions)
    links: set[tuple[int, int]] = set()
    for corner in corners:
        for place in range(dimensions):
            here = dimensions * corner + place
            other, there = across(corner, place)
            for end in (dimensions * corner + (place + 1) % dimensions, dimensions * other + there):
                links.add((min(here, end), max(here, end)))
    rows = 1 << dimensions // 2
    cycle = layouts.circle(dimensions)
    apart = 2 * cycle[0][1] + 1
    positions = tuple(
        (round(apart * x + dx, 4), round(apart * y + dy, 4))
        for x, y in layouts.grid([rows, len(corners) // rows])
        for dx, dy in cycle
    )
    return Network.from_links(
        f"{family}-{dimensions}", dimensions * len(corners), links, positions=positions
    )


FAMILIES = (
    numbered("de-bruijn-D-K", de_bruijn,
        "de Bruijn digraph of out-degree D and diameter K: D^K nodes, one-way", "de-bruijn-2-3"),
    numbered("de-bruijn-bi-D-K", undirected_de_bruijn,
        "undirected de Bruijn graph: D^K nodes, links in both directions", "de-bruijn-bi-2-4"),
    numbered("shuffle-exchange-D", shuffle_exchange,
        "shuffle-exchange network of 2^D nodes, links in both directions", "shuffle-exchange-4"),
    numbered("ccc-D", cube_connected_cycles,
        "cube-connected cycles of D >= 3 dimensions: D * 2^D nodes of degree 3", "ccc-3"),
    numbered("wrapped-butterfly-D", wrapped_butterfly,
        "wrapped butterfly of D >= 3 levels: D * 2^D nodes of degree 4", "wrapped-butterfly-3"),
)  # fmt: skip
