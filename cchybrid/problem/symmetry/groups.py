"""Groups of automorphisms that are worth dividing a Problem by.

The whole group is mostly too large: hardly any schedule keeps to all symmetries of a network. Its
subgroups are as many as the stars, so some are drawn: those that one or two random automorphisms
generate, and what lies between, kept apart by how they act (order, orbits, fixed nodes).
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cchybrid.problem.arrays import IntArray, LongArray
from cchybrid.problem.symmetry.automorphisms import Automorphisms

DRAWS = 160
"""Subgroups that are drawn at most."""
ALIKE = 3
"""Groups kept of those that act alike: which of them serves is a matter of luck."""
KERNELS = 24
"""Normal subgroups of a group that are drawn at most."""
SCRAMBLES = 4
"""Products per generator after which elements are random enough (product replacement, Celler et
al. 1995)."""


@dataclass(frozen=True, eq=False)
class Group:
    """A group of renamings of the nodes.

    Parameters
    ----------
    elements
        Shape (order, nodes): what every element calls each node; the identity first.
    """

    elements: IntArray

    @property
    def order(self) -> int:
        """The number of elements."""
        return len(self.elements)

    @cached_property
    def semiregular(self) -> bool:
        """Whether no element but the identity leaves any node where it is."""
        nodes = np.arange(self.elements.shape[1])
        return not (self.elements[1:] == nodes).any()

    @cached_property
    def generators(self) -> IntArray:
        """Shape (few, nodes): elements that generate the others."""
        found = self.elements[:1]
        known = {found[0].tobytes()}
        for element in self.elements:
            if element.tobytes() not in known:
                found = np.concatenate([found, element[None, :]])
                part = generate(found, self.order)
                assert part is not None
                known = {row.tobytes() for row in part.elements}
        return found

    @cached_property
    def orbits(self) -> IntArray:
        """Shape (nodes,): the least node of each node's orbit."""
        least: IntArray = self.elements.min(axis=0)
        return least

    @cached_property
    def looks(self) -> tuple[object, ...]:
        """What groups that act alike share: the order, the orbits' sizes, and fixed nodes."""
        sizes = np.bincount(self.orbits)
        fixed = (self.elements == np.arange(self.elements.shape[1])).sum(axis=1)
        return self.order, tuple(np.bincount(sizes)[1:].tolist()), tuple(sorted(fixed.tolist()))

    def __str__(self) -> str:
        """Return what people call it."""
        return f"group of order {self.order}"


@dataclass(frozen=True, eq=False)
class Division:
    """A group, and how it moves the steps of the schedules that keep to it.

    Parameters
    ----------
    group
        The group.
    kernel
        Its elements (their places) that leave every step where it is: a normal subgroup.
    shift
        Shape (order,): by how many steps an element moves a transfer from the first step of a
        round; elements differ by one of the kernel just where they move it alike.
    """

    group: Group
    kernel: LongArray
    shift: IntArray

    @cached_property
    def key(self) -> tuple[bytes, bytes]:
        """What equal divisions share, however their elements are listed."""
        elements = self.group.elements
        kernel = np.unique(elements[self.kernel], axis=0)
        return np.unique(elements, axis=0).tobytes(), kernel.tobytes()

    @property
    def stretch(self) -> int:
        """The number of steps of a round."""
        return self.group.order // len(self.kernel)

    def __str__(self) -> str:
        """Return what people call it."""
        moved = "" if self.stretch == 1 else f" that moves {self.stretch} steps"
        return f"{self.group}{moved}"


def divisions(group: Group, seed: int) -> Iterator[Division]:
    """Yield ways to divide by a group: first such that keep every step.

    The others are by the trivial subgroup, and by normal closures of one or two elements drawn.
    """
    order = group.order
    place = {row.tobytes(): index for index, row in enumerate(group.elements)}
    yield Division(group, np.arange(order), np.zeros(order, dtype=np.int32))
    random = np.random.default_rng(seed)
    seen: set[bytes] = set()
    for number in range(KERNELS):
        drawn = group.elements[random.choice(order, number % 3 if order > 2 else 0)]
        kernel = _normal_closure(group, drawn, place)
        key = kernel.tobytes()
        if len(kernel) < order and key not in seen:
            seen.add(key)
            yield Division(group, kernel, _cosets(group, kernel, place))


def _normal_closure(group: Group, drawn: IntArray, place: Mapping[bytes, int]) -> LongArray:
    """Return the places of the elements of the smallest normal subgroup that holds these."""
    nodes = np.arange(group.elements.shape[1], dtype=np.int32)
    rows = [nodes, *drawn]
    while True:
        closed = generate(np.stack(rows), group.order)
        assert closed is not None
        known = {row.tobytes() for row in closed.elements}
        fresh = _conjugate_outside(group, rows, known)
        if fresh is None:
            return np.array(sorted(place[row] for row in known), dtype=np.int64)
        rows.append(fresh)


def _conjugate_outside(
    group: Group, rows: Sequence[IntArray], known: Container[bytes]
) -> IntArray | None:
    for other in group.generators:
        for row in rows:
            # Rows say what nodes are called: first other undone, then the row, then other.
            conjugate = np.empty_like(row)
            conjugate[other] = other[row]
            if conjugate.tobytes() not in known:
                return conjugate
    return None


def _cosets(group: Group, kernel: LongArray, place: Mapping[bytes, int]) -> IntArray:
    """Return, shape (order,), a number from 0 for the coset of each element; 0 is the kernel."""
    number = np.full(group.order, -1, dtype=np.int32)
    count = 0
    for index, element in enumerate(group.elements):
        if number[index] < 0:
            rows = element[group.elements[kernel]]
            number[[place[row.tobytes()] for row in rows]] = count
            count += 1
    return number


def generate(generators: IntArray, most: int) -> Group | None:
    """Return the group that these renamings generate; ``None`` if it has more elements.

    Parameters
    ----------
    generators
        Shape (generators, nodes).
    """
    nodes = generators.shape[1]
    elements = np.arange(nodes, dtype=np.int32)[None, :]
    known = {elements[0].tobytes()}
    fresh = elements
    while len(fresh):
        products = np.concatenate([generator[fresh] for generator in generators])
        kept = []
        for row in products:
            key = row.tobytes()
            if key not in known:
                known.add(key)
                kept.append(row)
                if len(known) > most:
                    return None
        fresh = np.array(kept, dtype=np.int32).reshape(-1, nodes)
        elements = np.concatenate([elements, fresh])
    return Group(elements)


def groups(found: Automorphisms, seed: int, most: int) -> list[Group]:
    """Return groups of at most ``most`` elements, the largest first.

    Parameters
    ----------
    seed
        Of the draws; equal arguments give equal groups.
    """
    if not len(found.generators) or most < 2:
        return []
    random = np.random.default_rng(seed)
    alike: dict[tuple[object, ...], list[Group]] = {}
    seen: set[bytes] = set()
    for group in _drawn(found, random, most):
        key = np.unique(group.elements, axis=0).tobytes()
        if group.order == 1 or key in seen:
            continue
        seen.add(key)
        kept = alike.setdefault(group.looks, [])
        if len(kept) < ALIKE:
            kept.append(group)
    listed = [group for kept in alike.values() for group in kept]
    # Free actions first: what is left where an element fixes something is harder to fill.
    return sorted(listed, key=lambda group: (-group.order, not group.semiregular))


def _drawn(found: Automorphisms, random: np.random.Generator, most: int) -> Iterator[Group]:
    if found.order <= most:
        whole = generate(found.generators, most)
        if whole is not None:
            yield whole
    draw = _elements(found.generators, random)
    cyclic: list[Group] = []
    for number in range(DRAWS):
        generators = [next(draw) for _ in range(1 + number % 3)]
        if len(generators) == 1:
            element = generators[0]
            whole_order = _order(element)
            for order in range(2, most + 1):
                if whole_order % order == 0:
                    part = Group(_powers(_power(element, whole_order // order), order))
                    cyclic.append(part)
                    yield part
            continue
        if len(generators) == 2 and len(cyclic) > 1:
            # Small parts put together: large elements mostly generate too much.
            pair = random.choice(len(cyclic), 2, replace=False)
            generators = [cyclic[i].elements[1] for i in pair]
        joined = generate(np.stack(generators[:2]), most)
        if joined is not None:
            yield joined


def _elements(generators: IntArray, random: np.random.Generator) -> Iterator[IntArray]:
    """Yield random products of the generators and their inverses, without end."""
    pool = [generators[index % len(generators)] for index in range(max(10, len(generators)))]
    count = 0
    while True:
        i, j = random.choice(len(pool), 2, replace=False)
        factor = pool[j] if random.random() < 0.5 else np.argsort(pool[j]).astype(np.int32)
        pool[i] = factor[pool[i]] if random.random() < 0.5 else pool[i][factor]
        count += 1
        if count > SCRAMBLES * len(pool):
            yield pool[i]


def _order(element: IntArray) -> int:
    """Return how many powers a renaming has: the least common multiple of its cycles' lengths."""
    lengths = set()
    left = set(range(len(element)))
    while left:
        node = first = left.pop()
        length = 1
        while (node := int(element[node])) != first:
            left.remove(node)
            length += 1
        lengths.add(length)
    return math.lcm(*lengths)


def _power(element: IntArray, exponent: int) -> IntArray:
    """Return a power of a renaming, by squaring."""
    power = np.arange(len(element), dtype=np.int32)
    while exponent:
        if exponent % 2:
            power = element[power]
        element = element[element]
        exponent //= 2
    return power


def _powers(element: IntArray, order: int) -> IntArray:
    """Return, shape (order, nodes), the powers of an element of that order, the identity first."""
    rows = [np.arange(len(element), dtype=np.int32)]
    for _ in range(order - 1):
        rows.append(element[rows[-1]])
    return np.stack(rows)
