"""The checker of designed networks and the finders agree on figures and bounds."""

import pytest
from cchybrid_plugins.design.network.bounds import latency_bound
from cchybrid_plugins.design.network.ports import Ports, links_of
from cchybrid_plugins.design.network.record import design_record
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
    task = DesignTask(*ports.shape, redundant_links=True)
    bound = latency_bound(task)
    figures = check_design(design_record(task, links_of(ports)))
    assert (figures.mean_bound, figures.diameter_bound) == (mean_of(bound), bound.diameter)


@given(st.integers(2, 6), st.integers(2, 6), st.integers(2, 8), st.integers(1, 4))
@settings(max_examples=examples(60))
def test_checker_and_finder_prove_the_same_bound_of_wires(
    width: int, height: int, degree: int, wire: int
) -> None:
    nodes = width * height
    positions = layout(f"grid-{width}x{height}", nodes)
    task = DesignTask(nodes, degree, positions=positions, max_wire=wire, redundant_links=True)
    links = [(k, k + 1) for k in range(nodes) if (k + 1) % width]
    upwards = [(k, k + width) for k in range(nodes - width)]
    if max(sum(k in link for link in links + upwards) for k in range(nodes)) > degree:
        # A snake.
        upwards = [up for up in upwards if up[0] % width == (width - 1) * (1 - up[0] // width % 2)]
    figures = check_design(design_record(task, tuple(links + upwards)))
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


@given(collective_tasks())
@settings(max_examples=examples(300))
def test_checker_and_finder_prove_the_same_steps(task: DesignTask) -> None:
    record = design_record(task, tuple((node, node + 1) for node in range(task.nodes - 1)))
    check_design(record)
    steps = record["claims"]["steps_bound"]
    record["claims"]["steps_bound"] += 1
    with pytest.raises(EvidenceError, match=f"steps bound is {steps}, not {steps + 1}"):
        check_design(record)
