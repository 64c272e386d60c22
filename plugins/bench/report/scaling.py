"""The growth of time and memory with the number of nodes, family by family."""

import math
import re
from typing import Any

import numpy as np
from pandas import DataFrame

from .reading import Reading

MEASURES = {
    "build_seconds": "build s",
    "bound_seconds": "bound s",
    "first_seconds": "first s",
    "seconds_to_best": "best s",
    "verify_seconds": "verify s",
    "peak_mib": "peak MiB",
}
"""The columns of costs, and their titles."""
MIN_NODES, MIN_POINTS = 64, 3
"""Exponents are fitted to networks from this size on, if there are as many."""
MIN_SECONDS = 0.02
"""Shorter times are those of the clock and the operating system, and are left out of the fit."""


def costs(reading: Reading) -> DataFrame:
    """Return a line per run of a measured row, family by family; empty if there is none.

    A family has all in common but the numbers in the name of the topology: collective, model,
    options, contestant. Columns: ``family``, ``nodes``, ``row``, ``contestant``, ``seed``,
    ``first steps``, ``steps``, ``bound`` and the keys of ``MEASURES``, NaN where unknown.
    """
    measured = {row.name: row for row in reading.rows if row.measure}
    lines: list[dict[str, Any]] = []
    several = reading.runs.contestant.nunique() > 1
    for run in reading.runs.to_dict("records"):
        row = measured.get(run["row"])
        if row is None or run["failure"] or not run["cost"]:
            continue
        family = re.sub(r"\d+", "N", row.topology) + row.name.removeprefix(row.topology)
        found = {**run["cost"], "seconds_to_best": run["seconds_to_best"]}
        lines.append(
            {
                "family": f"{family} [{run['contestant']}]" if several else family,
                "nodes": reading.facts[run["row"]]["nodes"],
                **{name: run[name] for name in ("row", "contestant", "seed")},
                "first steps": found.get("first_steps", math.nan),
                "steps": run["steps"],
                "bound": run["lower_bound"],
                **{name: found.get(name, math.nan) for name in MEASURES},
            }
        )
    columns = ["family", "nodes", "row", "contestant", "seed", "first steps", "steps", "bound"]
    columns += MEASURES
    table = DataFrame(lines, columns=columns).sort_values(["family", "nodes"], kind="stable")
    return table.astype({"first steps": "Int64", "steps": "Int64"})


def growth(table: DataFrame) -> DataFrame:
    """Return a line per family of the result of ``costs``: the exponent of each measure."""
    return DataFrame([_growth(name, part) for name, part in table.groupby("family")])


def _growth(family: Any, table: DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = {"family": family}
    large = table[table.nodes >= MIN_NODES]
    for name, title in MEASURES.items():
        known = large[large[name].notna()]
        if name != "peak_mib":
            known = known[known[name] >= MIN_SECONDS]
        value = ""
        if known.nodes.nunique() >= MIN_POINTS:
            value = f"{exponent(known.nodes.to_numpy(), known[name].to_numpy()):.1f}"
        found[title] = value
    return found


def exponent(nodes: Any, values: Any) -> float:
    """Return the exponent e of the least-squares fit of values = constant * nodes^e."""
    slope, _ = np.polyfit(np.log(nodes.astype(float)), np.log(values.astype(float)), 1)
    return float(slope)
