"""Ordered factorisations of a number of nodes: the possible sides of a grid."""

from collections.abc import Iterator


def factorisations(number: int) -> Iterator[tuple[int, ...]]:
    """Yield all ordered ways to write a number as a product of factors above 1.

    The number itself comes first.
    """
    yield (number,)
    for first in range(2, number // 2 + 1):
        if number % first == 0:
            for rest in factorisations(number // first):
                yield (first, *rest)
