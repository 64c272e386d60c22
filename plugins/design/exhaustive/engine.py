"""Exhaustive search: all networks of a small order up to isomorphism, so the best one is proven.

Networks to which a link can be added are left out: no latency grows by another link, and no bound
of the steps.
"""

from dataclasses import dataclass

from cchybrid.plugin.engine import EngineBase, Stop
from cchybrid.toolkit.options import require

from ..network.all_networks import all_networks
from ..network.bounds import latency_bound
from ..network.cost import Cost
from ..network.designer import DesignRun, is_better
from ..network.ports import ports_of
from ..network.steps_walk import rooted
from ..network.task import DesignTask
from ..network.terms import LATENCY_TERMS


@dataclass(frozen=True)
class ExhaustiveOptions:
    """The limit of exhaustive search.

    Parameters
    ----------
    nodes
        Tasks with more nodes are not searched.
    """

    nodes: int = 16

    def __post_init__(self) -> None:
        require(self, nodes=2)


class Exhaustive(EngineBase[ExhaustiveOptions]):
    """All networks of a task up to isomorphism, depth first."""

    Options = ExhaustiveOptions

    def unsupported(self, task: DesignTask) -> str | None:
        """Return why the task cannot be searched, or ``None``."""
        if task.nodes > self.options.nodes:
            return f"more than {self.options.nodes} nodes are too many to list all networks"
        if task.max_wire is not None or task.redundant_links:
            return "limited wires and redundant links are not searched exhaustively"
        if not task.uses_only((*LATENCY_TERMS, "steps")):
            return "with terms besides latency and steps, networks with empty ports may be better"
        return None

    def design(self, task: DesignTask, run: DesignRun) -> Stop:
        """Offer every network that is better than all before it; stop at the lower bound.

        Every canonical form counts as an evaluation.
        """
        cost = Cost(task)
        bound = latency_bound(task).cost(task)
        networks = all_networks(task, run.should_stop, spend=run.spend)
        with_roots = (links for each in networks for links in rooted(task, each))
        for listed, links in enumerate(with_roots, 1):
            found = cost(ports_of(task.nodes, task.degree, links))
            if is_better(run, found):
                run.offer(links, found)
            run.note(networks=listed)
            if bound is not None and found <= bound + task.tolerance:
                return Stop.EXHAUSTED
        return Stop.LIMIT if run.should_stop() else Stop.EXHAUSTED
