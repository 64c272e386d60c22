"""Benchmarks: suites of instances, a store of results, and reports.

``cchybrid.bench.read(store)`` returns the runs of a store as a table of pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cchybrid.bench.frame import read

__all__ = ["read"]


def __getattr__(name: str) -> Any:
    # Imported at first use: jobs of a benchmark import this package, and must start fast.
    if name != "read":
        raise AttributeError(f"module 'cchybrid.bench' has no attribute {name!r}")
    from cchybrid.bench.frame import read

    return read
