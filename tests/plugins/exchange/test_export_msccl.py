"""MSCCL XML: performed by an interpreter with real buffers."""

import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import replace

import pytest
from cchybrid_plugins.exchange.export_msccl import export_msccl
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Collective, Message, Schedule
from tests.examples import examples
from tests.plugins.exchange.msccl_interpreter import check
from tests.plugins.exchange.schedules import (
    COLLECTIVES,
    HOPS,
    gathered_allreduce,
    made,
    random_allreduce,
    schedule,
    wormhole,
)
from tests.random_instances import list_schedule, networks
from tests.refusals import refused as one_line


@pytest.mark.parametrize(
    ("network", "collective", "steps", "more"),
    [
        pytest.param("dgx-1", "reduce-scatter", 2, {}),
        pytest.param("ring-bi-8", "gather", 4, {}),
        pytest.param(
            "dgx-1", "alltoall", 2, {"chunks": 3, "rounds": [3, 5]}, marks=pytest.mark.long
        ),
        pytest.param("dgx-1", "allreduce", 4, {"chunks": 8}, marks=pytest.mark.long),
    ],
)
def test_the_schedules_of_sccl_move_the_right_data(network, collective, steps, more):
    """Rows of the suite ``sccl``, and allreduces."""
    instance = cchybrid.instance(network, collective, switching=HOPS, **more)
    result = cchybrid.solve(instance, time_limit=60, steps=steps)
    assert result.steps == steps
    algorithm = check(export_msccl(result.schedule))
    assert algorithm.collective == collective.replace("-", "")


@pytest.mark.parametrize("collective", [*COLLECTIVES, "allreduce"])
@pytest.mark.parametrize("network", ["mesh-1x2", "mesh-2x3", "dgx-1", "ring-uni-4"])
def test_every_collective_moves_the_right_data(network, collective):
    """Between two processors, the name tells collectives apart."""
    root = 1 if collective in ("broadcast", "scatter", "gather", "reduce") else None
    more = {} if root is None else {"root": root}
    for chunks in (1, 2):
        text = export_msccl(schedule(network, collective, chunks=chunks, **more))
        assert (' root="1"' in text) == (root is not None)
        algorithm = check(text, root or 0)
        assert algorithm.collective == collective.replace("-", "")
        assert algorithm.in_place == (collective != "alltoall")


def test_a_collective_of_two_processors_without_a_standard_name_is_refused():
    found = schedule("mesh-1x2", "allgather")
    unnamed = replace(found.instance.collective, name="mine")
    other = replace(found, instance=replace(found.instance, collective=unnamed))
    refused(other, "may be several of them on two processors")


@pytest.mark.parametrize("collective", [*COLLECTIVES, "allreduce"])
@settings(max_examples=examples(20))
@given(network=networks(max_nodes=5), seed=st.integers(0, 99), chunks=st.integers(1, 3))
def test_random_networks(collective, network, seed, chunks):
    if len(network.terminals) < 3 or network.endpoints or network.switches:
        return
    switching = (HOPS, "wormhole")[seed % 2]
    instance = cchybrid.instance(network, collective, switching=switching, chunks=chunks)
    check(export_msccl(made(instance, seed)))


@settings(max_examples=examples(60))
@given(
    st.integers(0, 10**6), st.sampled_from(["complete-4", "complete-5", "mesh-2x3", "ring-bi-5"])
)
def test_any_sums_are_added_up(seed, network):
    found = random_allreduce(network, seed)
    if found is not None:
        check(export_msccl(found))


def test_every_type_of_step_is_used():
    pairs = (("ring-bi-5", "allgather"), ("ring-bi-5", "allreduce"), ("ring-bi-6", "reduce"))
    texts = [export_msccl(schedule(*pair)) for pair in pairs]
    for network in ("mesh-2x3", "complete-5"):
        texts.append(export_msccl(gathered_allreduce(network, chunks=2)))
        check(texts[-1])
    seen = set(re.findall(r' type="(\w+)"', "".join(texts)))
    assert seen == {"s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re", "nop"}


def test_the_attributes_are_complete_and_nothing_else_is_written():
    text = export_msccl(schedule("dgx-1", "allgather"))
    root = ET.fromstring(text)
    assert {"inplace", "outofplace", "minBytes", "maxBytes", "proto", "nchannels"} <= set(
        root.attrib
    )
    # MSCCL's parser reads attributes separated by one space, and no declaration.
    assert re.fullmatch(r"(\s*</?\w+( \w+=\"[^\"]*\")*/?>\n)+", text)


def test_links_of_capacity_2_have_two_channels():
    root = ET.fromstring(export_msccl(schedule("dgx-1", "allgather", chunks=4)))
    assert root.get("nchannels") == "2"
    pairs = {(tb.get("send"), tb.get("chan")) for tb in root[0] if tb.get("send") != "-1"}
    assert len(pairs) == 6  # links to four GPUs, two of them double


def test_a_thread_block_has_64_steps():
    text = export_msccl(schedule("ring-uni-2", "allgather", chunks=150))
    algorithm = check(text, loops=1)
    assert max(step.number for block in algorithm.blocks[0] for step in block.steps) < 64
    assert 'nchannels="4"' in text


def test_switches_are_passed_within_a_step_only():
    wormhole = schedule("2-fat-ring-bi-3", "allgather", switching="wormhole")
    assert check(export_msccl(wormhole)).gpus == 6
    refused(schedule("2-fat-ring-bi-3", "allgather"), "keeps it ")
    refused(schedule("2-fat-ring-bi-3", "allgather"), "; solve with --switching wormhole")


WORMHOLE = [
    ("ring-bi-6", "alltoall"), ("torus-3x3", "allgather"), ("torus-3x3", "broadcast"),
    ("mesh-2x3", "reduce-scatter"), ("mesh-2x3", "gather"), ("ring-bi-5", "allreduce"),
    ("dgx-a100-x2", "broadcast"), ("dgx-a100-x2", "allgather"), ("dgx-a100-x2", "alltoall"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("network", "collective"),
    [*WORMHOLE[:-2], *(pytest.param(*each, marks=pytest.mark.slow) for each in WORMHOLE[-2:])],
)
def test_processors_that_a_transfer_passes_send_it_on(network, collective):
    found = wormhole(network, collective)
    text = export_msccl(found)
    check(text)
    for step in ET.fromstring(text).iter("step"):
        stated = {*step.attrib} & {"at", "path"}
        assert ("at" in stated) == (step.get("type") in ("s", "rcs", "rrs", "rrcs"))
        # No other processor is on a path; neighbours need none.
        inner = step.get("path", "").split()[1:-1]
        assert not {*map(int, inner)} & {*found.instance.network.terminals}
        assert bool(inner) == ("path" in stated)


@pytest.mark.parametrize("seed", range(4))
def test_the_files_follow_the_convention_of_msccl_tools(seed):
    """A send names the receiver's place, a receive the sender's; ``rcs`` has the same place."""
    network, collective = (*WORMHOLE, ("dgx-1", "allgather"))[-1 - seed]
    root = ET.fromstring(export_msccl(wormhole(network, collective)))
    queues = defaultdict(list)
    for gpu in root:
        for tb in gpu:
            for step in tb:
                kind = step.get("type")
                source, target = (
                    (step.get(f"{end}buf"), step.get(f"{end}off")) for end in ("src", "dst")
                )
                assert kind != "rcs" or source == target
                rank, chan = gpu.get("id"), tb.get("chan")
                if kind in ("s", "rcs"):
                    queues["s", rank, tb.get("send"), chan].append((source, target))
                if kind in ("r", "rcs"):
                    queues["r", tb.get("recv"), rank, chan].append((source, target))
    assert queues
    for (kind, *connection), places in queues.items():
        assert kind == "s" or queues["s", *connection] == places


@pytest.mark.parametrize("collective", [*COLLECTIVES, "allreduce"])
def test_members_of_a_collective_are_the_ranks(collective):
    root = {} if collective[:3] in ("all", "red") and collective != "reduce" else {"root": 4}
    more = {"switching": "wormhole", "participants": (1, 4, 6), **root}
    text = export_msccl(schedule("dgx-a100", collective, **more))
    assert check(text, 1).gpus == 3
    assert re.findall(r' node="(\d+)"', text) == ["1", "4", "6"]


def refused(bad: Schedule, text: str) -> None:
    with one_line(text):
        export_msccl(bad)


def test_what_msccl_cannot_express_is_one_line():
    pairs = cchybrid.instance("ring-bi-4", "pairs:0>1,1>2", switching=HOPS)
    uneven = Collective("uneven", tuple(Message(m, (*{0, 1, 2, 3} - {m},)) for m in (0, 0, 1)))
    two = replace(pairs, collective=uneven)
    for found, words in (
        (schedule("ring-bi-6", "allgather", participants=(0, 2, 4)),
         " forwards it and takes no part in the collective, and MSCCL has programs of"),
        (Schedule(pairs, list_schedule(pairs, 0)), "standard collectives of all members only"),
        (Schedule(pairs, list_schedule(pairs, 0)), "--to jsonl"),
        (Schedule(two, list_schedule(two, 0)), "different numbers of messages"),
    ):  # fmt: skip
        refused(found, words)


@pytest.mark.parametrize(
    ("limit", "value", "text"),
    [
        ("MAX_CHANNELS", 1, "more than 64 steps on 1 channels; use fewer chunks"),
        ("MAX_PEERS", 0, "1 peers on one channel, and MSCCL allows 0; use a network with fewer"),
        ("MAX_THREAD_BLOCKS", 2, "11 thread blocks, and a GPU runs 2 at a time; use a network"),
    ],
)
def test_what_its_executor_would_refuse_is_one_line(limit, value, text, monkeypatch):
    monkeypatch.setattr(f"cchybrid_plugins.exchange.export_msccl.{limit}", value)
    refused(schedule("ring-uni-2", "allgather", chunks=150), text)
