"""The moves of annealing: mates and ports agree, moves are undone, rotations are automorphisms."""

import dataclasses

import numpy as np
import pytest
from cchybrid_plugins.design.annealing.engine import Annealing, AnnealingOptions, _Search
from cchybrid_plugins.design.annealing.kernels import undo
from cchybrid_plugins.design.annealing.rotations import rotated_order
from cchybrid_plugins.design.network.cost import Cost
from cchybrid_plugins.design.network.ports import check_links, links_of
from cchybrid_plugins.design.network.task import DesignTask, layout
from hypothesis import given, settings
from hypothesis import strategies as st

from cchybrid.toolkit.kernels.rng import seed_state
from tests.examples import examples

TASKS = [
    DesignTask(12, 3),
    DesignTask(12, 5),
    DesignTask(15, 3),
    DesignTask(12, 4, redundant_links=True),
    DesignTask(16, 3, positions=layout("grid-4x4", 16), max_wire=2),
]


def check_state(search: _Search) -> None:
    """Assert that mates, ports and links of a search are one network with the rotation."""
    mate, degree = search.mate, search.task.degree
    base = search.task.nodes // search.rotations
    for half, (other, shift) in enumerate(mate.tolist()):
        back, opposite = mate[other].tolist()
        assert back == half
        assert (shift + opposite) % search.rotations == 0
        for rotation in range(search.rotations):
            node = half // degree + rotation * base
            expected = other // degree + (rotation + shift) % search.rotations * base
            assert search.ports[node, half % degree] == expected
    links = links_of(search._external(search.ports))
    check_links(search.task, links)
    degrees = np.bincount(np.array(links).ravel(), minlength=search.task.nodes)
    assert degrees.sum() == 2 * len(links)
    image = np.empty(search.task.nodes, dtype=np.int64)
    image[search.order] = np.roll(search.order, -base)
    rotated = {tuple(sorted((int(image[a]), int(image[b])))) for a, b in links}
    assert rotated == set(links)


@given(st.sampled_from(TASKS), st.sampled_from([1, 2, 3, 4, 6]), st.integers(0, 1000))
@settings(max_examples=examples(80))
def test_moves_keep_a_valid_network_with_its_rotation(
    task: DesignTask, rotations: int, seed: int
) -> None:
    if rotated_order(task, rotations) is None:
        return
    search = _Search(task, rotations, seed_state(seed), Cost(task))
    check_state(search)
    for _ in range(60):
        before = search.mate.copy(), search.ports.copy()
        count = search._move()
        assert 0 <= count <= 4
        check_state(search)
        changed = (search.mate != before[0]).any()
        assert changed == (count > 0)
        if count and seed % 2:
            undo(search.mate, search.saved, count, search.rotations, search.ports)
            assert (search.mate == before[0]).all()
            assert (search.ports == before[1]).all()


@pytest.mark.parametrize("task", TASKS, ids=range(len(TASKS)))
def test_costs_of_the_kernel_are_those_of_the_definition(task: DesignTask) -> None:
    for rotations in (1, 2, 3):
        if rotated_order(task, rotations) is not None:
            search = _Search(task, rotations, seed_state(3), Cost(task))
            unit = search.temperature()
            assert search.advance_latency(unit, unit / 10, 300) > 0
            assert search.costs[0] == pytest.approx(search.evaluate())
            assert search.costs[1] == pytest.approx(Cost(task)(search._external(search.best)))


def test_rotations_of_layouts() -> None:
    square = DesignTask(16, 3, positions=layout("grid-4x4", 16), max_wire=2)
    assert [g for g in range(1, 17) if rotated_order(square, g) is not None] == [1, 2, 4]
    oblong = DesignTask(24, 3, positions=layout("grid-6x4", 24), max_wire=2)
    assert [g for g in range(1, 25) if rotated_order(oblong, g) is not None] == [1, 2]
    odd = DesignTask(25, 4, positions=layout("grid-5x5", 25), max_wire=2)
    assert rotated_order(odd, 4) is None
    assert Annealing(AnnealingOptions(rotations=4)).unsupported(odd) is not None
    assert Annealing(AnnealingOptions(rotations=4)).unsupported(square) is None
    free = dataclasses.replace(square, max_wire=None)
    assert [g for g in range(1, 17) if rotated_order(free, g) is not None] == [1, 2, 4, 8, 16]
