"""All-to-all with a size for every pair (alltoallv), in messages of one size."""

import csv
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

from cchybrid.library.rates import common_divisor, read_bytes
from cchybrid.model import Collective, Message
from cchybrid.model.errors import InputError, with_context
from cchybrid.model.instance import read_text

NAME = "alltoallv"
MAX_MESSAGES = 1 << 22


def read_sizes(source: Any) -> list[list[Fraction]]:
    """Return the bytes from each node to each other one, of a CSV file or a matrix.

    Raises
    ------
    InputError
        The file cannot be read, or an entry is no size; the error names its place.
    """
    rows: Sequence[Sequence[Any]] = source
    if isinstance(source, (str, Path)):
        with with_context(source):
            rows = [row for row in csv.reader(read_text(source).splitlines()) if row]
    found = []
    for number, row in enumerate(rows):
        where = f"size_matrix[{number}]"
        if len(row) != len(rows):
            raise InputError(
                f"{len(row)} entries in a matrix of {len(rows)} rows",
                where=where,
                hint="give one row and one column per node",
            )
        texts = [str(entry).strip() for entry in row]
        found.append([
            Fraction(0) if text in ("", "0", "0.0") else read_bytes(text, f"{where}[{place}]")
            for place, text in enumerate(texts)
        ])  # fmt: skip
    return found


def alltoallv(sizes: Sequence[Sequence[Fraction]], nodes: Sequence[int], size: Any) -> Collective:
    """Return as many messages for every pair of nodes as its bytes need.

    Parameters
    ----------
    sizes
        The bytes from the node of each row to the node of each column.
    nodes
        The nodes that take part, in the order of rows and columns.
    size
        The bytes of a message, of which the last one of a pair may be filled up; ``None``: the
        largest size of which all entries are multiples.
    """
    if len(sizes) != len(nodes):
        raise InputError(
            f"{len(sizes)} rows for {len(nodes)} nodes that take part",
            where="size_matrix",
            hint="give one row and one column for each of them",
        )
    if any(row[number] for number, row in enumerate(sizes)):
        raise InputError("a size from a node to itself", where="size_matrix", hint="write 0 there")
    each = read_bytes(size) if size is not None else common_divisor([*chain(*sizes)])
    counts = [
        (source, goal, math.ceil(entry / each))
        for source, row in zip(nodes, sizes, strict=True)
        for goal, entry in zip(nodes, row, strict=True)
    ]
    number = sum(count for *_, count in counts)
    if not 0 < number <= MAX_MESSAGES:
        raise InputError(
            f"{number:,} messages", where="size_matrix", hint="name a larger --size for each"
        )
    messages = (Message(source, (goal,)) for source, goal, count in counts for _ in range(count))
    return Collective(NAME, tuple(messages))
