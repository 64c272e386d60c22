"""Metacyclic groups: the groups whose Cayley graphs are searched.

The elements of the group (m, k, r) with r^k = 1 modulo m are pairs (a, b), a modulo m, b modulo k,
with the product (a, b) (c, d) = (a + r^b c, b + d). For k = 1 the group is cyclic, for r = 1 the
product of two cyclic groups, for k = 2 and r = m - 1 dihedral.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_FACTORS = 4
"""The largest number of values of r that are used for every pair (m, k)."""


@dataclass(frozen=True)
class Group:
    """A metacyclic group; element (a, b) has number ``a * k + b``, the identity is 0."""

    m: int
    k: int
    r: int

    def table(self) -> NDArray[np.int32]:
        """Return the product of every two elements, shape (order, order)."""
        order = self.m * self.k
        a, b = np.divmod(np.arange(order), self.k)
        powers = np.array([pow(self.r, int(e), self.m) for e in range(self.k)])
        first = (a[:, None] + powers[b][:, None] * a[None]) % self.m
        second = (b[:, None] + b[None]) % self.k
        product: NDArray[np.int32] = (first * self.k + second).astype(np.int32)
        return product


def groups_of(order: int) -> Iterator[Group]:
    """Yield metacyclic groups of an order; the cyclic group is first."""
    yield Group(order, 1, 1 % order)
    for k in range(2, order):
        if order % k:
            continue
        m = order // k
        roots = [r for r in range(1, m) if math.gcd(r, m) == 1 and pow(r, k, m) == 1]
        # For coprime m and k the product with r = 1 is the cyclic group.
        if math.gcd(m, k) == 1:
            roots = [r for r in roots if r != 1]
        # The largest is m - 1 if k is even: the dihedral group and its relatives.
        for r in sorted({*roots[: MAX_FACTORS - 1], *roots[-1:]}):
            yield Group(m, k, r)
