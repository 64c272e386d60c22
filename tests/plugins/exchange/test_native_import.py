"""Our own schedule files, judged for a collective that the user names."""

import json
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.exchange.audit import audit_file
from cchybrid_plugins.exchange.commands import judged_on
from cchybrid_plugins.exchange.export_text import export_csv
from cchybrid_plugins.exchange.foreign_files import import_file

import cchybrid
from cchybrid.model import Schedule, Transfer
from cchybrid.plugin.registry import Registry, load_registry
from tests.plugins.exchange.schedules import schedule
from tests.refusals import refused


def sentence(text: str, path: Path, collective: str) -> str:
    path.write_text(text)
    registry = load_registry()
    return audit_file(path, registry, *judged_on("ring-bi-4", collective, registry)).sentence


def test_messages_are_matched_by_their_ends_not_by_their_numbers(tmp_path):
    found = schedule("ring-bi-4", "AAG")
    text = json.dumps(found.to_json())
    assert sentence(text, tmp_path / "aag", "AAS").startswith("valid, ")
    # Rows of hops do not say where a message ends; the column of members does.
    text = export_csv(found)
    for collective in ("AAG", "AAS"):
        assert sentence(text, tmp_path / "aag", collective).startswith("valid, ")


def test_equal_messages_are_the_chunks_of_the_named_collective(tmp_path):
    found = schedule("ring-bi-4", "AAB", chunks=2)
    for text in (json.dumps(found.to_json()), export_csv(found)):
        assert sentence(text, tmp_path / "aab", "AAB").startswith("valid, ")


def test_other_messages_and_too_many_are_not_judged(tmp_path):
    def of(**options: Any) -> str:
        return json.dumps(schedule("ring-bi-4", **options).to_json())

    text = sentence(of(collective="AAB"), tmp_path / "s", "AAS")
    assert text.startswith("not judged: --collective: the message from 0 to 1, 2, 3 is none of AAS")
    pairs = ((0, 1), (0, 1), (1, 2))
    text = sentence(of(collective=pairs), tmp_path / "s", "AAS")
    assert text.startswith(
        "not judged: --collective: the message from 0 to 1 is listed 2 times, in AAS 1"
    )


@pytest.mark.parametrize("collective", [None, "pairs:1>2,2>3"])
def test_nodes_of_a_topology_are_found_by_their_names(tmp_path, collective):
    (tmp_path / "line.edges").write_text("1 2\n2 3\n")
    (tmp_path / "other.edges").write_text("3 1\n1 2\n")
    registry = load_registry()
    line, other = str(tmp_path / "line.edges"), str(tmp_path / "other.edges")
    instance = cchybrid.instance(line, "pairs:1>2,2>3", switching="store-and-forward")
    step = (Transfer(0, (0, 1)), Transfer(1, (1, 2)))
    Schedule(instance, (step,)).save(tmp_path / "s.json")

    def judged(topology: str) -> str:
        on = judged_on(topology, collective, registry)
        return audit_file(tmp_path / "s.json", registry, *on).sentence

    assert judged(line).startswith("valid, 1 step,")
    assert judged(other) == (
        "invalid because step 1, transfer 2: the path of message 1 takes channel 2->3, which the "
        "network does not have (no-such-channel)"
    )


def test_nodes_by_number_are_no_nodes_of_other_numbers(tmp_path):
    (tmp_path / "line.edges").write_text("2 3\n3 4\n4 1\n")
    text = json.dumps(schedule("mesh-1x4", "broadcast").to_json())
    registry = load_registry()
    with refused("no node '0' in line"):
        import_text(text, tmp_path, registry, str(tmp_path / "line.edges"))
    names = [f"R{number}" for number in range(4)]
    other = json.loads(text)
    other["instance"]["network"]["node_names"] = names
    with refused("no node 'R0' in mesh-1x4"):
        import_text(json.dumps(other), tmp_path, registry, "mesh-1x4")


@pytest.mark.parametrize("more", [{"routing": [[0, 1, 1], [0, 1, 2], [1, 1, 2]]}, {"ports": "1"}])
def test_what_is_given_by_node_is_not_moved_to_other_names(tmp_path, more):
    (tmp_path / "there.edges").write_text("a b\nb c\n")
    (tmp_path / "here.edges").write_text("b a\nb c\n")
    instance = cchybrid.instance(str(tmp_path / "there.edges"), "pairs:a>c", **more)
    if "ports" in more:
        instance = instance.with_model(inject=(1, 1, 1))
    text = json.dumps(Schedule(instance, ((Transfer(0, (0, 1, 2)),),)).to_json())
    with refused("ports of each node or a routing table, and the nodes have other names there"):
        import_text(text, tmp_path, load_registry(), str(tmp_path / "here.edges"))


def import_text(text: str, folder: Path, registry: Registry, topology: str) -> None:
    (folder / "s.json").write_text(text)
    import_file(folder / "s.json", registry, network=judged_on(topology, None, registry)[0])


def test_a_missing_message_is_still_invalid(tmp_path):
    text = json.dumps(schedule("ring-bi-4", ((0, 1),)).to_json())
    assert sentence(text, tmp_path / "s", "AAS").startswith("invalid because message 1 never")
