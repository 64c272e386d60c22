"""Groups are closed and repeatable; the kernels of group actions are normal."""

import numpy as np
import pytest

import cchybrid
from cchybrid.problem.symmetry import Group, automorphisms, choices, group_actions, groups
from cchybrid.problem.symmetry.groups import _order, _power, _powers
from tests.problem.symmetry.plain_automorphisms import is_automorphism

CASES = [("torus-4x4", "AAS"), ("heawood-14", "AAS"), ("mesh-4x4", "AAS"), ("b-tree-8", "AAB")]


def drawn(network: str, collective: str, max_order: int = 40, seed: int = 0) -> list[Group]:
    return groups(automorphisms(cchybrid.instance(network, collective)), seed, max_order)


@pytest.mark.parametrize("case", CASES)
def test_groups_are_closed_and_large_ones_come_first(case):
    instance = cchybrid.instance(*case)
    found = drawn(*case)
    assert found
    orders = [group.order for group in found]
    assert orders == sorted(orders, reverse=True)
    assert max(orders) <= 40
    for group in found:
        rows = {row.tobytes() for row in group.elements}
        assert len(rows) == group.order
        assert (group.elements[0] == np.arange(instance.network.nodes)).all()
        for row in group.generators:
            assert {row[other].tobytes() for other in group.elements} == rows
        assert all(is_automorphism(instance, row) for row in group.elements[:6].tolist())


def test_small_and_free_groups_are_among_them():
    found = drawn("torus-4x4", "AAS")
    assert {2, 4, 8, 16} <= {group.order for group in found if group.semiregular}
    assert any(not group.semiregular for group in found)


def test_powers_of_an_element_of_large_order():
    """Cycles of 2, 3, 5, 7, 11 and 13: of 30,030 powers only small groups are listed."""
    element = np.arange(41, dtype=np.int32)
    first = 0
    for length in (2, 3, 5, 7, 11, 13):
        element[first : first + length] = np.roll(np.arange(first, first + length), 1)
        first += length
    assert _order(element) == 30_030
    assert (_power(element, 30_030) == np.arange(41)).all()
    assert (_power(element, 5) == element[element[element[element[element]]]]).all()
    part = _powers(_power(element, 30_030 // 15), 15)
    assert len(np.unique(part, axis=0)) == 15


@pytest.mark.parametrize("case", CASES[:3])
def test_cosets_multiply_as_their_elements_do(case):
    random = np.random.default_rng(0)
    seen = set()
    for group in drawn(*case):
        place = {row.tobytes(): index for index, row in enumerate(group.elements)}
        for action in group_actions(group, 0):
            seen.add((group.order, action.steps_per_round))
            assert action.steps_per_round * len(action.kernel) == group.order
            assert sorted(set(action.coset.tolist())) == list(range(action.steps_per_round))
            assert (np.flatnonzero(action.coset == 0) == action.kernel).all()
            table: dict[tuple[int, int], int] = {}
            for _ in range(60):
                a, b = random.integers(group.order, size=2)
                product = place[group.elements[a][group.elements[b]].tobytes()]
                pair = int(action.coset[a]), int(action.coset[b])
                # The coset of a product depends on the cosets alone: the kernel is normal.
                assert table.setdefault(pair, action.coset[product]) == action.coset[product]
    assert any(steps_per_round > 1 for _, steps_per_round in seen)


def test_the_first_choices_can_meet_the_bound():
    instance = cchybrid.instance("torus-4x4", "AAS")
    listed = choices(instance, automorphisms(instance), 0)
    for lower in (7, 8, 9):
        ranked = sorted(listed, key=lambda choice: choice.sort_key(lower))
        reach = [-(-lower // c.action.steps_per_round) * c.action.steps_per_round for c in ranked]
        assert reach == sorted(reach)
        assert reach[0] == lower
        few = [c for c in ranked if c.number_in_kind < 2 and c.action.steps_per_round == 1]
        orders = [c.action.group.order for c in few]
        assert orders == sorted(orders, reverse=True)
    assert not choices(instance, automorphisms(instance), 0, lambda: True)
