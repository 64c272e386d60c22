"""Networks under design: tasks, cost terms, lower bounds, and the interface of designers.

A network under design is an array of ports, see ``ports``.
"""

from cchybrid.plugin import CostTermInfo, hookimpl

from .terms import TERMS


@hookimpl
def cchybrid_cost_terms() -> list[CostTermInfo]:
    """Return the cost terms of cchybrid."""
    return [*TERMS.values()]
