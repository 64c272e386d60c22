"""Slim flies: graphs of diameter 2 close to the maximum size for their degree."""

from collections.abc import Iterator

from cchybrid.library.topologies import layouts
from cchybrid.library.topologies.sizes import numbered
from cchybrid.model import Network
from cchybrid.model.errors import InputError

ORDERS = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83)
"""The odd primes whose graphs have at most ``MAX_CHANNELS`` channels."""


def slim_fly(order: int) -> Network:
    """Return the slim fly of a prime q = ``order``: 2 q^2 routers, which are the nodes.

    These are the graphs of McKay, Miller and Širáň. With q = 4w + d, d either 1 or -1, the degree
    is (3q - d) / 2 and the diameter 2. Node q*x + y is router (0, x, y), node q^2 + q*m + c is
    router (1, m, c). (0, x, y) and (0, x, z) are linked if y - z is in X, (1, m, c) and (1, m, e)
    if c - e is in Y, and (0, x, y) and (1, m, c) if y = m*x + c, all modulo q. X are powers of a
    primitive root r: for d = 1 all even ones, for d = -1 the even ones up to 2w - 2 and the odd
    ones from 2w - 1 on; Y is r times X. ``slim-fly-5`` is the Hoffman-Singleton graph: 50 nodes,
    degree 7. Sources: Besta and Hoefler, "Slim Fly: a cost effective low-diameter network
    topology", SC 2014; McKay, Miller and Širáň, "A note on large graphs of diameter two and given
    maximum degree", J. Combinatorial Theory B 74 (1998).

    Parameters
    ----------
    order
        An odd prime. Powers of primes, which the papers allow as well, are not implemented.

    Raises
    ------
    InputError
        The number is no odd prime, or too large.
    """
    if order not in ORDERS:
        near = [prime for prime in ORDERS if prime < order][-1:]
        near += [prime for prime in ORDERS if prime > order][:1]
        large = order > ORDERS[-1]
        raise InputError(
            f"{order} is too large" if large else f"{order} is no odd prime",
            hint="use " + " or ".join(f"slim-fly-{prime}" for prime in near),
        )
    return Network.from_links(
        f"slim-fly-{order}",
        2 * order**2,
        _links(order),
        positions=layouts.circles(2 * order, order),
    )


def _links(order: int) -> Iterator[tuple[int, int]]:
    first, second = _generators(order)
    for row in range(order):
        for a in range(order):
            for b in range(a + 1, order):
                if b - a in first:
                    yield order * row + a, order * row + b
                if b - a in second:
                    yield order * (order + row) + a, order * (order + row) + b
            for slope in range(order):
                offset = (a - slope * row) % order
                yield order * row + a, order * (order + slope) + offset


def _generators(order: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the sets X and Y of ``slim_fly``, each closed under negation."""
    root = next(root for root in range(2, order) if _has_full_order(root, order))
    if order % 4 == 1:
        exponents = list(range(0, order - 1, 2))
    else:
        half = (order - 1) // 2
        exponents = [*range(0, half, 2), *range(half, order - 1, 2)]
    return (
        frozenset(pow(root, exponent, order) for exponent in exponents),
        frozenset(pow(root, exponent + 1, order) for exponent in exponents),
    )


def _has_full_order(root: int, order: int) -> bool:
    """Return whether the powers of ``root`` are all the residues but 0."""
    return len({pow(root, exponent, order) for exponent in range(order - 1)}) == order - 1


FAMILIES = (
    numbered("slim-fly-Q", slim_fly,
        "slim fly (McKay-Miller-Širáň graph) of an odd prime Q: 2 * Q^2 nodes, diameter 2",
        "slim-fly-5"),
)  # fmt: skip
