"""MSCCL XML programs: what valid ones become, and where broken ones are broken."""

from __future__ import annotations

import pytest

import cchybrid
from cchybrid.exchange.msccl_import import read_msccl_xml
from cchybrid.model import AllReduction, Message, Reduction
from cchybrid.model.errors import InputError
from cchybrid.plugin.imported import Imported, ImportRequest
from cchybrid.referee.verify import verify_schedule
from tests.exchange.foreign_texts import (
    block,
    chain_reduce_scatter,
    pair_allreduce,
    pair_alltoall,
    program,
    ring_allgather,
    step,
)

REQUEST = ImportRequest("hand-made")


def read(text: str) -> Imported:
    return read_msccl_xml(text, REQUEST)


def only_rule(text: str) -> tuple[str, str, str]:
    """Return rule, place and text of the first broken rule."""
    broken = read(text).broken
    assert broken
    return broken[0].rule, broken[0].place, broken[0].text


@pytest.mark.parametrize(
    ("text", "name", "kind", "message", "steps", "transfers"),
    [
        (ring_allgather(4), "AAB", "deliver", Message(0, (1, 2, 3)), 3, 12),
        (pair_allreduce(), "allreduce", "allreduce", AllReduction((0, 1)), 1, 2),
        (chain_reduce_scatter(), "AAR", "combine", Reduction((1,), 0), 1, 2),
        (pair_alltoall(), "AAB", "deliver", Message(0, (1,)), 1, 2),
    ],
    ids=["allgather", "allreduce", "reduce-scatter", "alltoall"],
)
def test_a_valid_program_becomes_a_valid_schedule(
    text: str, name: str, kind: str, message: object, steps: int, transfers: int
) -> None:
    found = read(text)
    assert found.broken == ()
    assert found.schedule is not None
    # Between two GPUs, an all-to-all is an allgather.
    collective = found.schedule.instance.collective
    assert (collective.name, collective.kind, collective.messages[0]) == (name, kind, message)
    assert verify_schedule(found.schedule) == ()
    assert (len(found.schedule.steps), sum(map(len, found.schedule.steps))) == (steps, transfers)


def test_the_network_is_what_the_program_uses() -> None:
    found = read(ring_allgather(4))
    assert found.instance is not None
    assert set(found.instance.network.channels) == {(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)}


def test_places_are_those_of_the_file() -> None:
    found = read(ring_allgather(3))
    places = {found.place(s, t) for s in (0, 1) for t in range(3)}
    assert places == {f"gpu {g}, tb 0, step {s}" for g in range(3) for s in (0, 1)}
    assert found.place(7, 7) == ""


@pytest.mark.parametrize(("topology", "steps"), [("ring-bi-4", 3), ("ring-uni-4", 3)])
def test_a_program_is_put_on_a_network(topology: str, steps: int) -> None:
    network = cchybrid.network(topology)
    found = read_msccl_xml(ring_allgather(4), ImportRequest("x", network))
    assert found.schedule is not None
    assert found.schedule.instance.network is network
    assert verify_schedule(found.schedule) == ()
    assert len(found.schedule.steps) == steps


def test_a_narrow_network_takes_more_rounds_than_the_program_has_steps() -> None:
    sends = step("s", ("i", 0), ("o", 0), count=4)
    gpus = [[block(0, 1, -1, sends)], [block(0, -1, 0, step("r", ("o", 0), ("o", 0), count=4))]]
    text = program("broadcast", (4, 4, 0), *gpus)
    wide = read(text)
    assert wide.schedule is not None
    assert (wide.length, len(wide.schedule.steps)) == (1, 1)
    for capacity, rounds in ((1, 4), (2, 2), (3, 2), (4, 1)):
        network = cchybrid.network([(0, 1, capacity)])
        found = read_msccl_xml(text, ImportRequest("x", network))
        assert found.schedule is not None
        assert (found.length, len(found.schedule.steps)) == (1, rounds)
        assert verify_schedule(found.schedule) == ()


def test_a_missing_channel_is_found_by_the_referee_at_its_thread_block() -> None:
    network = cchybrid.network("mesh-1x4")
    found = read_msccl_xml(ring_allgather(4), ImportRequest("x", network))
    assert found.schedule is not None
    first = verify_schedule(found.schedule)[0]
    assert first.rule == "no-such-channel"
    assert found.place(first.step, first.transfer) == "gpu 3, tb 0, step 0"


def test_a_transfer_that_brings_nothing_new_is_left_out() -> None:
    twice = [
        [block(0, 1, -1, step("s", ("i", 0)), step("s", ("i", 0)))],
        [block(0, -1, 0, step("r"), step("r", target=("s", 0)))],
    ]
    found = read(program("broadcast", (1, 1, 1), *twice))
    assert found.schedule is not None
    assert sum(map(len, found.schedule.steps)) == 1
    assert "left out, as nothing new is in them: 1 transfer" in found.facts


def test_a_thread_block_does_one_thing_after_another() -> None:
    # Three sends of one thread block take three steps; of three thread blocks, one.
    chunks = [("i", k) for k in range(3)]
    one = [
        [block(0, 1, -1, *(step("s", c) for c in chunks))],
        [block(0, -1, 0, *(step("r", target=("o", k)) for k in range(3)))],
    ]
    three = [
        [block(k, 1, -1, step("s", c), channel=k) for k, c in enumerate(chunks)],
        [block(k, -1, 0, step("r", target=("o", k)), channel=k) for k in range(3)],
    ]
    lengths = [read(program("broadcast", (3, 3, 0), *gpus)).length for gpus in (one, three)]
    assert lengths == [3, 1]


BROADCAST = (1, 1, 1)


def broadcast(sender: list[str], receiver: list[str]) -> str:
    return program("broadcast", BROADCAST, sender, receiver)


GOOD = block(0, 1, -1, step("s", ("i", 0)))
TAKES = block(0, -1, 0, step("r"))


@pytest.mark.parametrize(
    ("text", "rule", "place", "words"),
    [
        (broadcast([GOOD], [block(0, -1, 0)]), "never-received", "gpu 0, tb 0, step 0", "gpu 1"),
        (broadcast([block(0, 1, -1)], [TAKES]), "deadlock", "gpu 1, tb 0, step 0", "never sent"),
        (broadcast([block(0, -1, -1, step("s", ("i", 0)))], [TAKES]),
         "no-such-peer", "gpu 0, tb 0, step 0", "no peer"),
        (broadcast([block(0, 9, -1, step("s", ("i", 0)))], [TAKES]),
         "no-such-peer", "gpu 0, tb 0", "gpu 9"),
        (broadcast([block(0, 1, -1, step("s", ("i", 0), waits=(4, 0)))], [TAKES]),
         "no-such-step", "gpu 0, tb 0, step 0", "tb 4, step 0"),
        (broadcast([block(0, 1, -1, step("s", ("i", 5)))], [TAKES]),
         "outside-buffer", "gpu 0, tb 0, step 0", "buffer 'i', which has 1"),
        (broadcast([block(0, 1, -1, step("s", ("q", 0)))], [TAKES]),
         "outside-buffer", "gpu 0, tb 0, step 0", "buffer 'q'"),
        (broadcast([block(0, 1, -1, step("s", ("s", 0)))], [TAKES]),
         "reads-nothing", "gpu 0, tb 0, step 0", "scratch chunk 0"),
        (broadcast([GOOD, block(1, 1, -1, step("s", ("i", 0)))], [TAKES]),
         "shared-connection", "gpu 0", "2 thread blocks send to gpu 1"),
        (broadcast([GOOD], [block(0, -1, 0, step("r", target=("s", 0)))]),
         "wrong-result", "gpu 1, output chunk 0", "it holds nothing in the end"),
    ],
)  # fmt: skip
def test_the_first_broken_rule_is_named_with_its_place(
    text: str, rule: str, place: str, words: str
) -> None:
    found = only_rule(text)
    assert found[:2] == (rule, place)
    assert words in found[2]


def test_a_circle_of_waits_is_a_deadlock() -> None:
    circle = [
        block(0, 1, -1, step("s", ("i", 0), waits=(1, 0))),
        block(1, -1, -1, step("nop", waits=(0, 0))),
    ]
    rule, place, text = only_rule(broadcast(circle, [TAKES]))
    assert (rule, place) == ("deadlock", "gpu 0, tb 0, step 0")
    assert "waits for tb 1, step 0" in text


def test_a_receive_of_another_size_is_named() -> None:
    gpus = [[block(0, 1, -1, step("s", ("i", 0), count=2))], [block(0, -1, 0, step("r", count=1))]]
    rule, place, text = only_rule(program("broadcast", (2, 2, 0), *gpus))
    assert (rule, place) == ("count-mismatch", "gpu 1, tb 0, step 0")
    assert "1 chunks of the 2 that gpu 0, tb 0, step 0 sends" in text


def test_two_accesses_in_no_order_are_a_race_unless_one_waits() -> None:
    def gpu_1(*waits: tuple[int, int]) -> list[str]:
        wait = waits[0] if waits else (-1, -1)
        return [
            block(0, -1, 0, step("r", target=("s", 0))),
            block(1, -1, -1, step("cpy", ("s", 0), ("o", 0), waits=wait)),
        ]

    assert read(broadcast([GOOD], gpu_1((0, 0)))).broken == ()
    unordered = [block(0, -1, 0, step("r")), block(1, -1, -1, step("cpy", ("o", 0), ("s", 0)))]
    broken = read(broadcast([GOOD], unordered)).broken
    assert broken[0].rule in ("race", "reads-nothing")
    assert broken[0].place.startswith("gpu 1")
    # Here the program has the right result in every order of one block before the other.
    both = [
        block(0, -1, 0, step("r"), step("r", target=("s", 0)), channel=0),
        block(1, -1, -1, step("cpy", ("s", 0), ("o", 0), waits=(0, 1))),
        block(2, -1, -1, step("cpy", ("s", 0), ("o", 0), waits=(0, 1))),
    ]
    twice = [block(0, 1, -1, step("s", ("i", 0)), step("s", ("i", 0)))]
    [race] = read(broadcast(twice, both)).broken
    assert race.rule == "race"
    assert race.place == "gpu 1, tb 2, step 0"
    assert "gpu 1, tb 1, step 0 writes" in race.text


def test_sums_are_checked() -> None:
    add = step("rrc", ("i", 0), ("i", 0))
    again = [
        [block(0, 1, -1, step("s", ("i", 0)), step("s", ("i", 0)))],
        [block(0, -1, 0, add, add)],
    ]
    rule, place, text = only_rule(program("reduce", (1, 1, 0), *again, extra='root="1"'))
    assert (rule, place) == ("counted-twice", "gpu 1, tb 0, step 1")
    assert "the part of gpu 0 again" in text
    other = [
        [block(0, 1, -1, step("s", ("i", 1)))],
        [block(0, -1, 0, step("rrc", ("i", 0), ("i", 0)))],
    ]
    rule, _, text = only_rule(program("reduce", (2, 2, 0), *other, extra='root="1"'))
    assert (rule, text) == ("wrong-sum", "it adds up chunks 1 and 0")


def test_buffers_of_their_own_need_the_copies_that_in_place_ones_do_not() -> None:
    gpus = [
        [block(0, 1 - g, 1 - g, step("s", ("i", 0)), step("r", target=("o", 1 - g)))]
        for g in (0, 1)
    ]
    assert read(program("allgather", (1, 2, 0), *gpus)).broken == ()
    rule, place, _ = only_rule(program("allgather", (1, 2, 0), *gpus, in_place=False))
    assert (rule, place) == ("wrong-result", "gpu 0, output chunk 0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<algo>", "not well-formed XML"),
        ("<program/>", "is no <algo>"),
        (program("allgather", (1, 1, 0)), "0 GPUs"),
        (program("allgather", (1, 1, 0), [block(0, -1, -1)]), "one GPU has nothing to send"),
        (program("custom", (1, 1, 0), [], []), "coll='custom' has no meaning here"),
        (program("alltoall", (3, 3, 0), [], []), "3 chunks for 2 GPUs"),
        (program("allreduce", (0, 0, 0), [], []), "i_chunks is 0"),
        (ring_allgather(3).replace('type="r"', 'type="x"'), "type='x' is no type"),
        (ring_allgather(3).replace('ngpus="3"', 'ngpus="4"'), "ngpus=4, and GPUs 0, 1, 2"),
        (ring_allgather(3).replace('cnt="1"', 'cnt="one"'), "line 4: cnt='one' is no whole number"),
        (ring_allgather(3).replace('cnt="1"', f'cnt="{10**12}"'), "is no whole number"),
        (ring_allgather(3).replace('i_chunks="1"', 'i_chunks="999999999"'), "999999999 chunks"),
        (ring_allgather(3).replace("</algo>", '<gpu id="0"/></algo>'), "and GPUs 0, 0, 1, 2"),
    ],
)
def test_what_cannot_be_meant_is_said_in_one_line(text: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        read(text)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_collective_can_be_named_and_must_fit() -> None:
    network = cchybrid.network("ring-bi-4")
    named = cchybrid.collective("AAB", network)
    found = read_msccl_xml(ring_allgather(4), ImportRequest("x", network, named))
    assert found.schedule is not None
    assert found.schedule.instance.collective is named
    assert verify_schedule(found.schedule) == ()
    other = cchybrid.collective("AAS", network)
    with pytest.raises(InputError, match="the message from 0 to 1, 2, 3 is none of AAS"):
        read_msccl_xml(ring_allgather(4), ImportRequest("x", network, other))
    with pytest.raises(InputError, match="mesh-1x2 has 2 nodes, the program 4 GPUs"):
        read_msccl_xml(ring_allgather(4), ImportRequest("x", cchybrid.network("mesh-1x2")))
