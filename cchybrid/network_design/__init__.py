"""Network design: tasks, cost terms, lower bounds, and the interface of designers.

A network under design is an array of ports, see ``cchybrid.network_design.ports``.
"""

from cchybrid.network_design.cost import TERMS, Cost
from cchybrid.network_design.designer import Designer, DesignRun
from cchybrid.network_design.task import DesignTask, layout

__all__ = ["TERMS", "Cost", "DesignRun", "DesignTask", "Designer", "layout"]
