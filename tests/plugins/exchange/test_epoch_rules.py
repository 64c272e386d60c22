"""Rules of epochs: verdicts against a plain simulation, on files with one thing changed."""

import json
import random
import re
from fractions import Fraction
from typing import Any

import pytest
from cchybrid_plugins.exchange.epoch_networks import KNOWN, EpochNetwork, ndv2
from cchybrid_plugins.exchange.teccl_import import read_teccl

from cchybrid.plugin.imported import ImportRequest
from tests.examples import examples
from tests.plugins.exchange.foreign_texts import teccl_result
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
    index, key = draw.randrange(len(flows)), draw.choice(list(paths))
    number = re.search(r" in epoch (\d+)", flows[index])
    match draw.randrange(7):
        case 0:
            epoch = max(0, int(number[1]) + draw.choice((-3, -1, 1, 2, 20)))
            flows[index] = flows[index].replace(number[0], f" in epoch {epoch}")
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
            size = record["4-Collective_Finish_Time"] * record["5-Algo_Bandwidth"]
            return json.loads(teccl_result(flows, paths, epochs, record["1-Epoch_Duration"], size))
        case 5:
            del paths[key]
        case 6:
            epoch = draw.randrange(record["3-Epochs_Required"])
            paths[f"{key.rsplit(' ', 1)[0]} {epoch}"] = paths.pop(key)
    return {**record, "7-Flows": flows, "8-Chunk paths": paths}


@pytest.mark.slow
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


def changed_parts(text: str, draw: random.Random) -> str:
    """Return an all-to-all with one thing changed."""
    record = json.loads(text)
    paths, flows = record["8-Chunk paths"], record["7-Flows"]
    key, flow = draw.choice(list(paths)), draw.randrange(len(flows))
    path = draw.choice(paths[key])
    index = draw.randrange(len(path))

    def moved(text: str, *by: int) -> str:
        head, epoch = text.rsplit(" ", 1)
        return f"{head} {max(0, int(epoch) + draw.choice(by))}"

    match draw.randrange(7):
        case 0:
            volume = draw.choice((0.25, 0.51, 0.9, 4.5))
            path[index][1] = re.sub("volume [0-9.]+", f"volume {volume}", path[index][1])
        case 1:
            path[index][1] = moved(path[index][1], -1, 1, 2, 40)
        case 2:
            del path[index]
        case 3:
            del paths[key]
        case 4:
            paths[f"{key.rsplit(' ', 1)[0]} {draw.randrange(200)}"] = paths.pop(key)
        case 5:
            flows[flow] = moved(flows[flow], -9, -1, 1, 9)
        case 6:
            duration = record["1-Epoch_Duration"] * draw.choice((0.5, 2))
            finish = duration * record["3-Epochs_Required"]
            record |= {"1-Epoch_Duration": duration, "4-Collective_Finish_Time": finish}
    return json.dumps(record)


@pytest.mark.slow
def test_all_to_alls_in_parts_have_the_verdict_of_a_plain_simulation():
    network = ndv2(2)
    gpus = sorted(network.gpus)
    text = halved_alltoall(network.links, gpus, 0.005, 1 / 16)
    assert is_valid_in_parts(text, network.links, gpus)
    draw = random.Random(0)
    for other in (text, *(changed_parts(text, draw) for _ in range(examples(100)))):
        found = read_teccl(other, ImportRequest("x"))
        assert (found.broken == ()) == is_valid_in_parts(other, network.links, gpus)
        if found.broken == ():
            assert 0 < found.own.lower <= found.own.value
