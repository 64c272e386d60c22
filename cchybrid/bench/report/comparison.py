"""Two stores side by side: what became better, what became worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cchybrid.bench.report.standing import Standing

FACTOR, SECONDS = 1.5, 1.0
"""Times differ if one is more than so many times the other, and more than so many seconds more."""


@dataclass(frozen=True)
class Difference:
    """A row that stands differently in the two stores.

    Attributes
    ----------
    here, there
        What stands in the first store and in the other.
    words
        What is different in the first: ``fewer steps``, ``more steps``, ``tighter bound``,
        ``weaker bound``, ``faster``, ``slower``.
    """

    here: Standing
    there: Standing
    words: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Two stores: their common rows that differ, and how many rows only one of them has."""

    common: int
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]
    differences: tuple[Difference, ...]

    def count(self, word: str) -> int:
        """Return how many rows differ in this way."""
        return sum(word in difference.words for difference in self.differences)


def compare(here: Sequence[Standing], there: Sequence[Standing]) -> Comparison:
    """Compare two stores; a row that either did not run is not common."""
    first = {standing.name: standing for standing in here if standing.counted}
    second = {standing.name: standing for standing in there if standing.counted}
    common = [name for name in first if name in second]
    found = [Difference(first[n], second[n], words(first[n], second[n])) for n in common]
    return Comparison(
        common=len(common),
        only_here=tuple(name for name in first if name not in second),
        only_there=tuple(name for name in second if name not in first),
        differences=tuple(difference for difference in found if difference.words),
    )


def words(here: Standing, there: Standing) -> tuple[str, ...]:
    """Return in which ways the first differs from the other.

    Times to the best schedule are compared only where both have as many steps.
    """
    found = []
    if here.steps != there.steps:
        fewer = there.steps is None or (here.steps is not None and here.steps < there.steps)
        found.append("fewer steps" if fewer else "more steps")
    if (here.lower_bound or 0) != (there.lower_bound or 0):
        tighter = (here.lower_bound or 0) > (there.lower_bound or 0)
        found.append("tighter bound" if tighter else "weaker bound")
    mine, other = here.seconds_to_best, there.seconds_to_best
    if here.steps == there.steps and mine is not None and other is not None:
        low, high = sorted((mine, other))
        if high > FACTOR * low and high - low > SECONDS:
            found.append("faster" if mine < other else "slower")
    return tuple(found)
