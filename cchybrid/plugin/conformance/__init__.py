"""Tests for engine authors: a run in this process, and the conformance suite.

``LocalRun`` runs an engine without a host; ``check_engine`` and ``conformance_cases`` test whether
an engine keeps the contract of ``cchybrid.plugin.engine``.
"""

from cchybrid.plugin.conformance.cases import ConformanceCase
from cchybrid.plugin.conformance.conformance import check_engine, conformance_cases
from cchybrid.plugin.conformance.local_run import LocalRun
from cchybrid.plugin.conformance.small_instances import ConformanceInstance, conformance_instances
from cchybrid.plugin.conformance.watch import ConformanceError

__all__ = [
    "ConformanceCase", "ConformanceError", "ConformanceInstance", "LocalRun", "check_engine",
    "conformance_cases", "conformance_instances",
]  # fmt: skip
