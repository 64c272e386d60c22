"""The steps of networks that were designed for a collective: checked again, as a section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pandas import DataFrame

from cchybrid.bench.design_row import DesignRow
from cchybrid.bench.report.sections import Section
from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.model import Schedule
from cchybrid.network_design.ports import Links
from cchybrid.network_design.steps import instance_of, steps_of_all_networks
from cchybrid.referee.verify import verify_schedule

STEPS_FACT = (
    "every schedule was verified again and the evidence of its bound checked again; that all other"
    " networks were refuted (by exhaustion) was not"
)


class FoundSteps(NamedTuple):
    """The steps of a network.

    Parameters
    ----------
    steps
        The steps of the verified schedule.
    bound
        A lower bound of the steps on every network of the task.
    proven
        Whether no network has fewer steps: ``by a bound``, ``by exhaustion`` or ``not proven``.
    certified
        Whether the evidence shows that this network has no shorter schedule.
    """

    steps: int
    bound: int
    proven: str
    certified: bool

    @property
    def mark(self) -> str:
        """``yes`` or ``no``: whether the steps are certified on this network."""
        return "yes" if self.certified else "no"


def checked_steps(
    row: DesignRow, links: Links, stored: Mapping[str, Any], stated: str
) -> FoundSteps:
    """Return the steps of a stored schedule.

    Parameters
    ----------
    stated
        What the run states as proven; of this only the exhaustion is not checked.

    Raises
    ------
    EvidenceError
        If the schedule is not valid, or not one of the network.
    """
    schedule = Schedule.from_json(stored["schedule"])
    task = row.task()
    if schedule.instance != instance_of(task, links):
        raise EvidenceError("the schedule is none of the network")
    if violations := verify_schedule(schedule):
        raise EvidenceError(f"the schedule is not valid: {violations[0]}")
    steps, bound = len(schedule.steps), steps_of_all_networks(task)
    certified = False
    if schedule.lower_bound is not None and schedule.lower_bound.evidence:
        record = schedule.instance.to_json()
        certified = proven_steps(record, schedule.lower_bound.evidence) >= steps
    proven = "by a bound" if steps == bound else "not proven"
    if steps > bound and stated == "by exhaustion":
        proven = stated
    return FoundSteps(steps, bound, proven, certified)


def steps_section(rows: Mapping[str, DesignRow], found: Mapping[str, FoundSteps]) -> Section:
    """Return the table of the steps, in the order of the rows."""
    lines = [
        {
            "collective": row.collective,
            "degree": row.degree,
            "nodes": row.nodes,
            "steps": found[name].steps,
            "bound over all networks": found[name].bound,
            "no network has fewer": found[name].proven,
            "certified on it": found[name].mark,
        }
        for name, row in rows.items()
        if name in found
    ]
    text = (
        "The fewest steps found, by a verified schedule on the designed network. Certified: no"
        " schedule on this network has fewer. The bound holds for every network of as many nodes"
        " and links."
    )
    return Section("Fewest steps", text, table=DataFrame(lines))
