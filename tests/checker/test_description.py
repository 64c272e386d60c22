"""The lines of ``check`` and ``verify`` on an instance follow from its content, not its names."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cchybrid
from cchybrid.checker import fingerprint
from cchybrid.checker.__main__ import main
from cchybrid.checker.description import describe
from cchybrid.cli.app import run
from cchybrid.model import (
    Channel,
    Collective,
    Exscan,
    Instance,
    Message,
    Network,
    Scan,
    Schedule,
    Transfer,
)
from tests.fuzz.reader import read_corpus

LIE = "hypercube-64 AAS, one port, store-and-forward"


def described(topology: str, collective: str, **more: Any) -> list[str]:
    """Return the lines on an instance without hash and names."""
    lines = describe(cchybrid.instance(topology, collective, **more).to_json())
    return lines[:3]


def test_the_description_is_that_of_the_content():
    assert described("mesh-4x4", "multicast:3,5-6,9,12", root=1) == [
        "network: 16 nodes, counted from 0, "
        "48 channels of capacity 1, 0 half-duplex pairs; endpoints: none",
        "messages: 1 of kind deliver, chunks of each: 1; destinations: 5 (3,5-6,9,12), "
        "5 per message; source: 1 (1), 1 per message; 5 different pairs",
        "model: wormhole, minimal routing, ports: all to inject and all to accept; "
        "rounds of the steps: 1",
    ]
    assert described(
        "dgx-1", "AAR", chunks=3, rounds=[1, 2], switching="store-and-forward", ports="1,2"
    ) == [
        "network: 8 nodes, counted from 0, "
        "32 channels of capacity 1,2, 0 half-duplex pairs; endpoints: none",
        "messages: 8 of kind combine, chunks of each: 3; sources: 8 (0-7), 7 per message; "
        "destination: 8 (0-7), 1 per message; 56 different pairs",
        "model: store-and-forward, any routing, ports: 1 to inject and 2 to accept; "
        "rounds of the steps, last first: 1,2",
    ]
    assert described("dgx-2", "allreduce", routing=2) == [
        "network: 17 nodes, counted from 0, "
        "32 channels of capacity 1, 0 half-duplex pairs; endpoints: 16 (0-15)",
        "messages: 1 of kind allreduce, chunks of each: 1; members: 16 (0-15), 16 per message",
        "model: wormhole, at most 2 extra hops, ports: all to inject and all to accept; "
        "rounds of the steps: 1",
    ]


@pytest.mark.parametrize("kind", [Scan, Exscan])
def test_the_order_of_a_scan_is_named_where_it_is_not_that_of_the_numbers(kind):
    for orders, more in (
        ([(0, 1, 2, 3), (1, 2)], ""),
        ([(0, 1, 2, 3), (3, 1, 0)], ", in the order [3, 1, 0]"),
    ):
        net = cchybrid.instance("ring-bi-4", "scan").network
        instance = Instance(net, Collective("scans", tuple(map(kind, orders))))
        shown = describe(instance.to_json())[1]
        assert shown.partition(" per message")[2] == more


def test_what_a_file_leaves_out() -> None:
    record = {
        "format": "cchybrid-instance/1",
        "network": {"nodes": 10, "channels": [[0, 1, 3], [0, 2]]},
        "collective": {
            "kind": "deliver", "messages": [{"source": 0, "destinations": [5, 3, 4, 9]}]
        },
    }  # fmt: skip
    assert describe(record) == [
        "network: 10 nodes, counted from 0, "
        "2 channels of capacity 1,3, 0 half-duplex pairs; endpoints: none",
        "messages: 1 of kind deliver, chunks of each: 1; destinations: 4 (3-5,9), "
        "4 per message; source: 1 (0), 1 per message; 4 different pairs",
        "model: wormhole, minimal routing, ports: all to inject and all to accept; "
        "rounds of the steps: 1",
        f"SHA-256 of the instance: {fingerprint(record)}",
        "names in the file: ''; network '', collective ''",
    ]


def test_long_names_and_lists_are_cut() -> None:
    record = cchybrid.instance("ring-bi-4", "OAB").to_json()
    record["name"], record["network"]["name"] = "a" * 60, "b" * 61
    record["model"]["ports"] = [1, 0, 1, 2]
    *_, model, _, names = describe(record)
    assert names.startswith(f"names in the file: '{'a' * 60}'; network '{'b' * 60}...', coll")
    assert "ports: 1,0,1,2 to inject and 1,0,1,2 to accept" in model


def test_pairs_are_counted_once_and_sizes_are_named():
    half = Network("n", 3, (Channel(0, 1, 2), Channel(1, 0, 2)), half_duplex=((0, 1),))
    found = Instance(half, Collective("c", (Message(0, (1, 2)), Message(0, (1,)))))
    network, messages = describe(found.to_json())[:2]
    assert "2 channels of capacity 2, 1 half-duplex pairs" in network
    assert "destinations: 2 (1-2), 1,2 per message; source: 1 (0)" in messages
    assert messages.endswith("2 different pairs")


@pytest.mark.parametrize("part", ["network", "collective", None])
@pytest.mark.parametrize(
    "name",
    ["\x1b[2J\x1b[1m", "\u202eSAA 46-x", "5 steps\nvalid, 1 step", "\ud800", "A" * 10**6, {}],
)
def test_hostile_names_are_harmless(part, name):
    record = cchybrid.instance("ring-bi-4", "OAB").to_json()
    (record if part is None else record[part])["name"] = name
    lines = describe(record)
    assert len(lines) == 5
    assert all(line.isascii() and line.isprintable() and len(line) < 300 for line in lines)
    assert all(line.startswith("names in the file: ") == (line is lines[-1]) for line in lines)


def test_a_name_changes_only_the_line_of_names():
    record = cchybrid.instance("mesh-3x3", "OAB").to_json()
    other = {**record, "name": LIE}
    assert describe(record)[:-1] == describe(other)[:-1]
    assert describe(record)[3] == f"SHA-256 of the instance: {fingerprint(record)}"
    assert describe(other)[4].startswith(f"names in the file: '{LIE}'; network 'mesh-3x3'")


def test_check_and_verify_say_what_is_in_the_file(tmp_path, capsys):
    """A broadcast under the name of another instance is shown as the broadcast that it is."""
    record, certificate = read_corpus("certificate-0-linear")
    record["instance"]["name"] = certificate["instance"]["name"] = LIE
    schedule, proof = str(tmp_path / "s.json"), str(tmp_path / "s.certificate.json")
    for path, content in ((schedule, record), (proof, certificate)):
        (tmp_path / path).write_text(json.dumps(content))
    for command, words in (
        (run, ["check", schedule, proof]),
        (run, ["verify", schedule]),
        (main, [schedule, proof]),
    ):
        assert command(words) == 0
        out = capsys.readouterr().out
        first, *about = out.splitlines()
        assert "2 steps" in first
        assert LIE not in first
        lines = [line.strip() for line in about]
        assert lines[-5:] == describe(record["instance"])
        assert "network: 8 nodes, counted from 0, 24 channels" in out
        assert "1 of kind deliver" in out
    for words in (["check", schedule, proof, "--json"], ["verify", schedule, "--json"]):
        assert run(words) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["description"] == describe(record["instance"])


def test_the_hash_is_that_of_the_certificate_for_a_file_that_is_written_otherwise(tmp_path, capsys):
    """The checker's hash is of the file's own words: a capacity of 1 may be left out."""
    instance = cchybrid.instance("ring-bi-4", "OAB")
    steps = ((Transfer(0, (0, 1)), Transfer(0, (0, 3))), (Transfer(0, (1, 2)),))
    record = Schedule(instance, steps).to_json()
    del record["instance"]["model"]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(record))
    assert Schedule.load(path).instance == instance
    assert run(["prove", str(path)]) == 0
    certificate = json.loads((tmp_path / "s.certificate.json").read_text())
    capsys.readouterr()
    assert run(["check", str(path), str(tmp_path / "s.certificate.json")]) == 0
    assert certificate["instance"]["sha256"] in capsys.readouterr().out


def test_groups_of_channels_are_described():
    record = cchybrid.instance("ring-bi-4", "AAB").to_json()
    record["network"]["groups"] = [[[0, 1], [0, 3]]]
    assert (
        "0 half-duplex pairs, 1 groups that share a capacity: [[0, 1], [0, 3]]; endp"
        in describe(record)[0]
    )
