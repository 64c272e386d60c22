"""The kind of benchmarks ``designs``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cchybrid.plugin.benchmark import Benchmark, CheckedSuite, StoredRun
from cchybrid.plugin.benchmark_report import Report
from cchybrid.plugin.registry import Registry

from .checking import CheckedDesign, checked_design
from .report import design_report
from .row import DesignRow
from .work import work


class Designs(Benchmark[DesignRow]):
    """Networks to be designed, and named ones to be evaluated."""

    def from_text(self, values: Mapping[str, str], folder: Path) -> DesignRow:
        """Return the row of a line; a design without a column ``name`` is named after its task."""
        return DesignRow.from_text(values)

    def from_json(self, record: Mapping[str, Any]) -> DesignRow:
        """Return the row of a stored object."""
        return DesignRow.from_json(record)

    def digest(self, row: DesignRow, registry: Registry) -> str:
        """Return the digest of the task."""
        return row.digest

    def work(
        self, job: Mapping[str, Any], solve: Mapping[str, Any], seed: int, registry: Registry
    ) -> tuple[dict[str, Any], Any]:
        """Design the network of a row, or evaluate the named one."""
        return work(DesignRow.from_json(job), solve, seed, registry)

    def words(self, result: Mapping[str, Any]) -> str:
        """Return the values of the network."""
        values = [f"{name} {float(value):.5g}" for name, value in result["design"].items()]
        return f"{', '.join(values)}; {result['seconds']:.1f} s"

    def check(self, row: DesignRow, run: StoredRun) -> CheckedDesign:
        """Check the network by the independent checker, and compute its values again."""
        return checked_design(row, run)

    def report(
        self, checked: CheckedSuite, other: CheckedSuite | None, registry: Registry
    ) -> Report:
        """Return own and published values side by side, column by column."""
        return design_report(checked)
