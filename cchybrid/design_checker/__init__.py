"""The independent checker of designed networks: standard library and exact arithmetic only.

It lies beside the checker of schedules, and imports nothing else of cchybrid.
"""

from cchybrid.design_checker.figures import (
    DESIGN_FORMAT,
    DesignFigures,
    check_design,
    check_network,
)
from cchybrid.design_checker.steps import steps_bound

__all__ = ["DESIGN_FORMAT", "DesignFigures", "check_design", "check_network", "steps_bound"]
