"""The check of a designed network: by the independent checker, its values computed again."""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from cchybrid.checker import EvidenceError, proven_steps
from cchybrid.design_checker import check_design
from cchybrid.model import Schedule
from cchybrid.plugin.benchmark import StoredRun, amount
from cchybrid.referee.verify import verify_schedule

from ..network.ports import Links
from ..network.record import task_record
from ..network.steps import instance_of, steps_of_all_networks
from ..network.task import DesignTask
from .row import DesignRow, figures_of

EXHAUSTION = "claimed by exhaustion, not checked"


class CheckedDesign(NamedTuple):
    """A network of a row, and what was computed again from its links.

    Parameters
    ----------
    values
        The values by cost term and figure, with a collective also the ``steps`` of its verified
        schedule.
    bounds
        Lower bounds of some of them, for all networks of the row's task.
    seconds, seconds_to_best, evaluations
        What the run took, as stored.
    proven
        With a collective, whether no network has fewer steps: ``by a bound``, ``not proven``, or
        the claim of the run that all other networks were refuted, which is not checked
        (``EXHAUSTION``).
    certified
        With a collective, ``yes`` or ``no``: whether the evidence shows that this network has no
        shorter schedule.
    """

    values: Mapping[str, float]
    bounds: Mapping[str, float]
    seconds: float
    seconds_to_best: float
    evaluations: int
    proven: str = ""
    certified: str = ""


def checked_design(row: DesignRow, run: StoredRun) -> CheckedDesign:
    """Return what holds of a stored network.

    Raises
    ------
    EvidenceError, InputError, LookupError, TypeError, ValueError, ArithmeticError
        The record is damaged, is of another task than the row's, or is not that of the result.
    """
    stored, task = run.unpacked(), row.task()
    record = stored["design"] if row.collective else stored
    figures = check_design(record)
    limits = {key: record[key] for key in record if key not in ("links", "claims")}
    if limits != json.loads(json.dumps(task_record(task))):
        raise EvidenceError("the network is of another task than that of the row")
    links = tuple((int(a), int(b)) for a, b in record["links"])
    if row.network and sorted(map(sorted, links)) != sorted(map(sorted, row.named_links())):
        raise EvidenceError(f"the network is not {row.network}")
    values, proofs = figures_of(row, links), ("", "")
    mean = float(figures.mean_bound)
    bounds = {
        "latency": mean * (row.nodes - 1) / row.nodes,
        "mean-distance": mean,
        "max-latency": float(figures.diameter_bound),
        "diameter": float(figures.diameter_bound),
    }
    if row.collective:
        schedule, bounds["steps"] = stored["schedule"], float(steps_of_all_networks(task))
        values["steps"], certified = _steps(task, links, schedule)
        proven = "by a bound" if values["steps"] == bounds["steps"] else "not proven"
        if proven == "not proven" and run.result.get("proven") == "by exhaustion":
            proven = EXHAUSTION
        proofs = proven, certified
    for name, value in values.items():
        if not math.isclose(value, float(run.result["design"][name]), rel_tol=1e-9):
            raise EvidenceError(f"{name} is {value}, not as stated")
    return CheckedDesign(
        values, bounds, amount(run.result), amount(run.result, "seconds_to_best"),
        int(amount(run.result, "evaluations")), *proofs,
    )  # fmt: skip


def _steps(task: DesignTask, links: Links, record: Any) -> tuple[float, str]:
    """Return the steps of a stored schedule, and whether they are certified on its network."""
    schedule = Schedule.from_json(record)
    if schedule.instance != instance_of(task, links):
        raise EvidenceError("the schedule is none of the network")
    if violations := verify_schedule(schedule):
        raise EvidenceError(f"the schedule is not valid: {violations[0]}")
    steps, certified = len(schedule.steps), False
    if schedule.lower_bound is not None and schedule.lower_bound.evidence:
        instance = schedule.instance.to_json()
        certified = proven_steps(instance, schedule.lower_bound.evidence) >= steps
    return float(steps), "yes" if certified else "no"
