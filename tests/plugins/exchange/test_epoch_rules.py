"""Rules of epochs: verdicts against a plain simulation, on files with one thing changed."""

import json
import random
from fractions import Fraction
from typing import Any

import pytest
from cchybrid_plugins.exchange.epoch_networks import KNOWN, EpochNetwork, ndv2
from cchybrid_plugins.exchange.teccl_import import read_teccl

from cchybrid.plugin.imported import ImportRequest
from tests.examples import examples
from tests.plugins.exchange.plain_epochs import (
    allgather_of,
    halved_alltoall,
    is_valid,
    is_valid_in_parts,
)

CLUSTERS = [
    pytest.param(
        each, pick, id=f"{each.name} {pick.__name__}",
        # In every run: the smaller NDv2 and DGX-2, each with one length of an epoch.
        marks=[] if (number, pick) in ((0, max), (2, min)) else [pytest.mark.long],
    )
    for number, each in enumerate(KNOWN)
    for pick in (min, max)
]  # fmt: skip
"""Every cluster, with epochs of a chunk on the slowest and on the fastest link."""


def allgather(network: EpochNetwork, pick: Any, spare: int = 0) -> tuple[dict[str, Any], Any]:
    """Return a valid result, and the arguments of the plain simulation."""
    duration = float(1 / Fraction(pick(network.links.values())))
    record = json.loads(allgather_of(network, duration, 1.0, spare))
    return record, (network.links, sorted(network.gpus), sorted(network.switches))


@pytest.mark.parametrize(("network", "pick"), CLUSTERS)
def test_valid_results_are_not_below_their_bound(network, pick):
    record, plain = allgather(network, pick)
    assert is_valid(json.dumps(record), *plain)
    found = read_teccl(json.dumps(record), ImportRequest("x"))
    assert found.broken == ()
    assert 0 < found.own.lower <= found.own.value == record["3-Epochs_Required"]
    # A greedy search meets the bounds of NDv2, so they cannot be higher.
    if network.name.startswith("NDv2"):
        assert found.own.lower == found.own.value


def changed(record: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    """Return the record with one thing changed, on links that exist."""
    flows, paths = list(record["7-Flows"]), dict(record["8-Chunk paths"])
    index = draw.randrange(len(flows))
    head, _, tail = flows[index].partition(" in epoch ")
    number, _, via = tail.partition(" ")
    match draw.randrange(7):
        case 0:
            epoch = max(0, int(number) + draw.choice((-3, -1, 1, 2, 20)))
            flows[index] = f"{head} in epoch {epoch} {via}".rstrip()
        case 1:
            del flows[index]
        case 2:
            source = draw.choice(flows).split()[3]
            flows[index] = f"Chunk 0 from {source} {flows[index].split(' ', 4)[4]}"
        case 3:
            key = draw.choice(("1-Epoch_Duration", "4-Collective_Finish_Time", "5-Algo_Bandwidth"))
            return {**record, key: record[key] * draw.choice((0.5, 0.9, 1.1, 2))}
        case 4:
            epochs = record["3-Epochs_Required"] + draw.choice((-1, 1))
            finish = epochs * record["1-Epoch_Duration"]
            size = record["4-Collective_Finish_Time"] * record["5-Algo_Bandwidth"]
            return {**record, "3-Epochs_Required": epochs, "4-Collective_Finish_Time": finish,
                    "5-Algo_Bandwidth": size / finish}  # fmt: skip
        case 5:
            del paths[draw.choice(list(paths))]
        case 6:
            key = draw.choice(list(paths))
            epoch = draw.randrange(record["3-Epochs_Required"])
            paths[f"{key.rsplit(' ', 1)[0]} {epoch}"] = paths.pop(key)
    return {**record, "7-Flows": flows, "8-Chunk paths": paths}


@pytest.mark.parametrize(("network", "pick"), CLUSTERS)
def test_changed_results_have_the_verdict_of_a_plain_simulation(network, pick):
    record, plain = allgather(network, pick, spare=2)
    draw = random.Random(f"{network.name} {pick.__name__}")
    for _ in range(examples(100)):
        text = json.dumps(changed(record, draw))
        found = read_teccl(text, ImportRequest("x"))
        assert (found.broken == ()) == is_valid(text, *plain), (found.broken, text[:300])
        if found.broken == ():
            assert found.own.lower <= found.own.value


def test_all_to_alls_in_parts_are_not_below_their_bound():
    network = ndv2(2)
    text = halved_alltoall(network.links, sorted(network.gpus), 0.005, 1 / 16)
    assert is_valid_in_parts(text, network.links, sorted(network.gpus))
    found = read_teccl(text, ImportRequest("x"))
    assert found.broken == ()
    assert 0 < found.own.lower <= found.own.value


def changed_parts(text: str, draw: random.Random) -> str:
    """Return an all-to-all with one thing changed."""
    record = json.loads(text)
    paths = record["8-Chunk paths"]
    key = draw.choice(list(paths))
    path = draw.choice(paths[key])
    index = draw.randrange(len(path))
    match draw.randrange(7):
        case 0:
            ends, volume = path[index][1].split(" with volume ")
            more = draw.choice((0.25, 0.51, 0.9, 4.5))
            path[index][1] = f"{ends} with volume {more} in epoch {volume.split()[-1]}"
        case 1:
            head, epoch = path[index][1].rsplit(" ", 1)
            path[index][1] = f"{head} {max(0, int(epoch) + draw.choice((-1, 1, 2, 40)))}"
        case 2:
            del path[index]
        case 3:
            del paths[key]
        case 4:
            paths[f"{key.rsplit(' ', 1)[0]} {draw.randrange(200)}"] = paths.pop(key)
        case 5:
            flow = draw.randrange(len(record["7-Flows"]))
            head, epoch = record["7-Flows"][flow].rsplit(" ", 1)
            record["7-Flows"][flow] = f"{head} {max(0, int(epoch) + draw.choice((-9, -1, 1, 9)))}"
        case 6:
            record["1-Epoch_Duration"] *= draw.choice((0.5, 2))
            record["4-Collective_Finish_Time"] = (
                record["1-Epoch_Duration"] * record["3-Epochs_Required"]
            )
    return json.dumps(record)


def test_changed_all_to_alls_have_the_verdict_of_a_plain_simulation():
    network = ndv2(2)
    gpus = sorted(network.gpus)
    text = halved_alltoall(network.links, gpus, 0.005, 1 / 16)
    draw = random.Random(0)
    for _ in range(examples(100)):
        other = changed_parts(text, draw)
        found = read_teccl(other, ImportRequest("x"))
        assert (found.broken == ()) == is_valid_in_parts(other, network.links, gpus)
        if found.broken == ():
            assert found.own.lower <= found.own.value
