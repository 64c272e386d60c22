"""Bytes become ticks: what is rounded or assumed is stated."""

import json
import warnings

import pytest

import cchybrid
from cchybrid.library.rates import read_bytes

PAIR = {
    "format": "cchybrid-network/2",
    "network": {"name": "mesh-1x2", "nodes": 2, "channels": [[0, 1], [1, 0]]},
    "bandwidth": [25, 12.5],
    "latency": [1, 2],
}


@pytest.fixture
def pair(tmp_path):
    path = tmp_path / "pair.json"
    path.write_text(json.dumps(PAIR))
    return path


def timed(*words, **more) -> tuple[cchybrid.Instance, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cchybrid.instance(*words, **more)
    return found, str(caught[0].message)


@pytest.mark.parametrize(("tick", "rounded"), [(None, ""), ("1", ""), ("0.5", ""), ("3", "in")])
def test_rounded_times_are_in_the_verdict_and_by_how_much_in_a_line(pair, tick, rounded):
    instance, line = timed(pair, "AAS", size="100KB", tick=tick)
    assert instance.name == ("mesh-1x2 in rounded times AAS" if rounded else "mesh-1x2 AAS")
    assert ("are rounded up: sending by up to 50 %, latencies by up to 2 us" in line) == (
        tick == "3"
    )
    assert cchybrid.bound(instance).sentence.startswith(instance.name + ": ")


def test_a_line_says_what_the_size_is_of_and_which_switching_is_assumed(pair):
    _, line = timed(pair, "AAS", size="100KB")
    assert line.startswith("mesh-1x2: each message has 100,000 bytes; a tick is 1 us")
    assert line.endswith("; no --switching is named: wormhole")
    assert "wormhole" not in timed(pair, "AAS", size="100KB", switching="wormhole")[1]


def test_networks_in_rounded_times_keep_the_routing_of_their_family(pair):
    instance, _ = timed(pair, "AAS", size="100KB", tick="3", routing="xy")
    assert str(instance.model.routing) == "routing table xy"


def test_units_of_sizes_up_to_terabytes():
    assert [read_bytes(text) for text in ("1T", "1TiB", "1.5tb")] == [1 << 40, 1 << 40, 15 * 10**11]


def test_latencies_without_a_size_are_remarked_on_in_words_for_python_and_shells(pair):
    _, line = timed(pair, "AAS")
    assert line == "mesh-1x2: latencies count only with a size: solve --size, or size="
