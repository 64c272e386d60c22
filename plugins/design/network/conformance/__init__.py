"""Tests for authors of designers: the conformance suite.

``check_designer`` and ``designer_cases`` test whether a designer keeps the contract of
``cchybrid_plugins.design.network.designer``, as ``cchybrid.plugin.conformance`` does for engines.
"""

from .conformance import check_designer, designer_cases
from .small_tasks import ConformanceTask, conformance_tasks

__all__ = ["ConformanceTask", "check_designer", "conformance_tasks", "designer_cases"]
