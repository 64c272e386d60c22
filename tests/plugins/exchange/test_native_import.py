"""Our own schedule files, judged for a collective that the user names."""

import json
from pathlib import Path
from typing import Any

import pytest
from cchybrid_plugins.exchange.audit import audit_file
from cchybrid_plugins.exchange.commands import judged_on
from cchybrid_plugins.exchange.export_text import export_csv

import cchybrid
from cchybrid.model import Schedule
from cchybrid.plugin.registry import load_registry
from tests.plugins.exchange.schedules import schedule


@pytest.fixture
def judged(tmp_path: Path) -> Any:
    """Return a function that audits a text, on a topology and a collective."""

    def sentence(text: str, collective: str | None, topology: str = "ring-bi-4") -> str:
        (tmp_path / "theirs").write_text(text)
        on = judged_on(topology, collective, load_registry())
        return audit_file(tmp_path / "theirs", load_registry(), *on).sentence

    return sentence


def text_of(collective: Any, network: str = "ring-bi-4", **options: Any) -> str:
    return json.dumps(schedule(network, collective, **options).to_json())


def test_messages_are_matched_by_their_ends_not_by_their_numbers(judged):
    assert judged(text_of("AAG"), "AAS").startswith("valid, ")
    # Rows of hops do not say where a message ends; the column of members does.
    for collective in ("AAG", "AAS"):
        text = export_csv(schedule("ring-bi-4", "AAG"))
        assert judged(text, collective).startswith("valid, ")


def test_equal_messages_are_the_chunks_of_the_named_collective(judged):
    for text in (text_of("AAB", chunks=2), export_csv(schedule("ring-bi-4", "AAB", chunks=2))):
        assert judged(text, "AAB").startswith("valid, ")


def test_other_messages_and_too_many_are_not_judged(judged):
    why = "not judged: --collective: the message from 0 to 1"
    assert judged(text_of("AAB"), "AAS").startswith(f"{why}, 2, 3 is none of AAS")
    pairs = text_of(((0, 1), (0, 1), (1, 2)))
    assert judged(pairs, "AAS").startswith(f"{why} is listed 2 times, in AAS 1")


@pytest.mark.parametrize("collective", [None, "pairs:1>2,2>3"])
def test_nodes_of_a_topology_are_found_by_their_names(tmp_path, judged, collective):
    line, other = str(tmp_path / "line.edges"), str(tmp_path / "other.edges")
    Path(line).write_text("1 2\n2 3\n")
    Path(other).write_text("3 1\n1 2\n")
    instance = cchybrid.instance(line, "pairs:1>2,2>3", switching="store-and-forward")
    text = json.dumps(Schedule(instance, [[(0, (0, 1)), (1, (1, 2))]]).to_json())
    assert judged(text, collective, line).startswith("valid, 1 step,")
    assert judged(text, collective, other) == (
        "invalid because step 1, transfer 2: the path of message 1 takes channel 2->3, which the "
        "network does not have (no-such-channel)"
    )


def test_nodes_by_number_are_no_nodes_of_other_numbers(tmp_path, judged):
    (tmp_path / "line.edges").write_text("2 3\n3 4\n4 1\n")
    text = text_of("broadcast", "mesh-1x4")
    assert "no node '0' in line" in judged(text, None, str(tmp_path / "line.edges"))
    other = json.loads(text)
    other["instance"]["network"]["node_names"] = [f"R{number}" for number in range(4)]
    assert "no node 'R0' in mesh-1x4" in judged(json.dumps(other), None, "mesh-1x4")


@pytest.mark.parametrize("more", [{"routing": [[0, 1, 1], [0, 1, 2], [1, 1, 2]]}, {"ports": "1"}])
def test_what_is_given_by_node_is_not_moved_to_other_names(tmp_path, judged, more):
    there, here = str(tmp_path / "there.edges"), str(tmp_path / "here.edges")
    Path(there).write_text("a b\nb c\n")
    Path(here).write_text("b a\nb c\n")
    instance = cchybrid.instance(there, "pairs:a>c", **more)
    if "ports" in more:
        instance = instance.with_model(inject=(1, 1, 1))
    text = json.dumps(Schedule(instance, [[(0, (0, 1, 2))]]).to_json())
    words = "ports of each node or a routing table, and the nodes have other names there"
    assert words in judged(text, None, here)


def test_a_missing_message_is_still_invalid(judged):
    assert judged(text_of(((0, 1),)), "AAS").startswith("invalid because message 1 never")
