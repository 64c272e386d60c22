"""A small interpreter of pseudo-Boolean proofs (VeriPB 3.0), written from the format alone.

It knows ``f``, ``pol`` (with addition, multiplication, division and saturation), ``rup``,
``output NONE`` and ``conclusion UNSAT``. A row is a dictionary of coefficients by variable and a
right side, "at least".
"""

import re

Row = tuple[dict[str, int], int]


class RefusedError(Exception):
    """The proof is not accepted."""


def read_opb(text: str) -> list[Row]:
    """Return the rows of a formula."""
    lines = [line for line in text.splitlines() if line and not line.startswith("*")]
    rows = [read_row(line) for line in lines]
    head = re.match(r"\* #variable= (\d+) #constraint= (\d+)\n", text)
    assert head is not None
    assert int(head[2]) == len(rows)
    assert {name for terms, _ in rows for name in terms} <= {
        f"x{number}" for number in range(1, int(head[1]) + 1)
    }
    return rows


def read_row(text: str) -> Row:
    """Read "2 x1 -3 ~x2 >= 1"."""
    found = re.fullmatch(r"((?:[+-]?\d+ ~?x\d+ )*)>= (-?\d+) ?;?", text.strip())
    if found is None:
        raise RefusedError(text)
    terms, side = dict[str, int](), int(found[2])
    words = found[1].split()
    for factor, literal in zip(words[::2], words[1::2], strict=True):
        row = literal_axiom(literal)
        add(terms, row[0], int(factor))
        side += int(factor) * row[1]
    return {name: factor for name, factor in terms.items() if factor}, side


def literal_axiom(literal: str) -> Row:
    """Return "literal >= 0": x >= 0, or 1 - x >= 0."""
    return ({literal[1:]: -1}, -1) if literal.startswith("~") else ({literal: 1}, 0)


def add(terms: dict[str, int], more: dict[str, int], factor: int) -> None:
    for name, value in more.items():
        terms[name] = terms.get(name, 0) + factor * value


def degree(row: Row) -> int:
    """Return the right side once all literals have positive coefficients."""
    return row[1] - sum(value for value in row[0].values() if value < 0)


def with_degree(terms: dict[str, int], target_degree: int) -> Row:
    return terms, target_degree + sum(value for value in terms.values() if value < 0)


def saturated(row: Row) -> Row:
    limit = max(0, degree(row))
    terms = {name: max(-limit, min(limit, value)) for name, value in row[0].items()}
    return with_degree(terms, degree(row))


def divided(row: Row, divisor: int) -> Row:
    """Divide the row in its form with positive coefficients, rounding up."""
    if divisor < 1:
        raise RefusedError("a division by no positive number")
    terms = {
        name: -(-abs(value) // divisor) * (1 if value > 0 else -1) for name, value in row[0].items()
    }
    return with_degree(terms, -(-degree(row) // divisor))


def propagates_to_a_contradiction(rows: list[Row]) -> bool:
    """Return whether unit propagation finds a row that no values satisfy."""
    known: dict[str, int] = {}
    changed = True
    while changed:
        changed = False
        for terms, side in rows:
            slack = -side + sum(
                value * known[name] if name in known else max(0, value)
                for name, value in terms.items()
            )
            if slack < 0:
                return True
            for name, value in terms.items():
                if name not in known and abs(value) > slack:
                    known[name] = int(value > 0)
                    changed = True
    return False


def follows(rows: list[Row], row: Row) -> bool:
    terms, side = row
    # Not "at least side" is "at most side - 1".
    negated = {name: -value for name, value in terms.items()}, 1 - side
    return propagates_to_a_contradiction([*rows, negated])


def evaluated(rows: list[Row], words: list[str]) -> Row:
    """Return what an expression in reverse Polish notation derives."""
    stack: list[Row | int] = []

    def row(value: Row | int) -> Row:
        if isinstance(value, int):
            if not 1 <= value <= len(rows):
                raise RefusedError(f"there is no row {value}")
            return rows[value - 1]
        return value

    try:
        for word in words:
            if word == "+":
                one, other = row(stack.pop()), row(stack.pop())
                terms = dict(one[0])
                add(terms, other[0], 1)
                stack.append((terms, one[1] + other[1]))
            elif word == "*":
                factor, one = stack.pop(), row(stack.pop())
                if not isinstance(factor, int) or factor < 0:
                    raise RefusedError("a negative multiplier")
                stack.append(({n: factor * value for n, value in one[0].items()}, factor * one[1]))
            elif word == "d":
                divisor = stack.pop()
                if not isinstance(divisor, int):
                    raise RefusedError("a division by no number")
                stack.append(divided(row(stack.pop()), divisor))
            elif word == "s":
                stack.append(saturated(row(stack.pop())))
            elif re.fullmatch(r"~?x\d+", word):
                stack.append(literal_axiom(word))
            else:
                stack.append(int(word))
    except (IndexError, ValueError):
        raise RefusedError("the expression is not well-formed") from None
    if len(stack) != 1:
        raise RefusedError("the expression is not well-formed")
    terms, side = row(stack[0])
    return {name: value for name, value in terms.items() if value}, side


def check(formula: list[Row], proof: str) -> None:
    """Raise ``RefusedError`` unless the proof shows that the formula has no solution."""
    head, *rest = proof.split("\n", 1)
    if head != "pseudo-Boolean proof version 3.0":
        raise RefusedError("the header is missing")
    text = "\n".join(line for line in "".join(rest).splitlines() if not line.startswith("%"))
    rows, ends = list(formula), list[str]()
    for statement in text.split(";")[:-1]:
        word, _, more = statement.strip().partition(" ")
        if ends or word in ("output", "conclusion", "end"):
            ends.append(statement.strip())
        elif word == "f":
            if more.strip() != str(len(formula)):
                raise RefusedError("the formula has another number of rows")
        elif word == "pol":
            rows.append(evaluated(rows, more.split()))
        elif word == "rup":
            row = read_row(more)
            if not follows(rows, row):
                raise RefusedError(f"does not follow: {more}")
            rows.append(row)
        else:
            raise RefusedError(f"what is {word}?")
    if ends != ["output NONE", "conclusion UNSAT : -1", "end pseudo-Boolean proof"]:
        raise RefusedError("the end is missing")
    if degree(rows[-1]) <= sum(abs(value) for value in rows[-1][0].values()):
        raise RefusedError("the last row is no contradiction")
