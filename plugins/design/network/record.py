"""The record of a designed network for the independent checker."""

from typing import Any

from cchybrid.design_checker import DESIGN_FORMAT

from .bounds import latency_bound
from .distances import all_distances
from .ports import Links, ports_of
from .steps import steps_of_all_networks
from .task import DesignTask


def design_record(task: DesignTask, links: Links) -> dict[str, Any]:
    """Return the ``cchybrid-design/1`` object of a network for ``cchybrid.design_checker``.

    It claims the latencies of the network and their lower bounds, and with a collective the lower
    bound of its steps.
    """
    record = {**task_record(task), "links": [list(link) for link in links]}
    total, diameter = all_distances(ports_of(task.nodes, task.degree, links))
    bound = latency_bound(task)
    record["claims"] = {
        "diameter": diameter,
        "total_distance": total,
        "diameter_bound": bound.diameter,
        "total_distance_bound": bound.total,
    }
    if task.collective is not None:
        record["claims"]["steps_bound"] = steps_of_all_networks(task)
    return record


def task_record(task: DesignTask) -> dict[str, Any]:
    """Return the part of the record that all networks of a task have: no links and no claims."""
    record: dict[str, Any] = {
        "format": DESIGN_FORMAT, "nodes": task.nodes, "degree": task.degree,
    }  # fmt: skip
    if task.max_wire is not None and task.positions is not None:
        record["positions"] = [list(position) for position in task.positions]
        record["max_wire"] = task.max_wire
    if task.redundant_links:
        record["redundant_links"] = True
    if task.fault_tolerant:
        record["fault_tolerant"] = True
    if task.collective is not None:
        record["collective"], record["model"] = task.collective, task.model.to_json()
    return record
