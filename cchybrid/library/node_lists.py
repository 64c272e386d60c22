"""Nodes and pairs of nodes by number, as users write them."""

import re
from collections.abc import Iterable

from cchybrid.model.errors import InputError

_MAX_NODES = 1 << 20


def parse_nodes(text: str) -> tuple[int, ...]:
    """Return the nodes that a list such as ``0-3,7`` names, ascending and distinct.

    Raises
    ------
    InputError
        The text is no such list.
    """
    nodes: set[int] = set()
    listed = 0
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,7})\s*(?:-\s*([0-9]{1,7})\s*)?", part)
        if not match:
            raise InputError(f"{text[:40]!r} is no list of nodes", hint="write it like 0-3,7")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise InputError(f"the range {part.strip()} is empty", hint=f"write {last}-{first}")
        listed += last - first + 1
        if listed > _MAX_NODES:
            raise InputError(
                f"the range {part.strip()} is too long"
                if last - first >= _MAX_NODES
                else f"more than {_MAX_NODES} nodes are listed",
                hint=f"at most {_MAX_NODES} nodes",
            )
        nodes.update(range(first, last + 1))
    return tuple(sorted(nodes))


def format_nodes(nodes: Iterable[int]) -> str:
    """Return the nodes as a list such as ``0-3,7``: the inverse of ``parse_nodes``."""
    runs: list[list[int]] = []
    for node in sorted(set(nodes)):
        if runs and node == runs[-1][1] + 1:
            runs[-1][1] = node
        else:
            runs.append([node, node])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def parse_pairs(text: str) -> list[tuple[int, int]]:
    """Return the pairs that a list such as ``0>3,2>5`` names, in order, with repetitions.

    Raises
    ------
    InputError
        The text is no such list.
    """
    pairs = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,7})\s*>\s*([0-9]{1,7})\s*", part)
        if not match:
            raise InputError(
                f"{part[:40]!r} is no pair" if part else "a pair is missing",
                hint="write SOURCE>DESTINATION, such as 0>3,2>5, or @FILE",
            )
        pairs.append((int(match[1]), int(match[2])))
    return pairs
