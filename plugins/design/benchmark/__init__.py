"""Benchmarks of designs: networks to be designed, beside published values."""

from cchybrid.plugin import BenchmarkKind, hookimpl


@hookimpl
def cchybrid_benchmarks() -> tuple[BenchmarkKind, ...]:
    """Return the kind ``designs``."""
    return (
        BenchmarkKind(
            "designs", f"{__name__}.kind:Designs",
            "networks to be designed, beside published values", key="design",
        ),
    )  # fmt: skip
