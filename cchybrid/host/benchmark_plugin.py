"""The plugin that registers the kinds of benchmarks of designs."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import BenchmarkKind


@hookimpl
def cchybrid_benchmarks() -> Iterable[BenchmarkKind]:
    """Return the kind whose rows are networks to be designed."""
    return (
        BenchmarkKind(
            "designs", "cchybrid.host.designs.benchmark.kind:Designs",
            "networks to be designed, beside published values", key="design",
        ),
    )  # fmt: skip
