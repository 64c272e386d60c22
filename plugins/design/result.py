"""The result of a design: the best network, its cost and bound, the record for the checker."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from typing import Any, Literal

from cchybrid.host.run_result import RunResult
from cchybrid.model import Network, Schedule

from .network.bisection import heuristic_terms
from .network.ports import Links
from .network.record import design_record
from .network.steps import steps_of_all_networks
from .network.task import DesignTask
from .network_steps import NetworkSteps

Status = Literal["optimal", "feasible", "unknown"]


@dataclass(frozen=True, kw_only=True, repr=False)
class DesignResult(RunResult):
    """The result of ``design``; further attributes as in ``RunResult``.

    Attributes
    ----------
    task
        The task.
    status
        ``optimal`` (no network has a lower cost), ``feasible``, or ``unknown`` (none was found).
    certified
        Whether the cost meets a lower bound that was checked independently; otherwise
        ``proven_by`` names the exact designer that claims an optimum, or is "".
    network, links
        The best network, ``None`` and () if none was found.
    cost, values
        Its cost, and the value of every cost term of the task.
    bound
        A lower bound of the cost, or ``None``.
    designer
        The designer that found the network; "start" for the one that the search began with.
    seconds_to_best
        Wall-clock seconds until the network was found.
    evaluations
        Networks evaluated by each designer that has ended by itself.
    network_steps
        With a collective, the search for its fewest steps; ``None`` if it found no schedule.
    """

    task: DesignTask
    status: Status
    certified: bool
    proven_by: str
    network: Network | None
    links: Links
    cost: float | None
    values: Mapping[str, float]
    bound: float | None
    designer: str
    seconds_to_best: float
    evaluations: Mapping[str, int]
    network_steps: NetworkSteps | None = None

    @property
    def sentence(self) -> str:
        """The verdict in one line: the value of every cost term."""
        title = f"{self.task.nodes} nodes of degree {self.task.degree}"
        if self.network is None:
            return f"{title}: no network was found"
        return f"{title}: {', '.join(f'{name} {v:.6g}' for name, v in self.values.items())}"

    def details(self) -> list[str]:
        """Return what is known of lower costs and of fewer steps, and the seconds."""
        lines = []
        if self.network is not None:
            known = "no lower bound is known for these cost terms"
            if self.certified:
                known = "no network has a lower cost (certified by the Moore bound)"
            elif self.status == "optimal":
                known = f"no network has a lower cost (claimed by {self.proven_by})"
            elif self.bound is not None:
                down = Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(self.bound)
                known = f"no network has a cost below {down:g}"
            lines.append(f"cost {self.cost:.6g}, found by {self.designer}; {known}")
        lines += heuristic_terms(self.task.nodes, self.values)
        return [*lines, *self._steps_lines(), f"{self.seconds:.1f} s, seed {self.seed}"]

    def _steps_lines(self) -> list[str]:
        """Return the lines that state the steps of the collective and what is proven of them."""
        collective, found = self.task.collective, self.network_steps
        if collective is None:
            return []
        none = f"no network has fewer than {self.steps_bound} steps"
        if found is None:
            return [f"{collective}: no schedule was found; {none}"]
        best = f"at least {found.result.certified_bound.steps} on this network"
        if found.result.status == "optimal":
            best = f"fewest on this network ({'certified' if found.certified else 'claimed'})"
        refuted = f"no network has fewer: all others were refuted (bound: {self.steps_bound})"
        proofs = {"by a bound": none, "by exhaustion": refuted}
        return [
            f"{collective}: {found.steps} steps, verified; {best}",
            proofs.get(found.proven, f"{none}: this network is not proven best"),
        ]

    @property
    def steps(self) -> int | None:
        """The steps of the verified schedule of the collective, or ``None``."""
        return None if self.network_steps is None else self.network_steps.steps

    @property
    def steps_bound(self) -> int | None:
        """A lower bound of the steps on every network of the task, or ``None``."""
        return None if self.task.collective is None else steps_of_all_networks(self.task)

    @property
    def proven(self) -> str:
        """The proof that no network has fewer steps: ``by a bound`` or ``by exhaustion``.

        Otherwise ``not proven``; "" without a collective or a schedule.
        """
        return "" if self.network_steps is None else self.network_steps.proven

    @property
    def schedule(self) -> Schedule | None:
        """The schedule of the collective, which holds the network, or ``None``."""
        return None if self.network_steps is None else self.network_steps.result.schedule

    def record(self) -> dict[str, Any]:
        """Return the ``cchybrid-design/1`` object for ``cchybrid.design_checker``."""
        return design_record(self.task, self.links)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            "task": self.task.facts(),
            "status": self.status,
            "certified": self.certified,
            "proven_by": self.proven_by,
            "cost": self.cost,
            "values": dict(self.values),
            "bound": self.bound,
            "designer": self.designer,
            "links": [list(link) for link in self.links],
            "seconds_to_best": self.seconds_to_best,
            "evaluations": dict(self.evaluations),
            **super().to_json(),
            **({} if self.network_steps is None else self.network_steps.to_json()),
        }
