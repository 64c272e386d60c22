"""Routing tables: paths, what they refuse, JSON, names and formats."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

import cchybrid
from cchybrid.model import CommunicationModel, Instance, Network, RoutingTable
from tests.refusals import refused

STAR = Network.from_links("star", 4, [(0, 1), (0, 2), (0, 3)], endpoints=(1, 2, 3))
ROWS = ((0, 1, 2, 3), (0, 1, 0, 0), (0, 0, 2, 0), (0, 0, 0, 3))
"""The routing table of the star."""


def on_star(rows: Any, backwards: bool = False) -> Instance:
    model = CommunicationModel(routing=RoutingTable(rows, backwards=backwards))
    return Instance(STAR, cchybrid.instance(STAR, "AAS").collective, model)


def edited(node: int, goal: int, after: int) -> tuple[tuple[int, ...], ...]:
    rows = [list(row) for row in ROWS]
    rows[node][goal] = after
    return tuple(map(tuple, rows))


def test_the_path_follows_the_rows() -> None:
    table = RoutingTable(ROWS)
    assert table.path(1, 3) == (1, 0, 3)
    assert table.path(0, 2) == (0, 2)
    assert RoutingTable(edited(0, 2, 0)).path(0, 2) == ()


@pytest.mark.parametrize("words", ["xy", "yx"])
def test_a_table_of_the_reversed_network_has_the_paths_backwards(words: str) -> None:
    model = cchybrid.instance("mesh-3x4", "AAR", routing=words).forward.model
    table = cchybrid.instance("mesh-3x4", "AAS", routing=words).model.table
    assert model.table is not None
    assert table is not None
    assert model.table.backwards
    for a in range(12):
        for b in range(12):
            assert model.table.path(a, b) == table.path(b, a)[::-1]
    assert model.reversed().table == table


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (edited(1, 2, 1), ""),  # no path
        (ROWS[:3], "model.routing: no 4 rows of 4 nodes, one for each node of star; give every"),
        ((*ROWS[:3], (0, 0, 0)), "model.routing: no 4 rows of 4 nodes"),
        (edited(1, 2, 4), "model.routing: no 4 rows of 4 nodes"),
        (edited(1, 2, -1), "model.routing: no 4 rows of 4 nodes"),
        ("table", "model.routing: no 4 rows of 4 nodes"),
        ([[0, 1, 2, "R3"]], "'R3' is no whole number"),
        (edited(1, 2, 3), "model.routing: no path between 1 and 2 over 3; take channels"),
        (edited(0, 2, 3), "model.routing: no path between 0 and 2 over 3"),  # over an endpoint
        (edited(0, 2, 0), "model.routing: no path between 1 and 2 over 0"),  # does not arrive
        (edited(2, 2, 0), "model.routing: no path between 2 and 2 over 0"),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_table_is_a_path_of_the_network_for_each_pair(
    rows: Any, message: str, backwards: bool
) -> None:
    with refused(message) if message else nullcontext():
        on_star(rows, backwards)


def test_a_circle_is_refused() -> None:
    ring = cchybrid.network("ring-bi-4")
    rows = [[(v + (v != g)) % 4 for g in range(4)] for v in range(4)]
    RoutingTable(tuple(map(tuple, rows))).check(ring)
    rows[1][3], rows[2][3] = 2, 1
    with refused("model.routing: no path between"):
        cchybrid.instance(ring, "AAS", routing=rows)


def test_a_table_is_for_wormhole_switching() -> None:
    for switch in (
        lambda: CommunicationModel("store-and-forward", routing=RoutingTable(ROWS)),
        lambda: replace(on_star(ROWS).model, switching="store-and-forward"),
        lambda: cchybrid.instance("mesh-2x2", "AAS", routing="xy", switching="store-and-forward"),
    ):
        with refused("model.routing: a routing table is for wormhole switching; leave it out"):
            switch()


def test_json_has_the_rows_and_the_name() -> None:
    found = cchybrid.instance("mesh-1x3", "AAR", routing="xy")
    record = found.to_json()
    rows = [[0, 1, 1], [0, 1, 2], [1, 1, 2]]
    assert record["format"] == "cchybrid-instance/2"
    assert record["model"]["routing"] == {"name": "xy", "next": rows}
    assert found.forward.to_json()["model"]["routing"] == {"name": "xy", "previous": rows}
    for each in (found, found.forward):
        assert Instance.from_json(each.to_json()) == each
    assert found.digest != cchybrid.instance("mesh-1x3", "AAR").digest


def test_older_formats_have_no_table() -> None:
    record = on_star(ROWS).to_json()
    with refused('cchybrid-instance/1 has no routing table; write "format": "cchybrid-instance/2"'):
        Instance.from_json({**record, "format": "cchybrid-instance/1"})


@pytest.mark.parametrize(
    ("routing", "message"),
    [
        ({}, "model.routing.next: the key is missing"),
        ({"next": [], "previous": []}, "model.routing.next: the format has no such key"),
        ({"next": 3}, "model.routing.next: 3 is not a list"),
        ({"next": [3]}, "'3' is no list of whole numbers"),
        ({"next": [], "hops": 1}, "model.routing.hops: the format has no such key; use name, next"),
        ({"next": [], "name": "a, b"}, "model.routing.name: the name is no word; use letters"),
        ({"next": [], "name": 1}, "model.routing.name: 1 is not a string"),
    ],
)
def test_malformed_objects(routing: Any, message: str) -> None:
    with refused(message):
        CommunicationModel.from_json({"routing": routing})


def test_names_tell_the_table() -> None:
    assert on_star(ROWS).name == "star AAS, routing table"
    for more, words in (({"routing": "yx"}, ""), ({"routing": "xy", "ports": 1}, ", 1 port")):
        found = cchybrid.instance("mesh-2x2", "AAS", **more)
        assert found.name == f"mesh-2x2 AAS{words}, routing table {more['routing']}"
