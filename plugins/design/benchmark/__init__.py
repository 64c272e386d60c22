"""Benchmarks of designs: networks to be designed, beside published values."""

from __future__ import annotations

from collections.abc import Iterable

from cchybrid.plugin.hookspecs import hookimpl
from cchybrid.plugin.records import BenchmarkKind


@hookimpl
def cchybrid_benchmarks() -> Iterable[BenchmarkKind]:
    """Return the kind ``designs``."""
    return (
        BenchmarkKind(
            "designs", f"{__name__}.kind:Designs",
            "networks to be designed, beside published values", key="design",
        ),
    )  # fmt: skip
