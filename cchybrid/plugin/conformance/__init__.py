"""For authors of engines: run an engine in this process, and the conformance suite.

``LocalRun`` is for trying an engine out; ``check_engine`` and ``conformance_cases`` test whether
it keeps to everything that the host, the users and the other engines count on.
"""

from cchybrid.plugin.conformance.conformance import ConformanceCase, check_engine, conformance_cases
from cchybrid.plugin.conformance.local_run import LocalRun
from cchybrid.plugin.conformance.small_instances import ConformanceInstance, conformance_instances
from cchybrid.plugin.conformance.trial import ConformanceError

__all__ = [
    "ConformanceCase",
    "ConformanceError",
    "ConformanceInstance",
    "LocalRun",
    "check_engine",
    "conformance_cases",
    "conformance_instances",
]
