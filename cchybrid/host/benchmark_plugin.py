"""The plugin that registers the kinds of benchmarks of designs and throughputs."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import BenchmarkKind


@hookimpl
def cchybrid_benchmarks() -> Iterable[BenchmarkKind]:
    """Return the kinds whose rows are no instances for engines."""
    return (
        BenchmarkKind(
            "designs", "cchybrid.host.designs.benchmark.kind:Designs",
            "networks to be designed, beside published values", key="design",
        ),
        BenchmarkKind(
            "throughputs", "cchybrid.host.throughput_benchmark:Throughputs",
            "rounds per chunk of endless schedules", key="throughput",
        ),
    )  # fmt: skip
