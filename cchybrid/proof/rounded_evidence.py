"""Evidence of the kind ``linear`` in whole numbers, from the duals of relaxations over time."""

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from cchybrid.checker import EvidenceError, Network
from cchybrid.checker.kinds import shown_steps
from cchybrid.proof.contradiction import FINEST
from cchybrid.proof.linear_evidence import linear, rows_over_time
from cchybrid.proof.linear_program import roundings

Part = tuple[Any, ...]
"""``("price", table, numbers, step)``, ``("worth", m, v)`` or ``("once", m, v, step)``."""


def rounded_evidence(
    network: Network,
    steps: int,
    parts: Mapping[Part, float],
    deadline: float = math.inf,
    blocks: list[list[int]] | None = None,
) -> dict[str, Any] | None:
    """Return evidence in whole numbers that refutes the steps; ``None`` if no rounding does."""
    keys = list(parts)
    for rounded in roundings(np.array([*parts.values()]), unit_values=(1.0,), finest=FINEST):
        if time.monotonic() > deadline:
            break
        whole = dict(zip(keys, rounded.tolist(), strict=True))
        evidence = evidence_of(steps + 1, steps, whole, blocks)
        try:
            shown_steps(network, evidence)
        except EvidenceError:
            continue
        return evidence
    return None


def evidence_of(
    shown: int | None, steps: int, parts: Mapping[Part, int], blocks: list[list[int]] | None = None
) -> dict[str, Any]:
    """Return evidence about ``steps`` steps with these numbers, which shows ``shown``."""
    tables: dict[str, dict[tuple[int, ...], list[int]]] = {}
    values: dict[int, dict[int, int]] = {}
    once: dict[int, dict[int, list[int]]] = {}
    for (name, *numbers), amount in parts.items():
        if amount <= 0:
            continue
        if name == "price":
            table, place, step = numbers
            tables.setdefault(table, {}).setdefault(place, [0] * steps)[step - 1] += amount
        elif name == "worth":
            m, v = numbers
            values.setdefault(m, {})[v] = amount
        else:
            m, v, step = numbers
            charges = once.setdefault(m, {}).setdefault(v, [0] * steps)
            for before in range(step):
                charges[before] += amount
    groups: dict[str, dict[str, Any]] = {}
    for m, amounts in values.items():
        group: dict[str, Any] = {}
        # A limit of the last step is a limit of the worth.
        charges_of = once.get(m, {})
        for v, row in charges_of.items():
            if row[-1]:
                amounts[v] = max(0, amounts.get(v, 0) - row[-1])
        group["worth"] = [[v, amount] for v, amount in sorted(amounts.items()) if amount]
        rows = rows_over_time(((v,), _before_last(row)) for v, row in sorted(charges_of.items()))
        if rows:
            group["once"] = rows
        if blocks is not None:
            group["blocks"] = blocks
        groups.setdefault(repr(group), {"messages": [], **group})["messages"].append(m)
    return linear(
        shown,
        **{table: rows_over_time(rows.items()) for table, rows in tables.items()},
        groups=list(groups.values()),
    )


def _before_last(charges: list[int]) -> list[int]:
    """Return the charges before the last step, without those of its limit."""
    return [amount - charges[-1] for amount in charges[:-1]]
