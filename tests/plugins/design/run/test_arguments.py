"""Wrong arguments of ``cchybrid.design`` get one line with the place and a hint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cchybrid
from cchybrid.model.errors import InputError

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"nodes": "8"}, "nodes: '8' is no whole number"),
    ({"nodes": True}, "nodes: 'True' is no whole number"),
    ({"degree": None}, "degree: 'None' is no whole number"),
    ({"degree": 9}, "degree: degree 9 for 8 nodes; use at most 7"),
    ({"cost": 5}, "cost: 5 makes no sense; give a list of names of cost terms"),
    ({"cost": [1, 2]}, "cost: 1 is no name"),
    ({"cost": "latncy"}, "cost: no cost term is called 'latncy'; did you mean latency"),
    ({"cost": {"latency": "much"}}, "weight of latency: 'much' is no finite number"),
    ({"cost": {"latency": float("nan")}}, "weight of latency: nan is no finite number"),
    ({"layout": 3}, "layout: 3 is no name"),
    ({"layout": "backplane", "positions": [[0]] * 8}, "layout: a layout and positions"),
    ({"positions": 3}, "positions: 3 makes no sense; give coordinates for every node"),
    ({"positions": [0] * 8}, "positions: .* makes no sense"),
    ({"positions": ["ab"] * 8}, "positions: 'a' is no finite number"),
    ({"layout": "backplane", "max_wire": "3"}, "max_wire: '3' is no finite number"),
    ({"max_wire": 3}, "max_wire: a longest wire needs positions"),
    ({"collective": 7}, "collective: 7 is no name"),
    ({"switching": "wormhole"}, "switching: switching without a collective"),
    ({"collective": "AAS", "switching": "tdm"}, "not designed for time slots"),
    ({"collective": "AAS", "switching": "telepathy"}, "telepathy"),
    ({"collective": "AAS", "ports": "many"}, "ports: 'many' is no number of ports"),
    ({"collective": "AAS", "evaluations": 5}, "evaluations: a collective and a number of"),
    ({"collective": "AAS", "fault_tolerant": True}, "collective: a collective and fault"),
    ({"fault_tolerant": "no"}, "fault_tolerant: 'no' is no flag; use True or False"),
    ({"redundant_links": 0}, "redundant_links: 0 is no flag"),
    ({"initial": 4}, "initial: 4 is no network; give a Network, a file or a name"),
    ({"initial": "ring-bi-9"}, "initial: .* has 9 nodes, the task 8"),
    ({"initial": "complete-8"}, "node 0 has more than 3 links"),
    ({"initial": "nowhere.json"}, "nowhere.json"),
    (
        {"initial": replace(cchybrid.network("ring-bi-8"), switches=(7,))},
        "initial: ring-bi-8 has switches or endpoints, which no designed network has; name a",
    ),
    (
        {"initial": replace(cchybrid.network("ring-bi-8"), half_duplex=((0, 1),))},
        "initial: ring-bi-8 has half-duplex links, which no designed network has; name a",
    ),
    ({"designers": 3}, "designers: 3 makes no sense; give a list of names of designers"),
    ({"designers": "anneling"}, "did you mean annealing"),
    ({"options": [("gappin", 3)]}, "options: .* makes no sense; give values by option"),
    ({"designers": "gappin", "options": {"symmetric": {"samples": 3}}}, "does not take part"),
    ({"options": {"gappin": {"populaton": 3}}}, "did you mean population"),
    ({"designers": ["symmetric", "gappin"], "options": {"gappin": {"population": "x"}}}, "popul"),
    ({"target": "low"}, "target: 'low' is no finite number"),
    ({"time_limit": 0}, "time_limit: 0 makes no sense"),
    ({"evaluations": 2.5}, "evaluations: 2.5 makes no sense"),
    ({"threads": -1}, "threads: -1 makes no sense"),
    ({"seed": -1}, "seed: -1 is no seed"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=lambda value: str(value)[:60])
def test_wrong_arguments_are_refused(arguments: dict[str, Any], words: str) -> None:
    call = {"nodes": 8, "degree": 3, "time_limit": 5, **arguments}
    with pytest.raises(InputError, match=words) as caught:
        cchybrid.design(**call)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_numbers_of_numpy_are_numbers() -> None:
    result = cchybrid.design(
        np.int64(6), np.int32(2), cost={"latency": np.float64(2)}, seed=np.int64(3), time_limit=20
    )
    assert result.certified
    assert result.links == ((0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)) or result.cost == 3.0


NETWORK = '{"format": "cchybrid-network/1", "network": {"name": "x", "nodes": 8, "channels": [%s]}}'
BROKEN = {"no-json": "{", "missing-node": NETWORK % "[0, 9]", "one-way": NETWORK % "[0, 1]"}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_network_files_are_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"{kind}.json"
    path.write_text(BROKEN[kind])
    with pytest.raises(InputError) as caught:
        cchybrid.design(8, 3, initial=str(path), time_limit=5)
    assert caught.value.hint
    assert "\n" not in str(caught.value)


def test_a_network_whose_file_has_modes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pair.txt").write_text("2 1\n0 T 1\n1 R 0\n")
    with pytest.raises(InputError, match="initial: pair: the modes of the file"):
        cchybrid.design(2, 1, initial=str(tmp_path / "pair.txt"), time_limit=5)
