"""Canonical forms tell isomorphic networks from others."""

import numpy as np
from cchybrid_plugins.design.network.canonical import canonical_form
from cchybrid_plugins.design.network.ports import Ports, links_of, ports_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.plugins.design.network.plain_distances import random_ports, ring


@given(random_ports(20), st.randoms(use_true_random=False))
@settings(max_examples=examples(60))
def test_renamed_networks_have_the_same_form(ports: Ports, random: object) -> None:
    nodes, degree = ports.shape
    image = list(range(nodes))
    random.shuffle(image)  # type: ignore[attr-defined]
    renamed = [(image[a], image[b]) for a, b in links_of(ports)]
    assert canonical_form(ports_of(nodes, degree, renamed)) == canonical_form(ports)
    assert canonical_form(np.flip(ports, axis=1)) == canonical_form(ports)


def test_other_networks_have_another_form() -> None:
    triangles = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    forms = [
        canonical_form(ports_of(6, 4, links))
        for links in (
            ring(6),
            triangles,
            [*ring(6), (0, 1)],
            [*ring(6), (0, 1), (0, 1)],
            [*ring(6), (0, 1), (1, 2)],
            [*ring(6), (0, 1), (3, 4)],
        )
    ]
    assert len(set(forms)) == len(forms)


def test_marked_nodes_differ_from_others() -> None:
    ports = ports_of(6, 2, ring(6))
    marks = [
        canonical_form(ports, [node in marked for node in range(6)])
        for marked in ((), (0, 1), (2, 3), (0, 2), (0, 3), range(6))
    ]
    assert marks[1] == marks[2]
    assert len(set(marks)) == 5
    assert marks[0] == canonical_form(ports)
