"""Benchmarks: suites of instances, a store of results, and reports.

``cchybrid.bench.read(store)`` returns the runs of a store as a table of pandas.
"""

from typing import TYPE_CHECKING, Any

from cchybrid.plugin import BenchmarkKind, CommandInfo, NameInfo, hookimpl

if TYPE_CHECKING:
    from .frame import read

__all__ = ["read"]

GROUP = "Benchmark and plug in"


@hookimpl
def cchybrid_commands() -> tuple[CommandInfo, ...]:
    """Return the groups of commands ``bench`` and ``archive``."""
    return (
        CommandInfo("bench", f"{__name__}.cli:bench",
            "Run suites of instances, keep every result, and report.", group=GROUP),
        CommandInfo("archive", f"{__name__}.cli_archive:archive",
            "Keep the best known schedule and certificate of every instance.", group=GROUP),
    )  # fmt: skip


@hookimpl
def cchybrid_names() -> tuple[NameInfo, ...]:
    """Return the name of this package."""
    package, _, name = __name__.rpartition(".")
    return (NameInfo("bench", f"{package}:{name}", "the runs of a store of benchmarks"),)


@hookimpl
def cchybrid_benchmarks() -> tuple[BenchmarkKind, ...]:
    """Return the kind whose rows are instances."""
    return (
        BenchmarkKind(
            "schedules", f"{__name__}.schedules:Schedules",
            "instances that engines solve, beside published steps",
            tables=("rows", "tables"), key="question",
        ),
    )  # fmt: skip


def __getattr__(name: str) -> Any:
    # Imported at first use: jobs of a benchmark import this package, and must start fast.
    if name != "read":
        raise AttributeError(f"module 'cchybrid.bench' has no attribute {name!r}")
    from .frame import read

    return read
