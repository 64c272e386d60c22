"""The checker of designed networks and the finders agree on figures and bounds."""

from typing import Any

import pytest
from cchybrid_plugins.design.network.bounds import latency_bound
from cchybrid_plugins.design.network.distances import all_distances
from cchybrid_plugins.design.network.ports import Ports, links_of
from cchybrid_plugins.design.network.steps import steps_of_all_networks
from cchybrid_plugins.design.network.task import DESIGN_COLLECTIVES, DesignTask, layout
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.checker import EvidenceError
from cchybrid.design_checker import check_design
from cchybrid.model import CommunicationModel
from tests.examples import examples
from tests.plugins.design.network.plain_distances import mean_of, random_ports


@given(random_ports(40))
@settings(max_examples=examples(60))
def test_checker_and_kernel_agree(ports: Ports) -> None:
    nodes, degree = ports.shape
    found = all_distances(ports)
    bound = latency_bound(DesignTask(nodes, degree))
    record = {
        "format": "cchybrid-design/1",
        "nodes": nodes,
        "degree": degree,
        "links": [list(link) for link in links_of(ports)],
        "redundant_links": True,
        "claims": {"diameter": found.diameter, "total_distance": found.total},
    }
    figures = check_design(record)
    assert (figures.mean_bound, figures.diameter_bound) == (mean_of(bound), bound.diameter)


@given(st.integers(2, 6), st.integers(2, 6), st.integers(2, 8), st.integers(1, 4))
@settings(max_examples=examples(60))
def test_checker_and_finder_prove_the_same_bound_of_wires(
    width: int, height: int, degree: int, wire: int
) -> None:
    nodes = width * height
    positions = layout(f"grid-{width}x{height}", nodes)
    task = DesignTask(nodes, degree, positions=positions, max_wire=wire, redundant_links=True)
    grid = [[k, k + 1] for k in range(nodes) if (k + 1) % width]
    grid += [[k, k + width] for k in range(nodes - width)]
    if max(sum(k in link for link in grid) for k in range(nodes)) > degree:
        grid = [[k, k + 1] for k in range(nodes) if (k + 1) % width]  # a snake
        grid += [
            [k, k + width] for k in range(nodes - width)
            if k % width == (0 if (k // width) % 2 else width - 1)
        ]  # fmt: skip
    figures = check_design(
        {
            "format": "cchybrid-design/1",
            "nodes": nodes,
            "degree": degree,
            "links": grid,
            "positions": [list(position) for position in positions],
            "max_wire": wire,
        }
    )
    bound = latency_bound(task)
    assert (figures.mean_bound, figures.diameter_bound) == (mean_of(bound), bound.diameter)
    assert figures.mean >= figures.mean_bound


@st.composite
def collective_tasks(draw: st.DrawFn) -> DesignTask:
    """Draw a task with a collective, of a size that admits a network."""
    nodes = draw(st.integers(2, 40))
    degree = draw(st.integers(1 if nodes == 2 else 2, 6))
    inject, accept = draw(st.sampled_from(((None, None), (1, 1), (2, 2), (1, 3), (3, 1), (9, 9))))
    switching = draw(st.sampled_from(("wormhole", "store-and-forward")))
    wire = draw(st.sampled_from((None, 1.0, 2.0, 3.5)))
    return DesignTask(
        nodes, degree, positions=None if wire is None else layout("backplane", nodes),
        max_wire=wire, redundant_links=True, collective=draw(st.sampled_from(DESIGN_COLLECTIVES)),
        model=CommunicationModel(switching, inject, accept),
    )  # fmt: skip


def steps_record(task: DesignTask, steps: int) -> dict[str, Any]:
    """Return the record of a path of the task's nodes, with a claim on the steps."""
    record: dict[str, Any] = {
        "format": "cchybrid-design/1",
        "nodes": task.nodes,
        "degree": task.degree,
        "links": [[node, node + 1] for node in range(task.nodes - 1)],
        "redundant_links": True,
        "collective": task.collective,
        "model": task.model.to_json(),
        "claims": {"steps_bound": steps},
    }
    if task.positions is not None:
        record["positions"] = [list(position) for position in task.positions]
        record["max_wire"] = task.max_wire
    return record


@given(collective_tasks())
@settings(max_examples=examples(300))
def test_checker_and_finder_prove_the_same_steps(task: DesignTask) -> None:
    steps = steps_of_all_networks(task)
    check_design(steps_record(task, steps))
    with pytest.raises(EvidenceError, match=f"steps bound is {steps}, not {steps + 1}"):
        check_design(steps_record(task, steps + 1))
