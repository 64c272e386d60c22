"""Rows that name files: their paths, the names of their nodes, and what they leave unused."""

from __future__ import annotations

import json

import pytest
from cchybrid_plugins.bench.features import features
from cchybrid_plugins.bench.runner import digests

from cchybrid.library.formats.network_json import network_record
from cchybrid.model import Instance, Network
from cchybrid.model.errors import InputError
from cchybrid.plugin.registry import load_registry
from tests.plugins.bench.kinds import needs
from tests.plugins.bench.local_runs import suite_of

ODD = """
from cchybrid.model import Network
from cchybrid.plugin import hookimpl
from cchybrid.plugin.records import TopologyInfo

def odd(nodes):
    return Network.from_links("odd", 3, [(0, 1), (1, 2)], node_names=("01", "1", "2"))

@hookimpl
def cchybrid_topologies():
    return [TopologyInfo("odd", "odd-N", r"odd-(\\d+)", odd, "path", "odd-3")]
"""
PAIRS = "source,destination\n0,4\n0,3\n0,5\n"


@pytest.mark.parametrize("table", ["rows", pytest.param("throughputs", marks=needs("throughputs"))])
@pytest.mark.parametrize("words", ["pairs:@p.csv", "Pairs : @p.csv"])
def test_pairs_are_read_from_the_file_beside_the_suite(tmp_path, monkeypatch, table, words):
    for name, text in (("there", PAIRS), ("here", "0,1\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.csv").write_text(text)
    toml = f'[[{table}]]\ntopology = "ring-bi-8"\ncollective = "{words}"\n'
    suite = suite_of(tmp_path / "there", toml)
    monkeypatch.chdir(tmp_path / "here")
    [row], registry = suite.rows, load_registry()
    assert row.name.startswith("ring-bi-8 pairs:@p.csv")
    kind = registry.benchmark(suite.kind)
    found = kind.resolved(row.name, row.spec, registry)
    assert [each.destinations for each in found.collective.messages] == [(4,), (3,), (5,)]
    if table == "rows":
        job = kind.job(row, registry)
        (tmp_path / "there" / "p.csv").unlink()  # as on another machine
        assert Instance.from_json(job["instance"]).digest == found.digest


def test_nodes_are_those_of_the_names_in_the_network(tmp_path):
    names = ("9", "0", "1", "0-1", "01")
    path = Network.from_links("dash", 5, [(0, 1), (1, 2), (2, 3), (3, 4)], node_names=names)
    (tmp_path / "dash.json").write_text(json.dumps(network_record(path)))
    head = '[[rows]]\ntopology = "dash.json"\n'
    toml = f'{head}collective = "MNB"\ntransmitters = "9"\nreceivers = "0-1"\n'
    toml += f'{head}collective = "OAB"\nroot = "01"\n'
    toml += f'{head}collective = "OAB"\nroot = 1\nfail_nodes = "0-1, 01"\n'
    toml += f'{head}collective = "MNB"\ntransmitters = "01"\nreceivers = "0,1"\n'
    suite, registry = suite_of(tmp_path, toml), load_registry()
    kind = registry.benchmark(suite.kind)
    assert [row.name.removeprefix("dash.json ") for row in suite.rows] == [
        "MNB from 9 to 0-1", "OAB root 01", "OAB root 1 without node 0-1, 01", "MNB from 01 to 0,1"
    ]  # fmt: skip
    assert features(suite.rows[2], {})["fail_nodes"] == "0-1, 01"
    one, two, three, _ = (kind.instance(row, registry) for row in suite.rows)
    assert [(each.source, each.destinations) for each in one.collective.messages] == [(0, (3,))]
    assert two.collective.messages[0].source == 4
    assert (three.collective.messages[0].source, three.collective.messages[0].destinations) == (
        2, (0, 1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("topology", "words", "shown"),
    [
        ("odd-3", "01,1", "01,1"), ("odd-3", "01, 1", "01, 1"), ("dgx-a100", "1,2", "1,2"),
        ("mesh-2x3", "01, 2", "1-2"), ("unknown-3", "01,2", "1-2"),
    ],
)  # fmt: skip
def test_names_of_rows_keep_the_words_where_nodes_have_names(
    tmp_path, monkeypatch, topology, words, shown
):
    (tmp_path / "odd.py").write_text(ODD)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("CCHYBRID_PLUGINS", "odd")
    toml = f'[[rows]]\ntopology = "{topology}"\ncollective = "AAB"\nfail_nodes = "{words}"\n'
    [row] = suite_of(tmp_path, toml).rows
    assert row.name == f"{topology} AAB without node {shown}"
    assert features(row, {})["fail_nodes"] == shown


def test_rounds_are_read_as_by_the_command(tmp_path):
    head = '[[rows]]\ntopology = "mesh-1x3"\ncollective = "OAS"\n'
    rows = suite_of(tmp_path, f'{head}rounds = "1, 2"\n{head}rounds = "1 2"\n').rows
    registry = load_registry()
    kind = registry.benchmark("schedules")
    assert kind.instance(rows[0], registry).model.rounds == (1, 2)
    with pytest.raises(InputError, match="'1 2' are no rounds per step"):
        kind.instance(rows[1], registry)


def test_what_a_file_has_and_a_row_does_not_use_is_said(tmp_path):
    graph = "graph [\n" + "".join(f'node [ id {n} label "n{n}" ]\n' for n in range(4))
    graph += "edge [ source 0 target 1 bandwidth 49 ]\nedge [ source 1 target 2 bandwidth 24.5 ]\n]"
    (tmp_path / "b.gml").write_text(graph)
    suite = suite_of(tmp_path, '[[rows]]\ntopology = "b.gml"\ncollective = "AAS"\n')
    noted: list[str] = []
    digests(suite, load_registry(), noted.append)
    assert [line.partition(": ")[0] for line in noted] == ["row b.gml AAS"] * len(noted)
    assert any("capacity 1 is bandwidth 24.5" in line for line in noted)
    assert any("n3 have no links and take no part" in line for line in noted)
