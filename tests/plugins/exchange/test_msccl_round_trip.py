"""Exported MSCCL programs read again on the same network: the same transfers in the same steps."""

from collections import Counter

import pytest
from cchybrid_plugins.exchange.export_msccl import export_msccl
from cchybrid_plugins.exchange.msccl_import import read_msccl
from hypothesis import given, settings
from hypothesis import strategies as st

import cchybrid
from cchybrid.model import Schedule
from cchybrid.model.collective import one_and_many
from cchybrid.plugin.imported import Imported, ImportRequest
from tests.examples import examples
from tests.plugins.exchange.expected import sound
from tests.plugins.exchange.schedules import COLLECTIVES, HOPS, made, schedule, wormhole
from tests.random_instances import networks
from tests.refusals import refused

STATED = "in the steps and on the paths that the file states"


def read(text: str, network: str = "dgx-a100-x2") -> Imported:
    return read_msccl(text, ImportRequest("again", cchybrid.network(network)))


def transfers(found: Schedule) -> list[Counter[object]]:
    """Return, per step, how many transfers of equal messages take each path."""
    ends = map(one_and_many, found.instance.collective.messages)
    messages = [(one, tuple(sorted(many))) for one, many in ends]
    counts = []
    for number, step in enumerate(found.steps):
        sums = found.sums[number] if found.sums else [()] * len(step)
        moves = zip(step, sums, strict=True)
        counts.append(Counter((messages[m], tuple(path), tuple(s)) for (m, path), s in moves))
    return counts


def same(text: str, found: Schedule) -> None:
    imported = read_msccl(text, ImportRequest("again", found.instance.network))
    assert STATED in imported.facts
    again = sound(imported)
    assert transfers(again) == transfers(found)
    assert again.rounds == found.rounds


@pytest.mark.parametrize("collective", [*COLLECTIVES, "allreduce"])
@pytest.mark.parametrize(
    ("network", "switching"),
    [("dgx-a100", "wormhole"), ("fat-tree-8", "wormhole"),
     ("torus-3x3", "wormhole"), ("torus-3x3", HOPS), ("dgx-1", HOPS),
     pytest.param("dgx-2", "wormhole", marks=pytest.mark.slow),
     pytest.param("dgx-a100-x2", "wormhole", marks=pytest.mark.slow)],
)  # fmt: skip
def test_an_exported_program_is_read_in_its_own_steps(network, switching, collective):
    found = schedule(network, collective) if switching == HOPS else wormhole(network, collective)
    same(export_msccl(found), found)


@settings(max_examples=examples(60), deadline=None)
@given(
    networks(max_nodes=5),
    st.integers(0, 99),
    st.sampled_from([*COLLECTIVES, "allreduce"]),
    st.fixed_dictionaries(
        {
            "switching": st.sampled_from([HOPS, "wormhole"]),
            "chunks": st.integers(1, 3),
            "rounds": st.sampled_from([(), (2,), (2, 3)]),
        }
    ),
)
def test_random_programs_are_read_in_their_own_steps(network, seed, collective, more):
    relays = network.nodes - len(network.terminals)
    if len(network.terminals) < 3 or (relays and more["switching"] == HOPS):
        return
    found = made(cchybrid.instance(network, collective, **more), seed)
    if all(found.steps):
        same(export_msccl(found), found)


@pytest.mark.parametrize("collective", [*COLLECTIVES, "allreduce"])
def test_a_program_of_some_processors_is_read_in_its_own_steps(collective):
    found = schedule("dgx-2", collective, switching="wormhole", participants=(3, 7, 8, 11))
    same(export_msccl(found), found)


def test_nodes_that_the_network_does_not_have_are_refused():
    more = {"switching": "wormhole", "participants": (3, 7, 8)}
    text = export_msccl(schedule("dgx-2", "allgather", **more))
    for node in ("3", "16"):  # a node twice, a switch
        with refused("nodes that the file states for its GPUs are not all different processors of"):
            read(text.replace(' node="8"', f' node="{node}"'), "dgx-2")


@pytest.mark.parametrize(
    ("old", "new"),
    [(' at="2"', ' at="1"'), (' at="1"', ' at="2"'), (' path="0 32 ', ' path="0 33 ')],
)
def test_steps_and_paths_that_do_not_hold_are_not_used(old, new):
    text = export_msccl(wormhole("dgx-a100-x2", "broadcast"))
    assert old in text
    found = read(text.replace(old, new))
    assert "the steps that the file states do not hold on dgx-a100-x2" in found.facts
    sound(found)


def test_a_program_that_states_no_steps_is_put_into_the_first_steps_with_room():
    text = export_msccl(wormhole("dgx-a100-x2", "broadcast"))
    found = read(text.replace(' at="1"', "", 1))
    sound(found)
    assert not any("states" in fact for fact in found.facts)
    with refused("path='0 x 3' is no list of numbers; separate them by spaces"):
        read(text.replace(' path="', ' path="0 x 3" was="', 1))
