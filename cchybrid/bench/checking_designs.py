"""The check of a designed network: by the independent checker, its values computed again."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from cchybrid.bench.design_row import DesignRow, figures_of
from cchybrid.bench.store import Run
from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.design_checker import check_design
from cchybrid.model import Schedule
from cchybrid.model.errors import CchybridError, InputError
from cchybrid.network_design.ports import Links
from cchybrid.network_design.steps import instance_of, steps_of_all_networks
from cchybrid.referee.verify import verify_schedule


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


def checked_design(row: DesignRow, run: Run) -> tuple[dict[str, float], FoundSteps | None]:
    """Return the values of a stored network, computed again, and with a collective its steps."""
    where = f"run {run.row}, seed {run.seed}"
    try:
        stored, record = design_records(row, run)
        check_design(record)
        links = tuple((int(a), int(b)) for a, b in record["links"])
        values, found = figures_of(row, links), None
        if row.collective:
            found = checked_steps(row, links, stored, run.result["proven"])
            values["steps"] = float(found.steps)
        stated = {name: float(value) for name, value in run.result["design"].items()}
    except (zlib.error, ValueError, KeyError, TypeError, EvidenceError, CchybridError) as error:
        raise InputError(str(error), where=where, hint="run it again") from None
    wrong = [
        name
        for name, value in values.items()
        if name not in stated or not math.isclose(value, stated[name], rel_tol=1e-9)
    ]
    if wrong:
        raise InputError(f"{wrong[0]} is {values[wrong[0]]}", where=where, hint="run it again")
    return values, found


def design_records(row: DesignRow, run: Run) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is stored of a run, and the record of the network in it."""
    stored = run.unpacked()
    return stored, stored["design"] if row.collective else stored
