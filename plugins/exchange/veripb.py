"""Proofs by cutting planes that a pseudo-Boolean formula is contradictory, for VeriPB.

A proof is a text of format version 3.0. Its lines add multiplied rows and literal axioms (x >= 0),
and saturate (``pol``), or state rows that follow by unit propagation (``rup``). The last row that
they derive holds for no values.

References
----------
S. Gocht and J. Nordström, "Certifying parity reasoning efficiently using pseudo-Boolean proofs",
AAAI 2021, doi:10.1609/aaai.v35i5.16494: VeriPB.
"""

from collections.abc import Iterator, Mapping

from .pseudo_boolean import PathFormula, Terms


class NotDerivedError(Exception):
    """The evidence does not lead to a contradiction by these rules."""


class CuttingPlanes:
    """A proof that is made line by line.

    Attributes
    ----------
    formula
        The formula to be refuted. Rows may be added to it before the first line is.
    """

    def __init__(self, formula: PathFormula) -> None:
        self.formula = formula
        self._derived: list[tuple[Terms, int]] = []
        self._lines: list[str] = []

    def sum_up(self, times: Mapping[int, int]) -> tuple[Terms, int]:
        """Return the sum of rows, by their number, with their multipliers."""
        total: Terms = {}
        sides = 0
        for number, factor in times.items():
            terms, side = self._row(number)
            sides += factor * side
            for variable, coefficient in terms.items():
                total[variable] = total.get(variable, 0) + factor * coefficient
        return {variable: value for variable, value in total.items() if value}, sides

    def add_saturated(self, times: Mapping[int, int], comment: str) -> int:
        """Add a sum of rows without its negative terms, saturated; return its number.

        Saturation lowers coefficients to the right side.
        """
        terms, side = self.sum_up(times)
        words = _polish(times)
        for variable, value in terms.items():
            if value < 0:
                words += [f"x{variable}", str(-value), "*", "+"]
        self._lines += [f"% {comment}", f"pol {' '.join([*words, 's'])} ;"]
        kept = {variable: min(value, side) for variable, value in terms.items() if value > 0}
        return self._append(kept, side)

    def add_false(self, variable: int) -> int:
        """Add the row that a variable is 0, which follows by unit propagation."""
        self._lines.append(f"rup 1 ~x{variable} >= 1 ;")
        return self._append({variable: -1}, 0)

    def finish(self, times: Mapping[int, int]) -> None:
        """End with a sum of rows that holds for no values.

        Raises
        ------
        NotDerivedError
            It holds for some.
        """
        terms, side = self.sum_up(times)
        if sum(value for value in terms.values() if value > 0) >= side:
            raise NotDerivedError
        self._lines += [
            "% the contradiction",
            f"pol {' '.join(_polish(times))} ;",
            "rup >= 1 ;",
            "output NONE ;",
            "conclusion UNSAT : -1 ;",
            "end pseudo-Boolean proof ;",
        ]

    def comment(self, text: str) -> None:
        """Add a comment."""
        self._lines.append(f"% {text}")

    def lines(self) -> Iterator[str]:
        """Yield the lines of the file."""
        yield "pseudo-Boolean proof version 3.0"
        yield f"f {len(self.formula.rows)} ;"
        yield from self._lines

    def _row(self, number: int) -> tuple[Terms, int]:
        given = self.formula.rows
        if number > len(given):
            return self._derived[number - len(given) - 1]
        return given[number - 1][1:]

    def _append(self, terms: Terms, side: int) -> int:
        self._derived.append((terms, side))
        return len(self.formula.rows) + len(self._derived)


def _polish(times: Mapping[int, int]) -> list[str]:
    """Return the sum in reverse Polish notation."""
    words: list[str] = []
    for place, (number, factor) in enumerate(times.items()):
        words.append(str(number))
        words += [str(factor), "*"] if factor != 1 else []
        words += ["+"] if place else []
    return words
