"""All-to-all scatter on Cayley graphs of abelian groups: figures, translated over cosets.

A homomorphism to Z_k divides the nodes into k classes, the cosets of its kernel. All nodes of a
class do the same, so a step is a choice of k channels per generator. A *figure* is a set of routes
of different distances, each from one class, that share no channel; its k translates are k steps, in
which every node sends over each of these distances once. S / k figures that hold every distance
once are a schedule of S steps. CP-SAT finds them: every distance chooses a figure, a shortest route
and its first class. Distances and their opposites are treated alike, which halves the search.

Compare E. A. Varvarigos, D. P. Bertsekas, "Communication algorithms for isotropic tasks in
hypercubes and wraparound meshes", Parallel Computing 18, 1992, where all nodes do the same.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, permutations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cchybrid.problem.transfers import Transfers

from .context import Context, DoesNotApplyError, LongArray
from .factorisations import factorisations

if TYPE_CHECKING:  # imported where it is used, as it takes half of the time of the engine's start
    from ortools.sat.python.cp_model import CpModel, CpSolver

MAX_GENERATORS = 16
"""Channels out of a node; with more, shortest routes are too many."""
MAX_FIGURES, MAX_ROUTES, MAX_ORDERS = 5, 6, 24
"""Figures and routes that a distance may choose from, drawn at random, and orders of generators."""
MAX_WHOLE, MAX_STEPS, MAX_SPLITS = 300, 100, 2
"""Steps whose figures are looked for at once; those that are divided; attempts to halve them."""
MAX_CPSAT_TIME, MAX_TOTAL_TIME = 6.0, 15.0
"""CP-SAT's deterministic time limits, about seconds: each time, and per number of classes."""
MAX_TRIES = 3
"""Numbers of classes tried, times the effort."""
MAX_UNEVEN = 4
"""Twice the hops by which halves may differ from their share, where channels have idle steps."""

Element = tuple[int, ...]
Word = tuple[int, ...]
"""Generators, in the order in which a route uses them."""


class Choice(NamedTuple):
    """A route of a distance in a figure, from the nodes of a class."""

    figure: int
    word: Word
    start: int


class Group:
    """An abelian group, and the shortest routes between its elements.

    Parameters
    ----------
    sides
        Elements are tuples of digits, each below its side.
    generators
        The elements that channels add.

    Attributes
    ----------
    uses
        Per distance, how often a shortest route may use each generator.
    opposite
        The opposite of every generator, or the generator itself where some have none.
    load
        Shape (generators,): the messages that have to pass a channel of each generator or of its
        opposite, on average of both.
    """

    def __init__(self, sides: Element, generators: list[Element]) -> None:
        self.sides, self.generators = sides, generators
        zero = (0,) * len(sides)
        negated = [self.moved(zero, generator, -1) for generator in generators]
        self.mirrored = set(negated) == set(generators)
        numbers = list(range(len(generators)))
        self.opposite = [generators.index(n) for n in negated] if self.mirrored else numbers
        self.uses: dict[Element, set[Element]] = {zero: {(0,) * len(generators)}}
        level = self.uses
        while level:
            fresh = defaultdict[Element, set[Element]](set)
            for (place, known), (number, one) in product(level.items(), enumerate(generators)):
                other = self.moved(place, one)
                if other not in self.uses:
                    fresh[other] |= {(*u[:number], u[number] + 1, *u[number + 1 :]) for u in known}
            self.uses, level = self.uses | fresh, fresh
        del self.uses[zero]
        both = np.sum([self.both(distance) for distance in self.uses], axis=0)
        self.load = both[:-1] / 2
        every = [np.array(sorted(found)) for found in self.uses.values()]
        self.hops = sum(int(use[0].sum()) for use in every)
        self.longest = np.max([use.max(axis=0) for use in every], axis=0)

    def both(self, distance: Element) -> LongArray:
        """Return the fewest uses of each generator and its opposite together, and 2 of ports."""
        use = np.array(sorted(self.uses[distance]))
        return np.append((use + use[:, self.opposite]).min(axis=0), 2)

    def moved(self, place: Element, by: Element, times: int = 1) -> Element:
        """Return an element plus another one, some times."""
        return tuple((a + times * b) % s for a, b, s in zip(place, by, self.sides, strict=True))

    def words(self, distance: Element) -> list[Word]:
        """Return shortest routes of a distance, each using one generator after the other."""
        return [
            tuple(generator for generator in order for _ in range(use[generator]))
            for use in sorted(self.uses[distance])
            for order in islice(permutations(np.flatnonzero(use).tolist()), MAX_ORDERS)
        ]

    def coefficients(self, classes: int) -> LongArray:
        """Return the class of every digit."""
        return np.array([classes // math.gcd(classes, side) for side in self.sides])

    def classes(self, steps: int) -> Iterator[tuple[int, int]]:
        """Yield steps, at least this many, and the number of classes that divides them."""
        found = []
        for classes in range(1, math.prod(self.sides) + 1):
            shift = np.array(self.generators) @ self.coefficients(classes) % classes
            if (classes // np.gcd(classes, shift) >= self.longest).all():
                found.append((-(-steps // classes) * classes, classes))
        yield from sorted(found)


def coset_exchange(context: Context) -> Transfers:
    """Return the schedule of the fewest steps for which figures are found."""
    message = context.message_matrix()
    context.require_wormhole(full_duplex=True)
    context.require_useful(context.min_steps)
    group = _group(context)
    ports, degree = min(context.ports()), len(group.generators)
    bounds = (*group.load, group.hops / degree, (context.nodes - 1) / ports)
    tries = MAX_TRIES * context.effort
    for steps, classes in islice(group.classes(math.ceil(max(bounds))), tries):
        context.require_useful(steps)
        figures = Figures(group, classes, steps, min(ports, degree), context)
        found = figures.found(sorted(group.uses), range(steps // classes))
        if found:
            return Transfers.joined([_translated(group, classes, message, each) for each in found])
    raise DoesNotApplyError("no figures found")


def _group(context: Context) -> Group:
    """Return the group of a network whose nodes are numbered as its elements in order."""
    network = context.network
    if network.endpoints or network.nodes < 3:
        raise DoesNotApplyError("terminals, or too few nodes")
    first, last, capacity = np.array(network.channels).T
    for sides in factorisations(network.nodes):
        ends = [np.array(np.unravel_index(end, sides)) for end in (first, last)]
        added = np.unique((ends[1] - ends[0]).T % np.array(sides), axis=0)
        known = set(map(tuple, added.tolist()))
        if len(known) <= MAX_GENERATORS and len(known) * network.nodes == capacity.sum():
            return Group(sides, sorted(known))
    raise DoesNotApplyError("no network of an abelian group with few channels per node")


def _translated(group: Group, classes: int, message: LongArray, choice: Choice) -> Transfers:
    """Return the transfers of all nodes over a distance."""
    digits = np.array(np.unravel_index(np.arange(len(message)), group.sides)).T
    hops = np.array(group.generators)[list(choice.word)].cumsum(axis=0)
    places = (digits[:, None] + np.vstack((hops[:1] * 0, hops))) % np.array(group.sides)
    node = np.ravel_multi_index(tuple(np.moveaxis(places, 2, 0)), group.sides)
    step = choice.figure * classes + (digits @ group.coefficients(classes) - choice.start) % classes
    begins = np.arange(0, node.size + 1, node.shape[1])
    return Transfers(message[node[:, 0], node[:, -1]], step, node.ravel(), begins)


class Figures:
    """Figures that hold every distance once.

    Parameters
    ----------
    ports
        Messages that a node can send and accept in a step.
    """

    def __init__(
        self, group: Group, classes: int, steps: int, ports: int, context: Context
    ) -> None:
        self._group, self._classes, self._ports = group, classes, ports
        self._check = context.check
        self._time_left = MAX_TOTAL_TIME * context.effort
        self._random = np.random.default_rng(context.random.randrange(1 << 32))
        self._shift = np.array(group.generators) @ group.coefficients(classes) % classes
        self._full = group.load == steps

    def _slots(self, word: Word) -> LongArray:
        """Return, shape (classes, hops + 2), the channels and ports used from every class."""
        shift = self._shift[list(word)]
        begins = np.arange(self._classes)[:, None]
        at = (begins + np.array([0, shift.sum(), *(shift.cumsum() - shift)])) % self._classes
        generators = len(self._group.generators)
        slots: LongArray = np.array([generators, generators + 1, *word]) * self._classes + at
        return slots

    def found(self, distances: list[Element], figures: Sequence[int]) -> list[Choice]:
        """Return choices of all distances in these figures, none if that fails."""
        steps = len(figures) * self._classes
        found = self._chosen(distances, figures) if steps <= MAX_WHOLE else []
        if found or len(figures) == 1 or steps <= MAX_STEPS:
            return found
        half = len(figures) // 2
        for _ in range(MAX_SPLITS):
            first = self._half(distances, half, len(figures))
            found = self.found(sorted(first), figures[:half]) if first else []
            others = self.found(sorted({*distances} - first), figures[half:]) if found else []
            if others:
                return found + others
        return []

    def _half(self, distances: list[Element], half: int, whole: int) -> set[Element]:
        """Return random distances with their share of the load, with others like them left."""
        from ortools.sat.python import cp_model

        group, model = self._group, cp_model.CpModel()
        items = [d for d in distances if d <= self._paired(d)]
        weight = np.array([group.both(d) * (2 - (self._paired(d) == d)) for d in items])
        taken = [model.new_bool_var("") for _ in items]
        # Half of the distances go to the halves in turn, from short to long.
        order = np.lexsort((self._random.random(len(items)), weight.sum(axis=1)))
        for place, item in enumerate(order.tolist()):
            if place % 4 < 2:
                model.add(taken[item] == (place + place // 4) % 2)
        capacity = 2 * self._classes * np.append(np.ones_like(group.load), self._ports)
        for column, limit in zip(weight.T, capacity.tolist(), strict=True):
            total, share = int(column.sum()), round(column.sum() * half / whole)
            load = sum(w * variable for w, variable in zip(column.tolist(), taken, strict=True))
            model.add(load <= min(share + MAX_UNEVEN, int(limit) * half))
            model.add(load >= max(share - MAX_UNEVEN, total - int(limit) * (whole - half)))
        solver = self._solver(model)
        chosen = {d for d, v in zip(items, taken, strict=True) if solver and solver.value(v)}
        return chosen | {self._paired(d) for d in chosen}

    def _paired(self, distance: Element) -> Element:
        """Return the opposite distance if both are treated alike, the distance itself otherwise."""
        group = self._group
        alike = group.mirrored and self._ports > 1
        return group.moved((0,) * len(distance), distance, -1) if alike else distance

    def _chosen(self, distances: list[Element], figures: Sequence[int]) -> list[Choice]:
        """Return choices of all distances, found at once."""
        from ortools.sat.python import cp_model

        group, classes = self._group, self._classes
        channels = len(group.generators) * classes
        model = cp_model.CpModel()
        taken: list[tuple[cp_model.IntVar, list[Choice]]] = []
        users = defaultdict[tuple[int, int], list[cp_model.IntVar]](list)
        for distance in distances:
            self._check()
            opposite = self._paired(distance)
            if opposite < distance:
                continue
            first = len(taken)
            every = self._random.permutation(np.array(group.words(distance)))
            for word in every[:MAX_ROUTES].tolist():
                slots, words = self._slots(word), [tuple(word)]
                if opposite != distance:
                    words.append(tuple(group.opposite[generator] for generator in word))
                    slots = np.hstack((slots, self._slots(words[1])[-np.arange(classes)]))
                inner = np.sort(np.where(slots < channels, slots, -1))
                free = ((np.diff(inner) > 0) | (inner[:, 1:] < 0)).all(axis=1)
                some = self._random.permutation(np.array(figures))[:MAX_FIGURES].tolist()
                for start, figure in product(np.flatnonzero(free).tolist(), some):
                    variable = model.new_bool_var("")
                    starts = (start, -start % classes)
                    choices = zip(words, starts, strict=False)
                    taken.append((variable, [Choice(figure, *choice) for choice in choices]))
                    for slot in slots[start].tolist():
                        users[figure, slot].append(variable)
            model.add_exactly_one(variable for variable, _ in taken[first:])
        for (_, slot), variables in users.items():
            if slot >= channels:
                model.add(sum(variables) <= self._ports)
            elif self._full[slot // classes]:
                model.add_exactly_one(variables)
            else:
                model.add_at_most_one(variables)
        solver = self._solver(model)
        return [c for v, choices in taken if solver and solver.value(v) for c in choices]

    def _solver(self, model: CpModel) -> CpSolver | None:
        """Return the solver with a solution, ``None`` if it finds none."""
        from ortools.sat.python import cp_model

        self._check()
        if self._time_left <= 0:
            return None
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.linearization_level = 0
        solver.parameters.max_deterministic_time = MAX_CPSAT_TIME
        status = solver.solve(model)
        self._time_left -= solver.response_proto.deterministic_time
        return solver if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
