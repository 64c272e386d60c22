"""The summary at the end of a run: what was tried on everything small, and what was not."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tests.exhaustive.features import COMBINATIONS, KINDS, TENTH, combinations_tried, message_sets
from tests.exhaustive.networks import COUNTS, SAMPLE_OF_FIVE

PROPERTY = "everything small"
"""The name under which a test hands over its counts."""


def summary(reports: Iterable[Any]) -> list[str]:
    """Return the lines of the summary.

    Parameters
    ----------
    reports
        pytest's reports of all tests that have run.
    """
    counts = Counter[str]()
    parts = set()
    for report in reports:
        for name, value in report.user_properties:
            if name == PROPERTY:
                parts.add(value["part"])
                counts.update(value["counts"])
    if not counts:
        return []
    lines = [f"{name}: {number:,}" for name, number in sorted(counts.items())]
    return [*lines, *not_tried(parts)]


def not_tried(parts: set[str]) -> list[str]:
    """Return what these parts of the cases leave out of the full product."""
    graphs = {**COUNTS, 5: SAMPLE_OF_FIVE}
    collectives = {nodes: sum(len(message_sets(kind, nodes)) for kind in KINDS) for nodes in graphs}
    product = sum(graphs[nodes] * collectives[nodes] for nodes in graphs) * len(COMBINATIONS)
    tried = [
        (*features, kind)
        for part in sorted(parts)
        for *_, kind, features in combinations_tried(part == "tenth")
    ]
    return [
        f"tried: {len(tried):,} of {product:,} combinations of network, features and collective",
        f"tried: {len({values[:-1] for values in tried}):,} of {len(COMBINATIONS):,} combinations "
        "of features",
        f"networks of five nodes: {SAMPLE_OF_FIVE} of 9,608, strongly connected ones",
    ] + ([] if len(parts) > 1 else [f"this is the part `{min(parts)}` (1 in {TENTH} is the tenth)"])
