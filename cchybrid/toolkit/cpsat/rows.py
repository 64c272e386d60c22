"""Constraints over booleans, written directly into CP-SAT's protocol buffer, for large models."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ortools.sat.python import cp_model

from cchybrid.toolkit.solver import check

ROWS_PER_CHECK = 1024
"""Rows between two checks whether to stop; they take some milliseconds."""


class Rows:
    """The constraints (rows) of a new model; literal ``~b``, that is ``-b - 1``, is "not b".

    Parameters
    ----------
    booleans
        The number of booleans of the model.
    should_stop
        Whether to stop building the model; then ``StoppedError`` is raised.
    """

    def __init__(self, booleans: int, should_stop: Callable[[], bool] = lambda: False) -> None:
        self.model = cp_model.CpModel()
        self._proto = self.model.proto
        self._should_stop = should_stop
        self._added = 0
        if booleans:
            boolean = self._proto.variables.add()
            boolean.domain.extend((0, 1))
            # Copies in one call take a seventh of the time.
            self._proto.variables.extend([boolean] * (booleans - 1))

    def _add(self) -> Any:
        self._added += 1
        if self._added % ROWS_PER_CHECK == 0:
            check(self._should_stop)
        return self._proto.constraints.add()

    def integer(self, low: int, high: int) -> int:
        """Return a new integer variable, numbered after all variables so far."""
        self._proto.variables.add().domain.extend((low, high))
        return len(self._proto.variables) - 1

    def exactly_one(self, literals: Iterable[int]) -> None:
        """Require exactly one true literal."""
        self._add().exactly_one.literals.extend(literals)

    def at_least_one(self, literals: Iterable[int]) -> None:
        """Require at least one true literal; without literals the model has no solution."""
        self._add().bool_or.literals.extend(literals)

    def at_most_one(self, literals: Sequence[int]) -> None:
        """Require at most one true literal."""
        if len(literals) > 1:
            self._add().at_most_one.literals.extend(literals)

    def capacity(
        self, literals: Sequence[int], times: Sequence[int], limit: int, *, full: bool = False
    ) -> None:
        """Require the weights of true literals to sum to at most ``limit``; exactly if ``full``.

        No weight may be above the limit.
        """
        if sum(times) <= limit and not full:
            return
        if limit == 1:
            (self.exactly_one if full else self.at_most_one)(literals)
            return
        shift = sum(w for v, w in zip(literals, times, strict=True) if v < 0)
        self.weighted(
            [v if v >= 0 else ~v for v in literals],
            [w if v >= 0 else -w for v, w in zip(literals, times, strict=True)],
            limit - shift if full else -shift,
            limit - shift,
        )

    def weighted(
        self, booleans: Iterable[int], weights: Iterable[int], low: int, high: int
    ) -> None:
        """Require the weights of true booleans to sum to ``low`` up to ``high``."""
        row = self._add().linear
        row.vars.extend(booleans)
        row.coeffs.extend(weights)
        row.domain.extend((low, high))

    def minimize(self, booleans: Iterable[int], weights: Iterable[int]) -> None:
        """Minimize the weights of true booleans."""
        self._proto.objective.vars.extend(booleans)
        self._proto.objective.coeffs.extend(weights)

    def hint(self, values: Sequence[int]) -> None:
        """Hint a value for each of the first booleans."""
        self._proto.solution_hint.vars.extend(range(len(values)))
        self._proto.solution_hint.values.extend(values)
