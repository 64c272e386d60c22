"""Figures: sets of paths that share no class of channels, and covers of all distances by them.

Distances and their opposites are treated alike, which halves the search. Where no
distance is its own opposite, every figure is its own reflection; otherwise figures come in opposite
pairs, apart from those with distances that are their own opposites.

While many distances are left, figures are chosen at random; for the others an exact cover is found
by CP-SAT, among many figures of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .context import DoesNotApplyError

MAX_LEFT = 64
"""Distances, without opposites, for which the exact cover is found; more in each attempt."""
MAX_TRIED, MAX_FOUND = 200, 3_000
"""Figures tried per distance, and found in all, for the exact cover."""
MAX_BRANCHES, MAX_NODES = 4, 40
"""Paths tried for the same channel, and in all for one figure."""
MAX_ATTEMPTS = 3
"""Attempts at a cover."""
MAX_CPSAT_TIME = 8.0
"""CP-SAT's deterministic time limit for each attempt, about seconds."""

Element = tuple[int, ...]
Figure = tuple[int, ...]
"""The numbers of the options of a figure."""
Mask = NDArray[np.bool_]
Words = Mapping[Element, Sequence[Sequence[int]]]
"""The routes of every distance, as numbers of generators in the order in which they are used."""


class Option(NamedTuple):
    """A route, from the nodes of a class."""

    distance: Element
    word: tuple[int, ...]
    start: int


class Group(NamedTuple):
    """An abelian group divided into classes.

    Parameters
    ----------
    words
        The routes of every distance.
    negated
        The opposite of every distance.
    opposite
        The opposite of every generator.
    shift
        The class to which a generator leads from class 0.
    tight
        Whether all channels of a generator have to be used.
    classes
        The number of classes.
    """

    words: Words
    negated: Mapping[Element, Element]
    opposite: Sequence[int]
    shift: NDArray[np.int64]
    tight: Sequence[bool]
    classes: int


class Options:
    """The routes of all distances from all classes, and the channels that each uses."""

    def __init__(
        self, group: Group, random: np.random.Generator, check: Callable[[], None]
    ) -> None:
        self._group, self._random, self._check = group, random, check
        self.own = len(group.words) % 2 == 0
        """Whether every figure is its own reflection."""
        names = [d for d in group.words if not self.own or d <= group.negated[d]]
        number = {distance: index for index, distance in enumerate(names)}
        self.opposite = np.array([number.get(group.negated[d], number[d]) for d in names])
        self.options: list[Option] = []
        masks: list[Mask] = []
        for distance in names:
            for word in group.words[distance]:
                for start in range(group.classes):
                    option = Option(distance, tuple(word), start)
                    both = (option, self.reflected(option))[: 1 + self.own]
                    used = [channel for each in both for channel in self._channels(each)]
                    mask = np.bincount(used, minlength=len(group.shift) * group.classes)
                    if mask.max() == 1:
                        self.options.append(option)
                        masks.append(mask.astype(np.bool_))
        self.mask = np.array(masks)
        by_generator = self.mask.reshape(len(masks), -1, group.classes)
        self._used = by_generator.any(axis=2) & np.array(group.tight)
        self.item = np.array([number[option.distance] for option in self.options])
        self._tight = np.repeat(group.tight, group.classes)
        self._users = [np.flatnonzero(column) for column in self.mask.T]
        self._size = (self.mask & self._tight).sum(axis=1)
        self._of = [np.flatnonzero(self.item == item) for item in range(len(names))]
        self.tight_items = len(np.unique(self.item[self._size > 0]))

    def reflected(self, option: Option) -> Option:
        """Return the opposite route, from the opposite class."""
        word = tuple(self._group.opposite[g] for g in option.word)
        start = -option.start % self._group.classes
        return Option(self._group.negated[option.distance], word, start)

    def _channels(self, option: Option) -> list[int]:
        word = np.array(option.word)
        shift = self._group.shift[word]
        at = (option.start + np.cumsum(shift) - shift) % self._group.classes
        return list(word * self._group.classes + at)

    def figures(
        self, first: Iterable[int], among: Mask, size: int
    ) -> Iterator[tuple[frozenset[int], Figure]]:
        """Yield a figure with each of these distances, where one is found, and its distances.

        Parameters
        ----------
        among
            Shape (distances,): whether each may be used.
        size
            Largest number of paths that use channels which have to be used.
        """
        for item in first:
            self._check()
            found = self._figure(item, among, size)
            if found:
                items = frozenset(self.item[list(found)].tolist())
                opposite = frozenset(self.opposite[list(items)].tolist())
                if items == opposite or not items & opposite:
                    yield items | opposite, found

    def _figure(self, item: int, among: Mask, size: int) -> Figure | None:
        nodes = MAX_NODES

        def grown(mask: Mask, chosen: Figure, left: int) -> Figure | None:
            nonlocal nodes
            free = np.flatnonzero(self._tight & ~mask)
            if not len(free):
                return chosen
            nodes -= 1
            if left == 0 or nodes < 0:
                return None
            users = self._users[free[0]]
            users = users[among[self.item[users]]]
            users = users[self._size[users] >= len(free) - (left - 1) * self._size.max()]
            users = users[~(self.mask[users] & mask).any(axis=1)]
            if not self.own:
                # Two arcs fill a circle of channels, so that both are used equally often.
                full = self._used[list(chosen)].sum(axis=0) >= 2
                users = users[~(self._used[users] & full).any(axis=1)]
            for option in self._random.permutation(users)[: MAX_BRANCHES if left > 1 else 1]:
                if self.item[option] not in self.item[list(chosen)]:
                    found = grown(mask | self.mask[option], (*chosen, int(option)), left - 1)
                    if found:
                        return found
            return None

        first = int(self._random.choice(self._of[item]))
        return grown(self.mask[first], (first,), size - int(self._size[first] > 0))

    def with_opposite(self, figure: Figure) -> list[list[Option]]:
        """Return the figure, and its reflection where that has other distances."""
        chosen = [self.options[option] for option in figure]
        reflected = [self.reflected(option) for option in chosen]
        if self.own:
            return [chosen + reflected]
        same = {option.distance for option in chosen} == {option.distance for option in reflected}
        return [chosen] if same else [chosen, reflected]


def cover(options: Options, count: int, random: np.random.Generator) -> list[list[Option]]:
    """Return figures in which every distance occurs exactly once.

    Parameters
    ----------
    count
        The number of figures.

    Raises
    ------
    DoesNotApplyError
        If none are found.
    """
    size = -(-options.tight_items // count)
    for attempt in range(MAX_ATTEMPTS):
        left = np.ones(len(options.opposite), dtype=np.bool_)
        plain = (options.opposite != np.arange(len(left))) | options.own
        figures: list[list[Option]] = []
        for item in random.permutation(np.flatnonzero(plain)):
            if left.sum() <= MAX_LEFT * (1 + attempt) * (2 - options.own):
                break
            for items, found in options.figures([item] if left[item] else [], left & plain, size):
                left[list(items)] = False
                figures += options.with_opposite(found)
        rest = _exact(options, left, plain, size)
        if rest:
            return figures + rest
        if not figures:
            break
    raise DoesNotApplyError("no cover by figures found")


def _exact(options: Options, left: Mask, plain: Mask, size: int) -> list[list[Option]]:
    """Return figures that cover the distances left, none if that fails."""
    # Imported here, as it takes half of the time in which the engine starts.
    from ortools.sat.python import cp_model

    known: dict[frozenset[int], Figure] = {}
    for among in (left & ~plain, left & plain):
        first = np.tile(np.flatnonzero(among), MAX_TRIED)
        for items, found in options.figures(first, among, size):
            known.setdefault(items, found)
            if len(known) >= MAX_FOUND:
                break
    model = cp_model.CpModel()
    taken = {items: model.new_bool_var("") for items in known}
    for item in np.flatnonzero(left).tolist():
        model.add_exactly_one(variable for items, variable in taken.items() if item in items)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 0
    solver.parameters.max_deterministic_time = MAX_CPSAT_TIME
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return []
    chosen = (known[items] for items, variable in taken.items() if solver.value(variable))
    return [part for figure in chosen for part in options.with_opposite(figure)]
