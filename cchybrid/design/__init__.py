"""Network design: tasks, cost terms, lower bounds, and the interface of designers.

A network under design is an array of ports, see ``cchybrid.design.ports``.
"""

from cchybrid.design.cost import TERMS, Cost
from cchybrid.design.designer import Designer, DesignRun
from cchybrid.design.task import DesignTask, layout

__all__ = ["TERMS", "Cost", "DesignRun", "DesignTask", "Designer", "layout"]
