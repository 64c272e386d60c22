"""Features of instances: every row has a value for each, that of its instance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.bench.contestant import Contestant
from cchybrid_plugins.bench.features import facts_of, features
from cchybrid_plugins.bench.row import Row

import cchybrid
from cchybrid.library.instance_spec import InstanceSpec, resolve
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.local_runs import made

NAMES = (
    "root", "transmitters", "receivers", "switching", "routing", "ports", "fail_links",
    "fail_nodes", "participants", "chunks", "rounds", "nodes", "channels",
)  # fmt: skip


def found(folder: Path = Path(), **values: str) -> dict[str, Any]:
    row = Row.from_text(values, folder)
    return features(row, facts_of(resolve(row.spec, load_registry())))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"collective": "AAS"},
         "none 0-7 0-7 wormhole minimal all none none 0-7 1 1 8 24"),
        ({"collective": "OAB"},
         "0 0 1-7 wormhole minimal all none none 0-7 1 1 8 24"),
        ({"collective": "OAB", "root": "3", "routing": "any", "ports": "2,1"},
         "3 3 0-2,4-7 wormhole any 2,1 none none 0-7 1 1 8 24"),
        ({"collective": "AOR", "switching": "store-and-forward", "ports": "1,1"},
         "0 1-7 0 store-and-forward none 1 none none 0-7 1 1 8 24"),
        ({"collective": "MNB", "transmitters": "1,2", "receivers": "5", "routing": "2"},
         "5 1-2 5 wormhole 2 all none none 1-2,5 1 1 8 24"),
        ({"collective": "AAS", "fail_links": "0-1", "fail_nodes": "7", "chunks": "2",
          "rounds": "1,2,2"},
         "none 0-6 0-6 wormhole minimal all 0-1 7 0-6 2 1,2 8 16"),
        ({"collective": "allreduce", "participants": "0-3"},
         "none 0-3 0-3 wormhole minimal all none none 0-3 1 1 8 24"),
    ],
)  # fmt: skip
def test_defaults_are_those_of_the_instance(values: dict[str, str], expected: str) -> None:
    columns = found(topology="hypercube-8", **values)
    assert [str(columns[name]) for name in NAMES] == expected.split()
    assert (columns["topology"], columns["collective"]) == ("hypercube-8", values["collective"])


@pytest.mark.parametrize("collective", ["scan", "allreduce"])
def test_rows_of_sums_take_all_engines_or_the_greedy_schedule(collective: str) -> None:
    row, registry = Row(InstanceSpec("ring-bi-4", collective)), load_registry()
    for each in (Contestant(), Contestant(())):
        registry.benchmark("schedules").check_settings(row, each.to_solve(), registry)


def test_the_cost_of_rows_of_sums_is_measured() -> None:
    row = Row(InstanceSpec("ring-bi-4", "scan"), measure=True)
    result = made("schedules", row, Contestant((), time_limit=4.0, first_schedule=True)).result
    assert (result["engine"], result["cost"]["build_seconds"]) == ("host greedy", None)
    assert result["cost"]["verify_seconds"] > 0


def test_a_file_says_what_its_row_does_not(tmp_path: Path) -> None:
    instance = cchybrid.instance("mesh-2x3", "OAS", root=4, switching="store-and-forward", ports=1)
    instance.save(tmp_path / "net.json")
    columns = found(tmp_path, topology="net.json")
    assert [columns[name] for name in ("topology", "collective", "root", "switching", "ports")] == [
        "net.json", "OAS", 4, "store-and-forward", "1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("links", "expected"),
    [("1 2\n2 3\n3 4\n", "1 2,3,4 1,2,3,4"), ("a b\nb c\nc d\n", "b a,c,d a,b,c,d")],
)
def test_nodes_are_called_by_their_names(tmp_path: Path, links: str, expected: str) -> None:
    (tmp_path / "net.edges").write_text(links)
    columns = found(tmp_path, topology="net.edges", collective="OAB", root="1")
    assert [columns[name] for name in ("root", "receivers", "participants")] == expected.split()


def test_an_instance_that_cannot_be_looked_up_is_unknown() -> None:
    row = Row.from_text({"topology": "lost.json"}, Path())
    columns = features(row, {})
    assert (columns["topology"], columns["switching"], columns["nodes"]) == (
        "lost.json", "unknown", None,
    )  # fmt: skip
