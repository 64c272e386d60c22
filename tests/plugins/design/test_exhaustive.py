"""Exhaustive design lists every network once, so what it offers is proven best."""

import itertools
from pathlib import Path

import pytest
from cchybrid_plugins.design.exhaustive.engine import Exhaustive, ExhaustiveOptions
from cchybrid_plugins.design.network.all_networks import all_networks
from cchybrid_plugins.design.network.canonical import canonical_form
from cchybrid_plugins.design.network.distances import all_distances
from cchybrid_plugins.design.network.ports import Links, links_between_equals, ports_of
from cchybrid_plugins.design.network.task import DesignTask, layout

from cchybrid.library.formats import read_network
from cchybrid.library.topologies import network
from tests.plugins.design.network.all_labelled import labelled_networks
from tests.plugins.design.network.plain_distances import plain_total

pytestmark = pytest.mark.long


def listed(nodes: int, degree: int) -> list[Links]:
    return list(all_networks(DesignTask(nodes, degree)))


@pytest.mark.parametrize(
    ("nodes", "degree", "regular"),
    [
        (4, 3, 1), (6, 3, 2), (8, 3, 5), (10, 3, 19), (5, 4, 1), (6, 4, 1), (7, 4, 2), (8, 4, 6),
        (9, 4, 16), (9, 2, 1),
    ],
)  # fmt: skip
def test_the_numbers_of_regular_networks_are_known(nodes: int, degree: int, regular: int) -> None:
    """Connected cubic and quartic graphs: sequences A002851 and A006820 of the OEIS."""
    found = listed(nodes, degree)
    assert sum(2 * len(links) == nodes * degree for links in found) == regular
    assert len({canonical_form(ports_of(nodes, degree, links)) for links in found}) == len(found)


def test_the_network_more_is_the_one_beside_the_octagon_of_diameter_two() -> None:
    """As the comment in the file of the Czech summary's network says."""
    cubic = [ports_of(8, 3, links) for links in listed(8, 3) if len(links) == 12]
    forms = {canonical_form(ports) for ports in cubic if all_distances(ports)[1] == 2}
    more = read_network(Path(__file__).parents[3] / "instances" / "more-8.txt").network
    known = [links_between_equals(each) for each in (more, network("spidergon-8"))]
    assert len(cubic) == 5
    assert forms == {canonical_form(ports_of(8, 3, links)) for links in known}
    assert len(forms) == 2


@pytest.mark.parametrize(("nodes", "degree"), [(2, 1), (4, 2), (5, 2), (5, 3), (6, 3), (6, 4)])
def test_no_network_is_missing(nodes: int, degree: int) -> None:
    """The twin looks at all sets of links."""
    forms = set()
    for links in labelled_networks(nodes, degree):
        used = [sum(node in link for link in links) for node in range(nodes)]
        free = [node for node in range(nodes) if used[node] < degree]
        maximal = all(pair in links for pair in itertools.combinations(free, 2))
        if maximal and plain_total(nodes, links)[0] > 0:
            forms.add(canonical_form(ports_of(nodes, degree, links)))
    found = listed(nodes, degree)
    assert {canonical_form(ports_of(nodes, degree, links)) for links in found} == forms


def test_what_is_not_searched_is_refused() -> None:
    designer = Exhaustive(ExhaustiveOptions(nodes=10))
    for task, message in (
        (DesignTask(11, 3), "more than 10 nodes"),
        (DesignTask(8, 3, redundant_links=True), "redundant"),
        (DesignTask(8, 3, positions=layout("backplane", 8), max_wire=3), "wires"),
        (DesignTask(8, 3, weights=(("connectivity", 1.0),)), "empty ports"),
    ):
        reason = designer.unsupported(task)
        assert reason is not None
        assert message in reason
