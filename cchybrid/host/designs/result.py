"""The result of a design: the best network, its cost and bound, the record for the checker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cchybrid.host.designs.network_steps import NetworkSteps
from cchybrid.model import Network, Schedule
from cchybrid.network_design.ports import Links
from cchybrid.network_design.record import design_record
from cchybrid.network_design.steps import steps_of_all_networks
from cchybrid.network_design.task import DesignTask

Status = Literal["optimal", "feasible", "unknown"]


@dataclass(frozen=True)
class DesignResult:
    """The result of ``design``.

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
    seconds, seconds_to_best
        Wall-clock seconds of the run, and until the network was found.
    evaluations
        Networks evaluated by each designer that has ended by itself.
    seed, budget, versions, options
        Settings of the run.
    troubles, remarks
        One line for each designer that failed, and for each that could not work on the task.
    interrupted
        Whether the user interrupted the run.
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
    seconds: float
    seconds_to_best: float
    evaluations: Mapping[str, int]
    seed: int
    budget: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    interrupted: bool = False
    network_steps: NetworkSteps | None = None

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
            "task": {
                key: value for key, value in self.task.to_json().items() if key != "extra_terms"
            },
            "status": self.status,
            "certified": self.certified,
            "proven_by": self.proven_by,
            "cost": self.cost,
            "values": dict(self.values),
            "bound": self.bound,
            "designer": self.designer,
            "links": [list(link) for link in self.links],
            "seconds": self.seconds,
            "seconds_to_best": self.seconds_to_best,
            "evaluations": dict(self.evaluations),
            "seed": self.seed,
            "budget": dict(self.budget),
            "versions": dict(self.versions),
            "options": {name: dict(values) for name, values in self.options.items()},
            "troubles": list(self.troubles),
            "remarks": list(self.remarks),
            "interrupted": self.interrupted,
            **({} if self.network_steps is None else self.network_steps.to_json()),
        }
