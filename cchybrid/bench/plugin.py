"""The plugin that registers the kind of benchmarks whose rows are instances."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import BenchmarkKind


@hookimpl
def cchybrid_benchmarks() -> Iterable[BenchmarkKind]:
    """Return the kind ``schedules``."""
    return (
        BenchmarkKind(
            "schedules", "cchybrid.bench.schedules:Schedules",
            "instances that engines solve, beside published steps",
            tables=("rows", "tables"), key="question",
        ),
    )  # fmt: skip
